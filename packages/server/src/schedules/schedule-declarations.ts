import { EngineError, type ExtractedWorkflow } from "@engine/contract";
import { specProblems } from "@engine/sources";
import type { DeclaredSchedules, PutAfterDeletion } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { afterDeletion, declaredName, reconciled } from "./declared-schedule.ts";

export interface ScheduleDeclarationsParts {
  readonly ports: Pick<EnginePorts, "clock" | "ids" | "config">;
  /** A schedule may have been written. */
  readonly changed: () => void;
}

/** What registering and deleting workflows does to schedules (EXE-70, EXE-76). */
export class ScheduleDeclarations {
  readonly #parts: ScheduleDeclarationsParts;

  constructor(parts: ScheduleDeclarationsParts) {
    this.#parts = parts;
  }

  /** To be saved with the versions; undefined leaves every schedule alone. */
  declared(workflows: readonly ExtractedWorkflow[]): readonly DeclaredSchedules[] | undefined {
    const { ports } = this.#parts;
    if (!ports.config.scheduling.auto_schedule_enabled) return undefined;
    const now = ports.clock();
    return workflows.map(({ namespace, name: workflow, schedule: declared }) => {
      const declaration = { namespace, workflow, declared };
      const name = declaredName(declaration);
      const [problem] = declared ? specProblems(declared.spec, null) : [];
      if (problem) {
        const message = `schedule of workflow ${namespace}/${workflow}: ${problem.field} ${problem.message}`;
        throw new EngineError("invalid_schedule", message);
      }
      const id = ports.ids();
      return { name, put: (row) => reconciled(row, declaration, { id, now }) };
    });
  }

  readonly afterDeletion: PutAfterDeletion = (row, left) =>
    afterDeletion(row, left, this.#parts.ports.clock());

  changed(): void {
    this.#parts.changed();
  }
}
