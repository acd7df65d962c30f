import { parseUtcInstant, type ScheduleRow } from "@engine/contract";
import { cronTimes } from "./cron-times.ts";

/** What decides when a schedule fires; its text was checked when it was saved. */
export type Plan = Pick<ScheduleRow, "spec" | "created_at">;

/** At most `limit` instants of the plan behind `after`, oldest first. */
export function nextFires(
  { spec, created_at }: Plan,
  { after, limit }: { readonly after: number; readonly limit: number },
): number[] {
  switch (spec.type) {
    case "cron":
      return cronTimes(spec, { after, limit });
    case "once":
      return [instant(spec.at)].filter((at) => at > after);
    case "interval": {
      const start = spec.start_at === undefined ? created_at : instant(spec.start_at);
      const end = spec.end_at === undefined ? Number.POSITIVE_INFINITY : instant(spec.end_at);
      const every = Math.round(spec.every_seconds * 1000);
      const isFuture = start > after;
      // Counted from the start each time, so that nothing adds up (EXE-73). Without a start of its
      // own the first is one interval after its creation.
      const first = isFuture ? 0 : Math.floor((after - start) / every) + 1;
      const fires = Array.from({ length: limit }, (_, index) => start + (first + index) * every);
      return fires.filter((at) => at <= end && at <= LAST_INSTANT);
    }
  }
}

export function nextFire(plan: Plan, after: number): number | null {
  return nextFires(plan, { after, limit: 1 })[0] ?? null;
}

/** The last instant that ISO 8601 with four digits of year can write. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function instant(text: string): number {
  const at = parseUtcInstant(text);
  if (Number.isNaN(at)) throw new Error(`a schedule was saved with the instant ${text}`);
  return at;
}
