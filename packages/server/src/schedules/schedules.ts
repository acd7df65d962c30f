import { isDeepStrictEqual } from "node:util";
import {
  type AuditEntry,
  EngineError,
  type ExecutionRow,
  type NewSchedule,
  notFound,
  type RoutingInput,
  type ScheduleChanges,
  type ScheduleRow,
} from "@engine/contract";
import type {
  AuditSchedule,
  Changed,
  DecideSchedule,
  Page,
  ScheduleFilter,
  Store,
} from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { counted } from "./firing-rules.ts";
import {
  changedSchedule,
  checkedSpec,
  newSchedule,
  pausedSchedule,
  resumedSchedule,
  startsAnew,
} from "./operator-rules.ts";
import type { RoutingSeals } from "./routing-seals.ts";
import type { ScheduledStarts } from "./scheduled-starts.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "ids" | "log">;
  readonly routing: Pick<RoutingSeals, "sealed" | "opened" | "deciding">;
  readonly starts: Pick<ScheduledStarts, "check" | "checkAccount" | "now">;
  /** Called when a schedule was written: its next instant may come before the one waited for. */
  readonly changed: () => void;
}

/** Who asks for a change: both are left out where the engine itself does. */
export interface AskedFor {
  /** Asked with the schedule before anything is looked at for it; rejects where the caller may not. */
  readonly allow?: (row: ScheduleRow) => void | Promise<void>;
  readonly audit?: AuditSchedule;
}

interface AskedStart extends AskedFor {
  /** In place of the schedule's own; asked once the caller may. */
  readonly routing_input?: () => RoutingInput | undefined;
}

/** What callers do with schedules: write, read, pause, resume, trigger. */
export class Schedules {
  readonly #parts: Parts;
  readonly #store: Store;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.ports.store;
  }

  /** @throws EngineError `invalid_schedule`, `schedule_exists`, `not_found`, `invalid_input`. */
  async create(fields: NewSchedule, audit?: AuditEntry): Promise<ScheduleRow> {
    const { clock, ids } = this.#parts.ports;
    const now = clock();
    const spec = checkedSpec(fields.spec, now);
    await this.#parts.starts.check(fields, "body.input");
    const row = newSchedule({ ...fields, spec, source: "api" }, { id: ids(), now });
    const created = await this.#store.schedules.create(this.#parts.routing.sealed(row), audit);
    this.#parts.changed();
    return created;
  }

  async get(name: string): Promise<ScheduleRow> {
    const row = await this.#store.schedules.find(name);
    if (!row) throw notFound("schedule", name);
    return this.#parts.routing.opened(row);
  }

  list(filter: ScheduleFilter): Promise<Page<ScheduleRow>> {
    return this.#store.schedules.list(filter);
  }

  /** What makes nothing start anew is not checked again: it may be what puts a schedule right (AUTH-46). */
  async change(
    name: string,
    { spec: given, ...others }: ScheduleChanges,
    { allow, audit }: AskedFor = {},
  ): Promise<ScheduleRow> {
    const now = this.#parts.ports.clock();
    const row = await this.get(name);
    await allow?.(row);
    refuseDeclared(row, "changed");
    // A spec that is sent as it was is not checked anew: its time may be over.
    const spec = given && (isDeepStrictEqual(given, row.spec) ? given : checkedSpec(given, now));
    const changes = { ...others, ...(spec && { spec }) };
    const { input = row.input, version = row.version, run_as = row.run_as } = changes;
    const changed = { ...row, input, version, run_as };
    if (startsAnew(row, { input, version, run_as })) {
      await this.#parts.starts.check(changed, "body.input");
    } else if (startsAnew(row, changes)) await this.#parts.starts.checkAccount(changed);
    const decide: DecideSchedule = (current) => {
      refuseDeclared(current, "changed");
      if (startsAnew(current, changes) && isOther(row, current)) throw changedMeanwhile(name);
      return changedSchedule(current, changes, now);
    };
    return this.#change(name, decide, audit);
  }

  async delete(name: string, audit?: AuditEntry): Promise<void> {
    refuseDeclared(await this.get(name), "deleted");
    if (!(await this.#store.schedules.delete(name, audit))) throw notFound("schedule", name);
    this.#parts.changed();
  }

  pause(name: string, audit?: AuditSchedule): Promise<ScheduleRow> {
    return this.#change(name, (row) => pausedSchedule(row, this.#parts.ports.clock()), audit);
  }

  async resume(name: string, { allow, audit }: AskedFor = {}): Promise<ScheduleRow> {
    const row = await this.get(name);
    await allow?.(row);
    if (row.status !== "active") await this.#parts.starts.checkAccount(row);
    const decide: DecideSchedule = (current) => {
      const patch = resumedSchedule(current, this.#parts.ports.clock());
      const wasActive = row.status === "active";
      if (patch && (wasActive || isOther(row, current))) throw changedMeanwhile(name);
      return patch;
    };
    return this.#change(name, decide, audit);
  }

  /** One run now, whatever the schedule's status and its other runs (EXE-75). */
  async trigger(name: string, { allow, audit, routing_input }: AskedStart = {}): Promise<Changed> {
    const schedule = await this.get(name);
    await allow?.(schedule);
    const started = await this.#parts.starts.now(schedule, routing_input?.());
    const { execution_id } = started.row;
    const now = this.#parts.ports.clock();
    try {
      const decide: DecideSchedule = (row) =>
        row.id === schedule.id ? counted(row, { execution_id, now }) : undefined;
      await this.#store.schedules.change(name, decide, audit);
    } catch (error) {
      // The execution exists: an error now would look as if it did not.
      const fields = { err: error, schedule: name, execution_id };
      this.#parts.ports.log.error(fields, "could not count a triggered run");
    }
    return started;
  }

  /** Its executions, newest first (EXE-77). */
  async history(
    name: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<ExecutionRow>> {
    await this.get(name);
    return this.#store.executions.list({ schedule: name, order: "created_desc", ...page });
  }

  async #change(name: string, decide: DecideSchedule, audit?: AuditSchedule): Promise<ScheduleRow> {
    const { routing } = this.#parts;
    const row = await this.#store.schedules.change(
      name,
      routing.deciding(decide),
      audit && ((before, after) => audit(routing.opened(before), after)),
    );
    if (!row) throw notFound("schedule", name);
    this.#parts.changed();
    return row;
  }
}

/** Whether what was allowed and checked for a schedule was looked at for what it runs by now. */
function isOther(row: ScheduleRow, current: ScheduleRow): boolean {
  return current.id !== row.id || startsAnew(row, current);
}

function changedMeanwhile(name: string): EngineError {
  const message = `schedule ${name} was changed by somebody else meanwhile; look at it and try again`;
  return new EngineError("conflict", message);
}

function refuseDeclared({ name, source, namespace, workflow }: ScheduleRow, what: string): void {
  if (source === "api") return;
  const message = `schedule ${name} is declared by workflow ${namespace}/${workflow} and cannot be ${what} here: change the workflow's schedule option and register it`;
  throw new EngineError("schedule_is_declared", message);
}
