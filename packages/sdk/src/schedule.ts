import {
  type DeclaredSchedule,
  type Duration,
  declareSchedule,
  EngineError,
  type ScheduleBuilder,
} from "@engine/contract";

/** What the engine starts the workflow by, as the builders return it. */
export type Schedule = DeclaredSchedule;

/** Options of every builder (EXE-72). */
export interface ScheduleOptions {
  /**
   * While an execution of the schedule has not ended: `"skip"` leaves the start out, `"allow"`
   * makes it, `"queue"` makes one once the other has ended, `"cancel"` ends the other first.
   * Default `"skip"`.
   */
  readonly overlap?: "skip" | "allow" | "queue" | "cancel";
  /**
   * For starts missed while no server ran: `"one"` for all of them, `"none"` of those missed by over
   * a minute, or `"all"`, at most 100. Default `"one"`.
   */
  readonly catchUp?: "one" | "none" | "all";
  /** Account the executions run as. */
  readonly runAs?: string | null;
  /** JSON; default null. */
  readonly input?: unknown;
  readonly description?: string | null;
}

/** Options of {@link cron}. */
export interface CronOptions extends ScheduleOptions {
  /** IANA name, such as `"Europe/Berlin"`. Default `"UTC"`. */
  readonly timezone?: string;
}

/** Options of {@link interval}. */
export interface IntervalOptions extends ScheduleOptions {
  /** ISO 8601: the first start, from which the others are counted. Default: when it is registered. */
  readonly startAt?: string;
  /** ISO 8601: no start after it. */
  readonly endAt?: string;
}

/**
 * Starts the workflow by a cron expression: minute, hour, day of month, month, day of week, and
 * optionally seconds before them.
 *
 * @throws EngineError `invalid_definition` for an unknown or wrong option. What only a calendar can
 *   tell, such as a wrong expression, is told at registration.
 * @example
 * ```ts
 * workflow({ name: "report", schedule: cron("0 9 * * 1-5", { timezone: "Europe/Berlin" }) }, …)
 * ```
 */
export function cron(expression: string, options: CronOptions = {}): Schedule {
  return declared("cron", expression, options);
}

/**
 * Starts the workflow again and again, `every` at least a second apart, without drift.
 *
 * @throws EngineError `invalid_definition` as {@link cron} does.
 * @example
 * ```ts
 * workflow({ name: "sync", schedule: interval("15m", { overlap: "queue" }) }, …)
 * ```
 */
export function interval(every: Duration, options: IntervalOptions = {}): Schedule {
  return declared("interval", every, options);
}

/**
 * Starts the workflow once, at an instant written in ISO 8601; without an offset it is UTC.
 *
 * @throws EngineError `invalid_definition` as {@link cron} does.
 * @example
 * ```ts
 * workflow({ name: "greeting", schedule: once("2026-12-24T18:00:00Z") }, …)
 * ```
 */
export function once(at: string, options: ScheduleOptions = {}): Schedule {
  return declared("once", at, options);
}

function declared(builder: ScheduleBuilder, first: unknown, options: unknown): Schedule {
  const result = declareSchedule(builder, [first, options]);
  if (!result.issues) return result.declared;
  const issues = result.issues.map(({ option, message }) => ({ path: option, message }));
  const message = issues.map((issue) => issue.message).join("; ");
  throw new EngineError("invalid_definition", message, { details: { issues } });
}
