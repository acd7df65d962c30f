/** What registering and deleting workflows does to the schedules that they declare (EXE-70, EXE-76). */
import {
  type DeclaredSchedule,
  EngineError,
  type ExtractedWorkflow,
  type ScheduleRow,
} from "@engine/contract";
import { normalized, specProblems } from "@engine/sources";
import type { DeclaredSchedules, PutAfterDeletion } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { changedSchedule, newSchedule } from "./operator-rules.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "clock" | "ids" | "config" | "store">;
  /** Called when a schedule may have been written. */
  readonly changed: () => void;
}

export class ScheduleDeclarations {
  readonly #ports: Parts["ports"];
  readonly changed: () => void;

  constructor({ ports, changed }: Parts) {
    this.#ports = ports;
    this.changed = changed;
  }

  /** What is saved with the versions; undefined leaves every schedule alone. */
  declared(workflows: readonly ExtractedWorkflow[]): readonly DeclaredSchedules[] | undefined {
    const { clock, ids, config } = this.#ports;
    if (!config.scheduling.auto_schedule_enabled) return undefined;
    const now = clock();
    return workflows.map(({ namespace, name: workflow, schedule }) => {
      const [problem] = schedule ? specProblems(schedule.spec, null) : [];
      if (problem) {
        const message = `schedule of workflow ${namespace}/${workflow}: ${problem.field} ${problem.message}`;
        throw new EngineError("invalid_schedule", message);
      }
      const by = { namespace, workflow, schedule };
      const id = ids();
      return {
        name: `${namespace}.${workflow}`,
        put: (row) => (row ? reconciled(row, by, now) : declaredRow(by, { id, now })),
      };
    });
  }

  /** Those of the workflows whose registration makes a schedule, or changes one (EXE-76). */
  async changing(
    workflows: readonly ExtractedWorkflow[],
  ): Promise<readonly (ExtractedWorkflow & { readonly schedule: DeclaredSchedule })[]> {
    const declaring = workflows.filter((workflow) => workflow.schedule !== null);
    const declared = this.declared(declaring) ?? [];
    const puts = declared.map(async ({ name, put }) =>
      put(await this.#ports.store.schedules.find(name)),
    );
    const made = await Promise.all(puts);
    return declaring.flatMap((workflow, i) =>
      made[i] && workflow.schedule ? [{ ...workflow, schedule: workflow.schedule }] : [],
    );
  }

  /** What becomes of a schedule when versions of its workflow were deleted. */
  readonly afterDeletion: PutAfterDeletion = (row, { current, deleted }) => {
    const { namespace, workflow } = row;
    const now = this.#ports.clock();
    if (row.source === "code") {
      return reconciled(row, { namespace, workflow, schedule: current?.schedule ?? null }, now);
    }
    const isGone = row.version === null ? current === undefined : deleted.includes(row.version);
    if (!isGone) return undefined;
    return {
      ...row,
      status: "disabled",
      next_run_at: null,
      held: null,
      catch_up_to: null,
      last_error: "workflow_deleted",
      updated_at: now,
      revision: row.revision + 1,
    };
  };
}

/** A workflow, and the schedule that its latest version declares. */
interface Declaration {
  readonly namespace: string;
  readonly workflow: string;
  readonly schedule: DeclaredSchedule | null;
}

function declaredRow(
  { namespace, workflow, schedule }: Declaration,
  of: { readonly id: string; readonly now: number },
): ScheduleRow | undefined {
  if (!schedule) return undefined;
  const owned = { namespace, workflow, name: `${namespace}.${workflow}`, source: "code" } as const;
  return newSchedule({ ...fieldsOf(schedule), ...owned, version: null, routing_input: {} }, of);
}

/**
 * A schedule after a registration: updated in place, with its counts and an operator's pause.
 *
 * @returns Null to delete it, undefined to leave it as it is.
 * @throws EngineError `schedule_exists` when the row with this name is not the workflow's own.
 */
function reconciled(
  row: ScheduleRow,
  { namespace, workflow, schedule }: Declaration,
  now: number,
): ScheduleRow | null | undefined {
  if (!schedule) return row.source === "code" ? null : undefined;
  const isOther = row.namespace !== namespace || row.workflow !== workflow;
  if (row.source !== "code" || isOther) throw taken(row);
  const patch = changedSchedule(row, fieldsOf(schedule), now);
  return patch && { ...row, ...patch, revision: row.revision + 1 };
}

function fieldsOf(declared: DeclaredSchedule): DeclaredSchedule {
  return { ...declared, spec: normalized(declared.spec) };
}

function taken({ name, namespace, workflow }: ScheduleRow): EngineError {
  const message = `schedule ${name}, which workflow ${namespace}/${workflow} has, is in the way of the one that is declared; rename or delete it`;
  return new EngineError("schedule_exists", message);
}
