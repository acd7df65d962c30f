import { EngineError, type Event, type NewEvent, type SentEvent } from "@engine/contract";
import type { ExecutionKeyPort } from "../ports/execution-keys.ts";
import { newDataKey, unwrapKey, wrapKey } from "./envelope.ts";
import type { KeyRing } from "./key-ring.ts";
import { executionKeyPlace } from "./sealed-places.ts";
import { isSealedText, openUnder, sealUnder } from "./sealed-text.ts";

/** Unwrapped keys that are kept in memory; the oldest go first. */
const MOST_KEYS = 1_000;

/** What values outside a log are bound to; those of a log are bound to their event. */
const OUTSIDE = "value";

/** Events that may bring what nobody is to read. */
type Sent = readonly SentEvent[];

/**
 * What sensitive tasks took and gave, encrypted under one key per execution (SEC-9). Logs and storages
 * hold nothing else of it; whoever runs the execution gets it back.
 */
export class ExecutionSeals {
  readonly #ring: KeyRing | undefined;
  readonly #stored: ExecutionKeyPort;
  readonly #known = new Map<string, Uint8Array>();

  /** @param ring Without one nothing can be hidden. */
  constructor(ring: KeyRing | undefined, stored: ExecutionKeyPort) {
    this.#ring = ring;
    this.#stored = stored;
  }

  /** Whether some of the events have to be {@link hidden} before they are written. */
  static hides(events: Sent): boolean {
    return events.some(({ hidden }) => hidden !== undefined);
  }

  /** The events as they are stored. */
  async hidden(execution_id: string, events: Sent): Promise<NewEvent[]> {
    const { random } = this.#needed();
    const key = await this.#key(execution_id);
    return events.map(({ hidden, ...event }) =>
      hidden === undefined
        ? event
        : { ...event, sealed: sealUnder(key, placeOf(event), JSON.stringify(hidden), random) },
    );
  }

  /** The events as the code that made them knows them. At once where none hides anything. */
  revealed<Logged extends NewEvent | Event>(
    execution_id: string,
    events: readonly Logged[],
  ): readonly Logged[] | Promise<readonly Logged[]> {
    if (events.every(({ sealed }) => sealed === undefined)) return events;
    return this.#revealed(execution_id, events);
  }

  async #revealed<Logged extends NewEvent | Event>(
    execution_id: string,
    events: readonly Logged[],
  ): Promise<readonly Logged[]> {
    const key = await this.#key(execution_id);
    return events.map((event) => {
      const { sealed, ...shown } = event;
      if (sealed === undefined) return event;
      return { ...shown, value: JSON.parse(openUnder(key, placeOf(event), sealed)) } as Logged;
    });
  }

  /** A value that is kept outside the log. */
  async sealText(execution_id: string, text: string): Promise<string> {
    const { random } = this.#needed();
    return sealUnder(await this.#key(execution_id), OUTSIDE, text, random);
  }

  /** Any value that is kept outside the log, hidden or not. */
  async openText(execution_id: string, text: string): Promise<string> {
    if (!isSealedText(text)) return text;
    return openUnder(await this.#key(execution_id), OUTSIDE, text);
  }

  /** A fork reads what it copies under a key of its own. */
  async share(from: string, to: string): Promise<void> {
    const key = await this.#key(from);
    await this.#stored.add(to, wrapKey(this.#needed(), executionKeyPlace(to), key));
  }

  async #key(execution_id: string): Promise<Uint8Array> {
    const known = this.#known.get(execution_id);
    if (known) return known;
    const ring = this.#needed();
    const of = executionKeyPlace(execution_id);
    const stored =
      (await this.#stored.find(execution_id)) ?? (await this.#made(execution_id, ring));
    const key = unwrapKey(ring, of, stored);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= MOST_KEYS) this.#known.delete(oldest);
    this.#known.set(execution_id, key);
    return key;
  }

  async #made(execution_id: string, ring: KeyRing) {
    const { key_id, wrapped } = newDataKey(ring, executionKeyPlace(execution_id));
    return this.#stored.add(execution_id, { key_id, wrapped });
  }

  #needed(): KeyRing {
    if (this.#ring) return this.#ring;
    throw new EngineError(
      "encryption_unavailable",
      "what a sensitive task takes and gives is kept encrypted, and no key is configured; set engine.security.encryption.key",
    );
  }
}

/** A fork has the same calls as its source: the text of one opens there, of no other. */
function placeOf({ type, source_id }: NewEvent): string {
  return JSON.stringify([type, source_id]);
}
