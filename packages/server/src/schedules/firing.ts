import { isDeepStrictEqual } from "node:util";
import {
  EngineError,
  type ExecutionRow,
  type SchedulePatch,
  type ScheduleRow,
} from "@engine/contract";
import type { Store } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import {
  counted,
  type FailedStart,
  heldByPlan,
  skippedByPlan,
  skippedForRoom,
  startedByPlan,
  startedFromHold,
  startFailed,
} from "./firing-rules.ts";
import { heldByOverlap, nextStep, type PlanStep, type Step } from "./next-step.ts";
import { isOutage, keyOf, type ScheduledStarts } from "./scheduled-starts.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "log">;
  readonly starts: Pick<ScheduledStarts, "due">;
  readonly cancel: (execution_id: string, reason: string) => Promise<unknown>;
}

/** `waiting`: an execution of the schedule has to end first. `more`: not everything due was fired yet. */
export type Fired = "done" | "waiting" | "more";

/** Moves of one schedule in a row: a schedule that catches up must not hold up the others. */
const MOST_STEPS = 200;
/** So many of the newest executions are searched for the one that was started for an instant. */
const NEWEST = 5;

/**
 * Makes the starts of one schedule that are due. Each execution is created under a key of its schedule
 * and instant, and then the plan moves on. A server that comes in between, after a crash or beside
 * this one, finds the execution under its key and moves the plan without a second execution.
 */
export class Firing {
  readonly #parts: Parts;
  readonly #store: Store;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.ports.store;
  }

  async fire(due: ScheduleRow): Promise<Fired> {
    let row: ScheduleRow | undefined = due;
    for (let count = 0; count < MOST_STEPS && row; count++) {
      const held = heldByOverlap(row);
      const freed = held === undefined ? row : await this.#release(row, held);
      if (freed === undefined) return "done";
      const step = nextStep(freed, this.#parts.ports.clock());
      if (step.kind === "none") return heldByOverlap(freed) === undefined ? "done" : "waiting";
      const moved = await this.#take(freed, step);
      if (moved === "waiting") return "waiting";
      row = moved;
    }
    return row ? "more" : "done";
  }

  /** Makes the start that waits for others, once they have ended. */
  async #release(row: ScheduleRow, instant: number): Promise<ScheduleRow | undefined> {
    const { open, own } = await this.#openRuns(row, instant);
    if (!own && open.length > 0 && row.overlap !== "allow") {
      if (row.overlap === "cancel") await this.#cancel(row, open);
      return row;
    }
    return this.#start(row, instant, undefined, own);
  }

  async #take(
    row: ScheduleRow,
    step: Exclude<Step, { kind: "none" }>,
  ): Promise<ScheduleRow | "waiting" | undefined> {
    const now = this.#parts.ports.clock();
    if (step.kind === "drop") {
      const { log } = this.#parts.ports;
      log.warn({ schedule: row.name, dropped: step.dropped }, "missed fires are not caught up");
      return this.#move(row, step, (current) => skippedByPlan(current, step, { skipped: 0, now }));
    }
    if (step.kind === "held") return this.#start(row, step.instant, undefined, undefined);
    if (row.overlap === "allow") return this.#start(row, step.instant, step, undefined);

    const { open, own } = await this.#openRuns(row, step.instant);
    if (own || open.length === 0) return this.#start(row, step.instant, step, own);
    if (step.waits && row.overlap !== "cancel") return "waiting";
    const isHeld = row.held?.retry_at === null;
    if (row.overlap === "cancel" || (row.overlap === "queue" && !isHeld)) {
      return this.#move(row, step, (current) => heldByPlan(current, step, now));
    }
    return this.#move(row, step, (current) => skippedByPlan(current, step, { skipped: 1, now }));
  }

  /** @param own The execution that was already started for this instant. */
  async #start(
    row: ScheduleRow,
    instant: number,
    step: PlanStep | undefined,
    own: ExecutionRow | undefined,
  ): Promise<ScheduleRow | undefined> {
    const now = this.#parts.ports.clock();
    try {
      const { existing = false, row: execution } = own
        ? { existing: true, row: own }
        : await this.#parts.starts.due(row, instant);
      const run = { execution_id: execution.execution_id, now };
      return await this.#change(row, (current) => {
        if (step && isAtStep(current, row, step)) {
          return startedByPlan(current, step, run);
        }
        if (!step && current.held?.instant === instant) {
          return startedFromHold(current, run);
        }
        // Another server that found this run and moved the plan has counted it, and perhaps later
        // ones too. A change by hand counts no run.
        const isCounted = existing || current.run_count > row.run_count;
        return isCounted ? undefined : counted(current, run);
      });
    } catch (error) {
      if (isOutage(error)) throw error;
      if (error instanceof EngineError && error.code === "concurrency_limited") {
        return this.#change(row, (current) => {
          const isSame = step ? isAtStep(current, row, step) : current.held?.instant === instant;
          return isSame ? skippedForRoom(current, step, now) : undefined;
        });
      }
      return this.#failed(row, { instant, step, error: textOf(error), now });
    }
  }

  async #failed(row: ScheduleRow, failed: FailedStart): Promise<ScheduleRow | undefined> {
    const { instant, step } = failed;
    const after = await this.#change(row, (current) => {
      const isSame = step ? isAtStep(current, row, step) : current.held?.instant === instant;
      return isSame ? startFailed(current, failed) : undefined;
    });
    const { log } = this.#parts.ports;
    const fields = { schedule: row.name, error: failed.error };
    if (after?.status === "disabled") {
      log.error(fields, "a schedule is disabled: ten starts in a row failed");
    } else log.warn(fields, "a schedule could not start its workflow");
    return after;
  }

  async #openRuns(
    row: ScheduleRow,
    instant: number,
  ): Promise<{ open: readonly ExecutionRow[]; own: ExecutionRow | undefined }> {
    const open = await this.#store.executions.listOpenRuns(row.name, NEWEST);
    const { text } = keyOf(row, instant);
    return { open, own: open.find(({ unique_key }) => unique_key === text) };
  }

  async #cancel(row: ScheduleRow, open: readonly ExecutionRow[]): Promise<void> {
    const reason = `schedule ${row.name} starts the next run`;
    for (const { execution_id, state } of open) {
      if (state === "CANCELLING") continue;
      try {
        await this.#parts.cancel(execution_id, reason);
      } catch (error) {
        const isOver = error instanceof EngineError && error.code === "execution_finished";
        if (!isOver) throw error;
      }
    }
  }

  #move(
    row: ScheduleRow,
    step: PlanStep,
    patch: (current: ScheduleRow) => SchedulePatch,
  ): Promise<ScheduleRow | undefined> {
    return this.#change(row, (current) =>
      isAtStep(current, row, step) ? patch(current) : undefined,
    );
  }

  /** Undefined when the schedule is not there any more. */
  async #change(
    { name, id }: ScheduleRow,
    decide: (current: ScheduleRow) => SchedulePatch | undefined,
  ): Promise<ScheduleRow | undefined> {
    const row = await this.#store.schedules.change(name, (current) =>
      current.id === id ? decide(current) : undefined,
    );
    return row?.id === id ? row : undefined;
  }
}

/** Whether the plan is still where it was when the step was worked out, and the spec the same. */
function isAtStep(current: ScheduleRow, then: ScheduleRow, { instant }: PlanStep): boolean {
  return current.next_run_at === instant && isDeepStrictEqual(current.spec, then.spec);
}

function textOf(error: unknown): string {
  return error instanceof EngineError ? `${error.code}: ${error.message}` : String(error);
}
