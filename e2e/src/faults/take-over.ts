import type { RecordedEvent } from "@engine/contract";

export interface Claim {
  readonly worker: string;
  readonly generation: number;
  readonly reason: string;
}

export function claimsOf(log: readonly RecordedEvent[]): Claim[] {
  const claims = log.filter(({ type }) => type === "WORKFLOW_CLAIMED");
  return claims.map(({ value }) => value as unknown as Claim);
}

/** Who had the execution at an instant, as its log tells; undefined when nobody had, or it was over. */
export function ownerAt(log: readonly RecordedEvent[], at: number): string | undefined {
  const before = log.filter(({ recorded_at }) => Date.parse(recorded_at) <= at);
  if (before.some(({ type }) => type === "WORKFLOW_COMPLETED")) return undefined;
  return claimsOf(before).at(-1)?.worker;
}

/** When the first event after the claim of another worker was recorded: that worker wrote it. */
export function takenOverAt(log: readonly RecordedEvent[], lost: string): number | undefined {
  const claim = log.findIndex(
    ({ type, value }) => type === "WORKFLOW_CLAIMED" && (value as unknown as Claim).worker !== lost,
  );
  const first = claim < 0 ? undefined : log[claim + 1];
  return first && Date.parse(first.recorded_at);
}

/** Nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}
