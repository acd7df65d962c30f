import { hash } from "node:crypto";
import { EngineError, encode, formatInstant, type ScheduleRow } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { StartKey } from "../starts/start.ts";
import type { Starts } from "../starts/starts.ts";
import type { AuthorizeSchedule } from "./authorize-schedule.ts";

interface Parts {
  readonly starts: Pick<Starts, "start" | "check">;
  /** Accounts are stored as given and not looked at when absent. */
  readonly authorize?: AuthorizeSchedule | undefined;
}

type Scheduled = Pick<
  ScheduleRow,
  "name" | "namespace" | "workflow" | "version" | "run_as" | "input"
>;

/** Starts executions of schedules; every check of a start is made again at each (EXE-74). */
export class ScheduledStarts {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The start that is due at an instant: however many servers ask for it, one execution is made (EXE-75). */
  async due(schedule: ScheduleRow, instant: number): Promise<Changed> {
    const { name } = schedule;
    return this.#parts.starts.start({
      ...this.#of(schedule, "input"),
      trigger: { kind: "schedule", id: name, at: formatInstant(instant) },
      schedule: { name, scheduled_for: instant },
      key: keyOf(schedule, instant),
    });
  }

  /** One more start, asked for by somebody. */
  async now(schedule: ScheduleRow): Promise<Changed> {
    const { name } = schedule;
    return this.#parts.starts.start({
      ...this.#of(schedule, "input"),
      trigger: { kind: "schedule", id: name },
      schedule: { name, scheduled_for: null },
    });
  }

  /** Refuses what a start would be refused for: the workflow, its input and the account. */
  async check(schedule: Scheduled, root: string): Promise<void> {
    return this.#parts.starts.check(this.#of(schedule, root));
  }

  #of(schedule: Scheduled, root: string) {
    const { namespace, workflow, version } = schedule;
    return {
      of: { namespace, workflow, version },
      input: encode(schedule.input, root),
      root,
      by: async () => (await this.#parts.authorize?.(schedule)) ?? null,
    };
  }
}

/** Whether an error says nothing about the schedule: the start is tried again a moment later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof EngineError)) return true;
  return error.code === "unavailable" || error.code === "internal";
}

/** The key of the execution of an instant: whatever input or version it has, it is the same start. */
export function keyOf({ id }: Pick<ScheduleRow, "id">, instant: number): Required<StartKey> {
  const text = `schedule:${id}:${instant}`;
  return { text, request_hash: hash("sha256", text, "hex") };
}
