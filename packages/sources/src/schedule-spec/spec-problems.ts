import { formatInstant, parseUtcInstant, type ScheduleSpec } from "@engine/contract";
import { cronProblem } from "./cron-times.ts";
import { nextFire } from "./next-fires.ts";

export interface SpecProblem {
  readonly field: string;
  readonly message: string;
}

/** @param now Null: that its time is over is no problem, as for a file that is registered again. */
export function specProblems(spec: ScheduleSpec, now: number | null): readonly SpecProblem[] {
  switch (spec.type) {
    case "cron":
      return cronProblems(spec.expression, spec.timezone, now ?? 0);
    case "once":
      return onceProblems(spec.at, now);
    case "interval":
      return intervalProblems(spec, now);
  }
}

/** The spec with its instants written as reads show them. */
export function normalized(spec: ScheduleSpec): ScheduleSpec {
  if (spec.type === "cron") return spec;
  if (spec.type === "once") return { ...spec, at: written(spec.at) };
  const { start_at, end_at, ...rest } = spec;
  return {
    ...rest,
    ...(start_at !== undefined && { start_at: written(start_at) }),
    ...(end_at !== undefined && { end_at: written(end_at) }),
  };
}

function cronProblems(expression: string, timezone: string, now: number): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const message = cronProblem(expression);
  if (message !== undefined) problems.push({ field: "expression", message });
  if (!isZone(timezone)) {
    const expected = `is no time zone: write an IANA name such as Europe/Berlin, or UTC; got "${timezone}"`;
    problems.push({ field: "timezone", message: expected });
  }
  if (problems.length > 0) return problems;
  const spec = { type: "cron", expression, timezone } as const;
  if (nextFire({ spec, created_at: now }, now) !== null) return [];
  const never = `never fires: no day fits "${expression}"`;
  return [{ field: "expression", message: never }];
}

function isZone(timezone: string): boolean {
  // Empty or "local" would mean the zone of this machine, which another replica does not share.
  if (timezone.trim() === "" || timezone.toLowerCase() === "local") return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
    return true;
  } catch {
    return false;
  }
}

function onceProblems(text: string, now: number | null): SpecProblem[] {
  const at = parseUtcInstant(text);
  if (Number.isNaN(at)) return [{ field: "at", message: notAnInstant(text) }];
  if (now === null || at > now) return [];
  return [{ field: "at", message: `is in the past; now is ${formatInstant(now)}` }];
}

function intervalProblems(
  spec: Extract<ScheduleSpec, { type: "interval" }>,
  now: number | null,
): SpecProblem[] {
  const { start_at, end_at } = spec;
  const given = { start_at, end_at };
  const problems = Object.entries(given).flatMap(([field, text]) =>
    text !== undefined && Number.isNaN(parseUtcInstant(text))
      ? [{ field, message: notAnInstant(text) }]
      : [],
  );
  if (problems.length > 0 || end_at === undefined) return problems;
  const end = parseUtcInstant(end_at);
  const start = start_at === undefined ? now : parseUtcInstant(start_at);
  if (start !== null && end <= start) {
    const what = start_at === undefined ? "now, when the schedule starts" : "start_at";
    return [{ field: "end_at", message: `must be after ${what}` }];
  }
  if (now === null) return [];
  if (end <= now) {
    return [{ field: "end_at", message: `is in the past; now is ${formatInstant(now)}` }];
  }
  if (nextFire({ spec, created_at: now }, now) !== null) return [];
  return [{ field: "end_at", message: "never fires: it ends before the next interval" }];
}

function notAnInstant(text: string): string {
  return `must be an instant in ISO 8601, such as 2026-03-29T09:00:00Z; got "${text.slice(0, 60)}"`;
}

function written(text: string): string {
  return formatInstant(parseUtcInstant(text));
}
