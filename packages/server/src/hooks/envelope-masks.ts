import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { Masker } from "../redaction/masker.ts";
import type { MaskSets } from "../secrets/mask-set.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "monotonic">;
  readonly masks: Pick<MaskSets, "known" | "current">;
}

/** What could not be read is not asked for again so soon: commits meanwhile leave markers at once. */
const AGAIN_MS = 400;

/**
 * Envelopes are made in transactions, which cannot wait until it is known what is masked: so commits wait
 * before, as requests do, and mask with what was known then. However slow the server or the database, an
 * event keeps its value; only where secrets cannot be read a marker stands (HOOK-16).
 */
export function maskEnvelopes({ ports, masks }: Parts): void {
  /** Known current when the commit that asked last was begun. */
  let held: Masker | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  const ready = (): Promise<void> | undefined => {
    const known = masks.known();
    if (known || ports.monotonic() - failedAt < AGAIN_MS) {
      held = known;
      return undefined;
    }
    return masks.current().then(
      (masker) => {
        held = masker;
      },
      // Whoever reads them tells of it in the log.
      () => {
        held = undefined;
        failedAt = ports.monotonic();
      },
    );
  };

  ports.store.outbox.redactWith((json) => {
    if (!held) throw new Error("what is masked is not known now");
    return held.json(json);
  }, ready);
}

/** A server that hears of hooks that another one has changed reads them at once. */
export function readHooksOnNews(parts: {
  readonly ports: Pick<EnginePorts, "store" | "log">;
  readonly epochs: Pick<EpochWatch, "onChange">;
}): void {
  const { store, log } = parts.ports;
  parts.epochs.onChange("hooks", () => {
    store.outbox.refresh().catch((error) => {
      // What is known of them serves until it is too old, and is then read before the next commit.
      log.warn({ err: error }, "could not read which hooks have changed");
    });
  });
}
