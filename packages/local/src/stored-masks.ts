import type { Json } from "@engine/contract";
import { createMasker, type EnvelopeMasks, type Masker, maskedValuesOf } from "@engine/redaction";
import { type KeyRing, openText, type Store, secretPlace } from "@engine/store";
import { neededRing } from "./needed-ring.ts";

/** Nothing is masked by what was read longer ago (AUTH-57). */
const FRESH_MS = 1_000;

const NOTHING = createMasker([]);

interface Parts {
  readonly store: Pick<Store, "epochs" | "masks">;
  readonly ring: KeyRing | undefined;
  /** False: nothing is masked (`security.redaction.enabled`). */
  readonly isOn: boolean;
  /** Milliseconds, by a clock that nobody sets. */
  readonly monotonic: () => number;
}

/** What is masked, as the database of a local run has it: read anew once it has changed. */
export class StoredMasks implements EnvelopeMasks {
  readonly #parts: Parts;
  #known: { readonly epoch: number; readonly masker: Masker } | undefined;
  /** When the read began that brought it. */
  #since = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  known(): Masker | undefined {
    if (!this.#parts.isOn) return NOTHING;
    return this.#parts.monotonic() - this.#since < FRESH_MS ? this.#known?.masker : undefined;
  }

  /** @throws EngineError `encryption_unavailable` where there are secrets and no key. */
  async current(): Promise<Masker> {
    const { store, isOn, monotonic } = this.#parts;
    if (!isOn) return NOTHING;
    const startedAt = monotonic();
    const { masks: epoch } = await store.epochs.read();
    const known = this.#known;
    // Read behind the epoch it may be newer than that, and is then read once more than needed.
    const masker = known?.epoch === epoch ? known.masker : createMasker(await this.#values());
    // Of readings that overtake each other the one that began last counts.
    if (startedAt >= this.#since) {
      this.#since = startedAt;
      this.#known = { epoch, masker };
    }
    return masker;
  }

  async #values(): Promise<Iterable<string>> {
    const { store, ring } = this.#parts;
    const rows = await store.masks.list();
    const values = rows.map(({ name, version, ...sealed }) => {
      const text = openText(neededRing(ring), secretPlace(name, version), sealed);
      return maskedValuesOf(JSON.parse(text) as Json);
    });
    return new Set(values.flat());
  }
}
