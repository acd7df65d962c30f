import type { RedactJson } from "@engine/contract";
import type { Masker } from "./masker.ts";

/** What a process knows of secrets. */
export interface EnvelopeMasks {
  /** At once, where nobody can have changed one since it was read. */
  known(): Masker | undefined;
  /** Read anew where that may be; rejects where it cannot be. */
  current(): Promise<Masker>;
}

interface Parts {
  /** The outbox of a store. */
  readonly outbox: {
    redactWith(redact: RedactJson, ready: (hasHooks: boolean) => Promise<void> | undefined): void;
  };
  readonly masks: EnvelopeMasks;
  /** Milliseconds, by a clock that nobody sets. */
  readonly monotonic: () => number;
}

/** What could not be read is not asked for again so soon: commits meanwhile leave markers at once. */
const AGAIN_MS = 400;

/**
 * Envelopes are made in transactions, which cannot wait until it is known what is masked: so commits wait
 * before, as requests do, and mask with what was known then. However slow the process or the database, an
 * event keeps its value; only where secrets cannot be read a marker stands (HOOK-16).
 */
export function maskEnvelopes({ outbox, masks, monotonic }: Parts): void {
  /** Known current when the commit that asked last was begun; nothing where that saw no hook. */
  let held: Masker | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  const ready = (hasHooks: boolean): Promise<void> | undefined => {
    if (!hasHooks) {
      // What was known when there were hooks last may be old when there are some again.
      held = undefined;
      return undefined;
    }
    const known = masks.known();
    if (known || monotonic() - failedAt < AGAIN_MS) {
      held = known;
      return undefined;
    }
    return masks.current().then(
      (masker) => {
        held = masker;
      },
      // Whoever reads them tells of it.
      () => {
        held = undefined;
        failedAt = monotonic();
      },
    );
  };

  outbox.redactWith((json) => {
    const masker = held ?? masks.known();
    if (!masker) throw new Error("what is masked is not known now");
    return masker.json(json);
  }, ready);
}
