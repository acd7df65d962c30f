import {
  decode,
  droppedSignals,
  type Encoded,
  type Event,
  parseEventTime,
  revealed,
  type SentEvent,
} from "@engine/contract";

/** The log as this copy knows it, and how much of it the code has received. */
export class GrowingLog {
  /** Events that this copy wrote are kept as the text that was sent. */
  readonly #events: (Event | string)[];
  /** When the body was started: its first clock. */
  readonly #startedAt: number;
  #received = 0;
  #receivedAt: { received: number; ms: number } | undefined;
  #hasSignals: boolean;
  readonly #unsent: () => readonly string[];

  /** @param unsent What this copy has written and the log does not hold yet. */
  constructor(history: readonly Event[], startedAt: number, unsent: () => readonly string[]) {
    this.#events = [...history];
    this.#startedAt = startedAt;
    this.#unsent = unsent;
    this.#hasSignals = history.some(isSignal);
  }

  /** Adds an event that the server wrote, or the text of one of this copy's own. */
  add(event: Event | string): void {
    this.#events.push(event);
    if (typeof event !== "string" && isSignal(event)) this.#hasSignals = true;
  }

  /** The code has received the event of that number. */
  receive(seq: number): void {
    this.#received = Math.max(this.#received, seq);
  }

  /** Up to the newest outcome the code has received: equal on every replay (EXE-11). */
  get received(): readonly Event[] {
    return this.#known(this.#received).slice(0, this.#received).map(ownEvent);
  }

  /** The part of the log that is durable. */
  get durable(): readonly Event[] {
    return this.#events.map(eventOf);
  }

  /** The time of the newest event the code has received, milliseconds since 1970 (EXE-31). */
  get time(): number {
    const received = this.#received;
    if (received === 0) return this.#startedAt;
    if (this.#receivedAt?.received !== received) {
      const newest = this.#known(received)[received - 1];
      const time = newest === undefined ? undefined : eventOf(newest, received - 1).time;
      this.#receivedAt = { received, ms: time ? parseEventTime(time) : this.#startedAt };
    }
    return Math.max(this.#receivedAt.ms, this.#startedAt);
  }

  /** The code may have received more than the log holds. */
  #known(length: number): readonly (Event | string)[] {
    return length > this.#events.length ? [...this.#events, ...this.#unsent()] : this.#events;
  }

  /** The warning about signals that no call has taken. */
  get droppedSignals(): string | undefined {
    return this.#hasSignals ? droppedSignals(this.#events.map(eventOf)) : undefined;
  }
}

function isSignal({ type }: Event): boolean {
  return type === "WORKFLOW_SIGNALED";
}

/** A copy of an event, for code that may change it. */
function ownEvent(entry: Event | string, index: number): Event {
  const event = eventOf(entry, index);
  return typeof entry === "string" ? event : (decode(event as unknown as Encoded) as Event);
}

function eventOf(entry: Event | string, index: number): Event {
  if (typeof entry !== "string") return entry;
  return { ...revealed(JSON.parse(entry) as SentEvent), seq: index + 1 };
}
