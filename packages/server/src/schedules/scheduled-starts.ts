import { hash } from "node:crypto";
import { EngineError, encode, formatInstant, type ScheduleRow } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { StartKey } from "../starts/start.ts";
import type { Starts } from "../starts/starts.ts";
import type { AuthorizeSchedule } from "./authorize-schedule.ts";

export interface ScheduledStartsParts {
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
  readonly #parts: ScheduledStartsParts;

  constructor(parts: ScheduledStartsParts) {
    this.#parts = parts;
  }

  /** The start that is due at an instant: of two on any replicas one creates it (EXE-75). */
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

  /** What has to be right for it to start: the account, the workflow and its input. */
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

/** Errors that say nothing about the schedule: the start is made a moment later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof EngineError)) return true;
  return error.code === "unavailable" || error.code === "internal";
}

/** By which the execution of an instant is known: however it was asked for, it is the same start. */
export function keyOf({ id }: Pick<ScheduleRow, "id">, instant: number): Required<StartKey> {
  const text = `schedule:${id}:${instant}`;
  return { text, request_hash: hash("sha256", text, "hex") };
}
