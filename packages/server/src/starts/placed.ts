import type {
  Failure,
  HiddenPlacement,
  Placement,
  Requirements,
  ResolvedFairness,
  ResolvedLimits,
  ResolvedPlacement,
} from "@engine/contract";

/** What an execution needs of its worker, or why it can never have one. */
export interface Placed {
  readonly requirements: Requirements | null;
  readonly failure?: Failure | undefined;
}

/**
 * The requirements of a version with what its terms came to for one execution.
 *
 * @param hide Makes what reads routing input unreadable; equal terms stay equal.
 */
export function placedBy(
  of: Requirements | null,
  resolved: ResolvedPlacement,
  hide: (placement: Placement) => HiddenPlacement,
): Placed {
  if (resolved.failure) return { requirements: of, failure: resolved.failure };
  const { open, hidden } = resolved;
  const isHiding = Object.keys(hidden).length > 0;
  if (!isHiding && Object.keys(open).length === 0) return { requirements: of };
  return { requirements: { ...of, ...open, ...(isHiding && { hidden: hide(hidden) }) } };
}

/** The same with the limits that its claims count. */
export function limitedBy(placed: Placed, resolved: ResolvedLimits): Placed {
  if (placed.failure) return placed;
  if (resolved.failure) return { ...placed, failure: resolved.failure };
  const { limits } = resolved;
  return limits.length === 0 ? placed : { requirements: { ...placed.requirements, limits } };
}

/** The same with whom it takes turns. */
export function sharedBy(placed: Placed, resolved: ResolvedFairness): Placed {
  if (placed.failure) return placed;
  if (resolved.failure) return { ...placed, failure: resolved.failure };
  const { share } = resolved;
  return share ? { requirements: { ...placed.requirements, fairness: share } } : placed;
}
