import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import type { MaskSets } from "../secrets/mask-set.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "setTimer" | "log">;
  readonly masks: Pick<MaskSets, "known" | "current">;
  readonly epochs: Pick<EpochWatch, "onChange">;
}

/** Before what is known of secrets is too old to be used. */
const KEEP_MS = 400;

/**
 * Envelopes are made in transactions, which cannot wait until it is known what is masked. While there is
 * a hook, this keeps it known: else the first event after a quiet time would show no value (HOOK-16).
 */
export class HookMasks implements Domain {
  readonly #parts: Parts;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { ports, masks, epochs } = parts;
    ports.store.outbox.redactWith((json) => {
      const masker = masks.known();
      if (!masker) throw new Error("what is masked is not known now");
      return masker.json(json);
    });
    epochs.onChange("hooks", () => void this.#look());
  }

  async recover(): Promise<void> {
    await this.keep();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  /** Some were changed: whether there are any may be known only once they are read. */
  async #look(): Promise<void> {
    const { store, log } = this.#parts.ports;
    try {
      await store.outbox.refresh();
    } catch (error) {
      // What is known of them serves until it is too old, and is then read before the next commit.
      log.warn({ err: error }, "could not read which hooks have changed");
    }
    await this.keep();
  }

  /** Resolves once it is known what is masked, where there are hooks; from then on that is kept so. */
  async keep(): Promise<void> {
    const { ports, masks } = this.#parts;
    this.#cancel?.();
    if (this.#isClosed || !ports.store.outbox.hasHooks) return;
    this.#cancel = ports.setTimer(() => void this.keep(), KEEP_MS);
    // What cannot be read leaves markers, and is told of in the log by whoever reads it.
    if (!masks.known()) await masks.current().catch(() => undefined);
  }
}
