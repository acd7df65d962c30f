import type { EnvelopeOptions, HookIndex, RedactJson } from "@engine/contract";
import type { EventRecords } from "../event-records.ts";
import { deliveryRecords } from "./delivery-records.ts";
import type { DeliveryKey } from "./delivery-row.ts";

/** How a store matches events with hooks. */
export interface OutboxOptions {
  /** False: no event is matched, and what hooks and deliveries there are stays as it is (HOOK-13). */
  readonly enabled: boolean;
  /** Most bytes of a value in an envelope, see `hooks.max_value_bytes` of the configuration. */
  readonly max_value_bytes: number;
  /**
   * PostgreSQL: how old the hooks may be that events are matched with; 0: they are read for each commit.
   * On SQLite they are those of this moment.
   */
  readonly snapshot_ttl_seconds: number;
  /** Masks secrets in envelopes. Without one they show no values (HOOK-16). */
  readonly redact?: RedactJson | undefined;
}

/** Where the hooks come from that events are matched with. */
export interface HookSource {
  /** Those that are enabled. Asked in the transaction that writes events. */
  readonly index: HookIndex;
  /** Whether there were none when they were read last: no question to a database elsewhere. */
  readonly isEmpty: boolean;
  /** Before changes are judged: resolves once the index is as new as it has to be. */
  readonly ready?: () => Promise<void> | undefined;
  /** Reads them again. */
  readonly refresh?: () => Promise<void>;
}

/** A delivery that a commit has written, and the name of its hook. */
export interface WrittenDelivery extends DeliveryKey {
  readonly hook: string;
}

/** Told of what a commit has written, in the order of its events. */
export type DeliveryListener = (written: readonly WrittenDelivery[]) => void;

/**
 * Asked before each commit, which waits for what it returns: where there are hooks it is known from then on
 * what is masked, or that it cannot be. It never rejects.
 */
export type MasksReady = (hasHooks: boolean) => Promise<void> | undefined;

/** What a process and its store have to say to each other of deliveries. */
export class Outbox {
  readonly #source: HookSource;
  readonly #isEnabled: boolean;
  readonly #listeners = new Set<DeliveryListener>();
  readonly #max_value_bytes: number;
  #redact: RedactJson;
  #masksReady: MasksReady = () => undefined;

  constructor(options: OutboxOptions, source: HookSource) {
    this.#source = source;
    this.#isEnabled = options.enabled;
    this.#max_value_bytes = options.max_value_bytes;
    this.#redact = options.redact ?? masksUnknown;
  }

  /**
   * What envelopes pass through from now on. What it throws leaves a marker in place of the value.
   *
   * @param ready Without it no commit waits.
   */
  redactWith(redact: RedactJson, ready: MasksReady = () => undefined): void {
    this.#redact = redact;
    this.#masksReady = ready;
  }

  /** Whether an event may have a delivery, as far as is known here: then secrets have to be known. */
  get hasHooks(): boolean {
    return this.#isEnabled && !this.#source.isEmpty;
  }

  /**
   * Tells of commits of this store that have something for the drain, once they are durable. A hook that
   * was disabled meanwhile is told of in vain.
   *
   * @returns Ends it.
   */
  onDeliveries(listener: DeliveryListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves once events are matched with the hooks as they are now. Asked for by a server that has changed
   * one, before it says so, and by the others when they hear of it (HOOK-12).
   */
  async refresh(): Promise<void> {
    if (this.#isEnabled) await this.#source.refresh?.();
  }

  /** The rows of deliveries, as the store writes them with events; none where hooks are off. */
  records(): readonly EventRecords[] {
    if (!this.#isEnabled) return [];
    const source = this.#source;
    const options: EnvelopeOptions = {
      max_value_bytes: this.#max_value_bytes,
      redact: (json) => this.#redact(json),
    };
    const kind = deliveryRecords(() => source.index, options);
    return [
      {
        ...kind,
        ready: () => {
          const waits = source.ready?.();
          // Whether there are any hooks may be known only then.
          return waits ? waits.then(() => this.#untilMasked()) : this.#untilMasked();
        },
        written: (records) =>
          this.#tell(
            records.map(({ id, hook_id, hook }) => {
              return { id: String(id), hook_id: String(hook_id), hook: String(hook) };
            }),
          ),
      },
    ];
  }

  /** An envelope is made inside of a transaction, which cannot wait until it is known what is masked. */
  #untilMasked(): Promise<void> | undefined {
    return this.#masksReady(this.hasHooks);
  }

  #tell(written: readonly WrittenDelivery[]): void {
    for (const listener of this.#listeners) listener(written);
  }
}

/** A store that was opened without options matches nothing. */
export const NO_OUTBOX: OutboxOptions = {
  enabled: false,
  max_value_bytes: 0,
  snapshot_ttl_seconds: 0,
};

function masksUnknown(): never {
  throw new Error("nobody has said yet which secrets are masked");
}
