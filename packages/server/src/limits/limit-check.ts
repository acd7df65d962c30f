/** Check 4 of the gate: whether a limit is known to have no place for an execution (DSP-1). */
import type { LimitDenial, ResolvedLimit } from "@engine/contract";

/** What is known of limits without asking the store. */
export interface LimitView {
  denial(limit: ResolvedLimit): LimitDenial | undefined;
}

/** An execution that waits, as its limits look at it. */
export interface LimitedClaim {
  readonly limits: readonly ResolvedLimit[] | undefined;
  /** No worker has had it. */
  readonly isFirst: boolean;
  /** It was cancelled and is to be unwound: that waits for no limit (EXE-43). */
  readonly isUnwinding: boolean;
}

const ORDER = ["concurrency_limit", "rate_limit", "limit_undefined"] as const;

/** Nothing known stands in the way when undefined; the claim itself counts (FLW-8). */
export function limitDenial(
  { limits, isFirst, isUnwinding }: LimitedClaim,
  view: LimitView,
): LimitDenial | undefined {
  if (!limits || isUnwinding) return undefined;
  let first: LimitDenial | undefined;
  for (const limit of limits) {
    const denied = view.denial(limit);
    if (!denied || (!isFirst && isForFirst(limit, denied))) continue;
    if (!first || ORDER.indexOf(denied.reason) < ORDER.indexOf(first.reason)) first = denied;
  }
  return first;
}

/** Whether it is in the way of first claims alone: what goes on has begun, or has kept its place. */
function isForFirst(limit: ResolvedLimit, { reason }: LimitDenial): boolean {
  if (reason === "rate_limit") return true;
  return limit.kind === "concurrency" && limit.hold_while_waiting === true;
}
