import { hash } from "node:crypto";
import {
  EngineError,
  encode,
  formatInstant,
  type RoutingInput,
  type ScheduleRow,
} from "@engine/contract";
import type { Changed } from "@engine/store";
import type { StartKey } from "../starts/start.ts";
import type { Starts } from "../starts/starts.ts";
import type { AuthorizeSchedule } from "./authorize-schedule.ts";
import type { RoutingSeals } from "./routing-seals.ts";

interface Parts {
  readonly starts: Pick<Starts, "start" | "check">;
  readonly routing: Pick<RoutingSeals, "given">;
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
      routing_input: this.#parts.routing.given(schedule),
      trigger: { kind: "schedule", id: name, at: formatInstant(instant) },
      schedule: { name, scheduled_for: instant },
      key: keyOf(schedule, instant),
    });
  }

  /**
   * One more start, asked for by somebody, who hears of the account first (AUTH-47).
   *
   * @param asked In place of the schedule's own routing input.
   */
  async now(schedule: ScheduleRow, asked?: RoutingInput): Promise<Changed> {
    const { name } = schedule;
    const by = await this.checkAccount(schedule);
    return this.#parts.starts.start({
      ...this.#of(schedule, "input"),
      by,
      routing_input: asked ?? this.#parts.routing.given(schedule),
      trigger: { kind: "schedule", id: name },
      schedule: { name, scheduled_for: null },
    });
  }

  /** Refuses what a start would be refused for: the account, then the workflow and its input. */
  async check(schedule: Scheduled, root: string): Promise<void> {
    await this.checkAccount(schedule);
    await this.#parts.starts.check(this.#of(schedule, root));
  }

  /** The principal that executions of the schedule are recorded under; refuses what it may not run. */
  async checkAccount(schedule: Omit<Scheduled, "input">): Promise<string | null> {
    return (await this.#parts.authorize?.(schedule)) ?? null;
  }

  #of(schedule: Scheduled, root: string) {
    const { namespace, workflow, version } = schedule;
    return {
      of: { namespace, workflow, version },
      input: encode(schedule.input, root),
      root,
      by: () => this.checkAccount(schedule),
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
