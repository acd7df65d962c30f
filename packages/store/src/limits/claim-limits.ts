/**
 * Whether a claim has a place under each of its limits, and what is kept of it (FLW-8). Both databases ask
 * here, inside of the transaction that claims, with what they have read of the buckets there.
 */
import type {
  ConcurrencyDenial,
  ExecutionRow,
  LimitDenial,
  NewExecution,
  ResolvedLimit,
} from "@engine/contract";

/** What operators allow under a name. */
export interface LimitDefinition {
  readonly concurrency: number | null;
  readonly rate: { readonly count: number; readonly period_ms: number } | null;
}

/** First claims of a bucket in the time that a rate looks at. */
export interface RateView {
  readonly started: number;
  /** When the one has begun with which the next may follow; there are as many as may be. */
  readonly freeing: number | undefined;
}

export const NO_RATE: RateView = { started: 0, freeing: undefined };

/** What a transaction has read of the buckets. What is left behind counts for nothing in it. */
export interface LimitReader {
  definition(name: string): LimitDefinition | undefined;
  held(bucket: string): number;
  /** Whether an execution has kept its place there while it waited. */
  keeps(bucket: string, execution_id: string): boolean;
  holders(bucket: string): readonly string[];
  started(bucket: string, rate: { readonly count: number; readonly period_ms: number }): RateView;
}

export type HolderRow = {
  readonly bucket: string;
  readonly execution_id: string;
  /** Null: until the execution has ended. */
  readonly generation: number | null;
  readonly claimed_at: number;
};

export type StartRow = {
  readonly bucket: string;
  readonly execution_id: string;
  readonly started_at: number;
  readonly expires_at: number;
};

/** What is kept of a claim. */
export interface ClaimRecords {
  readonly holders: readonly HolderRow[];
  readonly starts: readonly StartRow[];
}

/** The limits of a claim; none for any other change, and for what has no limits. */
export function limitsOfClaim(
  stored: Pick<ExecutionRow, "generation"> | undefined,
  row: Pick<ExecutionRow, "generation" | "requirements">,
): readonly ResolvedLimit[] | undefined {
  if (row.generation === (stored?.generation ?? 0)) return undefined;
  return row.requirements?.limits;
}

/** The limits under which a start that would wait is refused (FLW-1). */
export function rejectingLimits(fresh: NewExecution): readonly ResolvedLimit[] | undefined {
  const { requirements, not_before = null, unplaceable, now } = fresh;
  if (!requirements?.limits || unplaceable || (not_before !== null && not_before > now)) {
    return undefined;
  }
  const rejecting = requirements.limits.filter((one) => "overflow" in one && one.overflow);
  return rejecting.length > 0 ? rejecting : undefined;
}

/** Why a claim gets no place; undefined when it does. */
export function denial(
  limits: readonly ResolvedLimit[],
  claim: Pick<ExecutionRow, "execution_id" | "generation" | "state">,
  read: LimitReader,
): LimitDenial | undefined {
  // An execution that was cancelled is unwound whatever is full (EXE-43).
  if (claim.state === "CANCELLING") return undefined;
  const open = limits.filter(({ bucket }) => !read.keeps(bucket, claim.execution_id));
  const full = roomDenial(open, read);
  if (full) return full;
  for (const limit of limits) {
    const rate = claim.generation <= 1 ? rateOf(limit, read) : undefined;
    const { freeing, started } = rate ? read.started(limit.bucket, rate) : NO_RATE;
    if (!rate || started < rate.count || freeing === undefined) continue;
    return { reason: "rate_limit", limit, ...rate, free_at: freeing + rate.period_ms };
  }
  for (const limit of limits) {
    if (limit.kind !== "limit" || read.definition(limit.name)) continue;
    return { reason: "limit_undefined", limit, name: limit.name };
  }
  return undefined;
}

/** Which of some limits has no free place. */
export function roomDenial(
  limits: readonly ResolvedLimit[],
  read: LimitReader,
): ConcurrencyDenial | undefined {
  for (const limit of limits) {
    const count = placesOf(limit, read);
    const held = count === undefined ? 0 : read.held(limit.bucket);
    if (count === undefined || held < count) continue;
    const holders = read.holders(limit.bucket);
    return { reason: "concurrency_limit", limit, count, held, holders };
  }
  return undefined;
}

/** What a claim leaves, to be counted by those that follow. */
export function claimRecords(
  limits: readonly ResolvedLimit[],
  claim: Pick<ExecutionRow, "execution_id" | "generation">,
  at: number,
  read: LimitReader,
): ClaimRecords {
  const { execution_id, generation } = claim;
  const holders = new Map<string, HolderRow>();
  const starts = new Map<string, StartRow>();
  for (const limit of limits) {
    const { bucket } = limit;
    // Under a name it is kept whether or not places are counted now: operators may begin to.
    if (limit.kind !== "rate" && !read.keeps(bucket, execution_id)) {
      const isKept = limit.kind === "concurrency" && limit.hold_while_waiting;
      const untilEnd = isKept || holders.get(bucket)?.generation === null;
      const held = { bucket, execution_id, generation: untilEnd ? null : generation };
      holders.set(bucket, { ...held, claimed_at: at });
    }
    const rate = generation === 1 ? rateOf(limit, read) : undefined;
    if (rate) {
      const expires_at = Math.max(at + rate.period_ms, starts.get(bucket)?.expires_at ?? 0);
      starts.set(bucket, { bucket, execution_id, started_at: at, expires_at });
    }
  }
  return { holders: [...holders.values()], starts: [...starts.values()] };
}

function placesOf(limit: ResolvedLimit, read: LimitReader): number | undefined {
  if (limit.kind === "concurrency") return limit.count;
  if (limit.kind === "rate") return undefined;
  return read.definition(limit.name)?.concurrency ?? undefined;
}

function rateOf(limit: ResolvedLimit, read: LimitReader): LimitDefinition["rate"] {
  if (limit.kind === "rate") return { count: limit.count, period_ms: limit.period_ms };
  if (limit.kind === "concurrency") return null;
  return read.definition(limit.name)?.rate ?? null;
}
