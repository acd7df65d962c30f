import type { ScheduleRow } from "@engine/contract";
import { nextFire, nextFires } from "@engine/sources";

/** Fires that are later than this were missed (EXE-72). */
const MISSED_MS = 60_000;
/** Catching up with `all` starts no more than so many. */
const MOST_CAUGHT_UP = 100;
/** Fires that are left out are counted up to here; a schedule of seconds may have missed millions. */
const MOST_COUNTED = 1000;

/** A move of the plan: what is done about the instant it stands at, and where it goes. */
export interface PlanStep {
  /** What the plan's `next_run_at` was; the step is void once that has changed. */
  readonly instant: number;
  /** The plan's next instant after this step; null: the plan is over. */
  readonly next: number | null;
  /** Instants in between that nothing is started for. */
  readonly dropped: number;
  readonly catch_up_to: number | null;
}

/** The next thing that has to be done about a schedule. */
export type Step =
  | { readonly kind: "none" }
  /** The instant was missed too long ago: nothing is started. */
  | ({ readonly kind: "drop" } & PlanStep)
  /** `waits`: the start makes up for a missed instant, so a run that has not ended delays it. */
  | ({ readonly kind: "fire"; readonly waits: boolean } & PlanStep)
  /** A start that is held back since `instant` may be tried. */
  | { readonly kind: "held"; readonly instant: number };

/**
 * The plan only moves forward: a clock that is set back repeats nothing, and one that was ahead is
 * waited for.
 */
export function nextStep(row: ScheduleRow, now: number): Step {
  const { status, next_run_at, held } = row;
  if (status !== "active") return NONE;
  const isDue = next_run_at !== null && next_run_at <= now;
  if (held?.retry_at != null) {
    // The plan stands still at an instant of the past that it is catching up with.
    const isStanding = held.instant === next_run_at;
    if (held.retry_at > now && (isStanding || !isDue)) return NONE;
    // The next instant ends the attempts for the one before (EXE-75).
    if (!isStanding && !isDue) return { kind: "held", instant: held.instant };
  }
  return isDue ? planStep(row, next_run_at, now) : NONE;
}

const NONE: Step = { kind: "none" };

/** The instant of a start that waits for executions to end. It is looked at before the plan. */
export function heldByOverlap({ status, held }: ScheduleRow): number | undefined {
  return status === "active" && held?.retry_at === null ? held.instant : undefined;
}

function planStep(row: ScheduleRow, instant: number, now: number): Step {
  switch (row.catch_up) {
    case "one":
      // The oldest missed instant stands for all of them: after a crash before the plan has moved, the
      // same instant is found again, and with it the execution that was started for it.
      return fire(instant, nextFire(row, now));
    case "none": {
      const oldest = now - MISSED_MS;
      if (instant >= oldest) return fire(instant, nextFire(row, instant));
      const next = nextFire(row, oldest - 1);
      const dropped = missed(row, instant, next);
      return { kind: "drop", instant, next, dropped, catch_up_to: null };
    }
    case "all":
      return catchUpWithAll(row, instant, now);
  }
}

/** The oldest first, up to the hundredth; what was missed behind that is dropped. */
function catchUpWithAll(row: ScheduleRow, instant: number, now: number): Step {
  const waits = now - instant > MISSED_MS;
  const last = row.catch_up_to ?? hundredthMissed(row, instant, now);
  if (last !== instant) {
    return { ...fire(instant, nextFire(row, instant)), waits, catch_up_to: last };
  }
  const next = nextFire(row, now);
  const dropped = missed(row, nextFire(row, instant), next);
  return { kind: "fire", instant, next, dropped, catch_up_to: null, waits };
}

/** Null when fewer were missed. */
function hundredthMissed(row: ScheduleRow, instant: number, now: number): number | null {
  const others = nextFires(row, { after: instant, limit: MOST_CAUGHT_UP });
  const isOver = others.length === MOST_CAUGHT_UP && (others.at(-1) ?? now) <= now;
  return isOver ? (others.at(-2) ?? null) : null;
}

function fire(instant: number, next: number | null): Step & { readonly kind: "fire" } {
  return { kind: "fire", instant, next, dropped: 0, catch_up_to: null, waits: false };
}

/** How many instants lie from `first` to before `end`. */
function missed(row: ScheduleRow, first: number | null, end: number | null): number {
  if (first === null || first === end) return 0;
  const others = nextFires(row, { after: first, limit: MOST_COUNTED });
  return 1 + others.filter((at) => at < (end ?? Number.POSITIVE_INFINITY)).length;
}
