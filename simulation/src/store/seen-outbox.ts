import type { RedactJson } from "@engine/contract";
import type { DeliveryListener, MasksReady, Outbox, Store, WrittenDelivery } from "@engine/store";
import { changed } from "../changed.ts";

interface SeenOutboxParts {
  readonly store: Pick<Store, "outbox">;
  /** Asks a database elsewhere; undefined where the store is the server's own, in its process. */
  readonly ask: (<Answer>(question: () => Promise<Answer>) => Promise<Answer>) | undefined;
}

/**
 * The outbox as one server sees it. Servers share a store here: each is told of the deliveries of its own
 * commits alone, once these are answered, and of none whose answer was lost.
 */
export class SeenOutbox {
  readonly outbox: Outbox;
  readonly #inner: Outbox;
  readonly #listeners = new Set<DeliveryListener>();
  #redact: RedactJson | undefined;
  #masksReady: MasksReady = () => undefined;

  constructor({ store, ask }: SeenOutboxParts) {
    this.#inner = store.outbox;
    const inner = this.#inner;
    this.outbox = changed(inner, {
      redactWith: (redact, ready = () => undefined) => {
        this.#redact = redact;
        this.#masksReady = ready;
      },
      onDeliveries: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      // It reads the hooks.
      ...(ask && { refresh: () => ask(() => inner.refresh()) }),
    });
  }

  /** Asked before `begin`: this server alone waits until it knows what is masked, as its own store would. */
  untilMasked(): Promise<void> | undefined {
    return this.#masksReady(this.#inner.hasHooks);
  }

  /**
   * Before something of this server is committed: its envelopes know what this server knows of secrets.
   *
   * @returns To be called once it is: says which deliveries there are.
   */
  begin(): () => readonly WrittenDelivery[] {
    if (this.#redact) this.#inner.redactWith(this.#redact);
    const noticed: WrittenDelivery[] = [];
    const stop = this.#inner.onDeliveries((written) => void noticed.push(...written));
    return () => {
      stop();
      return noticed;
    };
  }

  tell(written: readonly WrittenDelivery[]): void {
    for (const listener of [...this.#listeners]) listener(written);
  }
}
