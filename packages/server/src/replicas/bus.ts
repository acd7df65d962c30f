/**
 * How servers on one database reach each other: short messages through the store, about 10 ms late,
 * sometimes lost. A listener must be right without them, only slower.
 */
import type { EnginePorts } from "../engine-ports.ts";
import { type BusMessage, type Envelope, parseEnvelope } from "./bus-message.ts";

/** Every store carries a text of this size, with room for the envelope of a part. */
const MOST_BYTES = 6_000;
/** Messages of one sender that wait for their other parts. */
const MOST_INCOMPLETE = 100;

export type BusListener = (message: BusMessage, from: string) => void;

type Ports = Pick<EnginePorts, "store" | "replica" | "ids" | "log">;

export class Bus {
  readonly #ports: Ports;
  readonly #listeners: BusListener[] = [];
  readonly #onMissed: (() => void)[] = [];
  readonly #incomplete = new Map<string, string[]>();
  #stop: (() => void) | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Whether there can be other servers at all. */
  get isShared(): boolean {
    return this.#ports.store.replicas.onAnnounced !== undefined;
  }

  /** Listeners are told in the order they came. */
  listen(listener: BusListener): void {
    this.#listeners.push(listener);
  }

  /** Calls back when messages were lost: a listener that relies on them looks at the rows then. */
  onMissed(then: () => void): void {
    this.#onMissed.push(then);
  }

  async start(): Promise<void> {
    this.#stop = await this.#ports.store.replicas.onAnnounced?.((text) => this.#receive(text));
  }

  /** Resolves once the message is on its way, or cannot be sent. */
  async send(message: BusMessage): Promise<void> {
    const { replicas } = this.#ports.store;
    if (!replicas.announce) return;
    try {
      await Promise.all(this.#texts(message).map(async (text) => replicas.announce?.(text)));
    } catch (error) {
      this.#ports.log.debug({ err: error }, "could not tell the other servers");
    }
  }

  close(): void {
    this.#stop?.();
    this.#incomplete.clear();
  }

  #texts(message: BusMessage): readonly string[] {
    const whole = this.#text(message);
    if (Buffer.byteLength(whole) <= MOST_BYTES) return [whole];
    // Two bytes a character, and a third more as base64: a part fits with room for its envelope.
    const size = Math.floor(MOST_BYTES / 3);
    const count = Math.ceil(whole.length / size);
    const of = this.#ports.ids();
    return Array.from({ length: count }, (_, index) => {
      const text = whole.slice(index * size, (index + 1) * size);
      // Quotes would be escaped twice over: a part travels as base64 of its own text.
      const part = Buffer.from(text, "utf16le").toString("base64");
      return this.#text({ kind: "part", of, index, count, text: part });
    });
  }

  #text(message: BusMessage): string {
    return JSON.stringify({ from: this.#ports.replica, message } satisfies Envelope);
  }

  #receive(text: string | undefined): void {
    if (text === undefined) {
      for (const then of this.#onMissed) then();
      return;
    }
    const envelope = parseEnvelope(text);
    if (!envelope || envelope.from === this.#ports.replica) return;
    const { message, from } = envelope;
    if (message.kind === "part") this.#receivePart(message, from);
    else for (const listener of this.#listeners) this.#tell(listener, envelope);
  }

  #tell(listener: BusListener, { message, from }: Envelope): void {
    try {
      listener(message, from);
    } catch (error) {
      // A newer server may say it in another way. The rows have what the message was about.
      this.#ports.log.warn(
        { err: error, kind: message.kind, from },
        "a server's message was not read",
      );
    }
  }

  #receivePart(
    { of, index, count, text }: Extract<BusMessage, { kind: "part" }>,
    from: string,
  ): void {
    const key = `${from} ${of}`;
    const parts = this.#incomplete.get(key) ?? [];
    parts[index] = Buffer.from(text, "base64").toString("utf16le");
    this.#incomplete.set(key, parts);
    if (parts.filter((part) => part !== undefined).length === count) {
      this.#incomplete.delete(key);
      this.#receive(parts.join(""));
    } else if (this.#incomplete.size > MOST_INCOMPLETE) {
      const [oldest = ""] = this.#incomplete.keys();
      this.#incomplete.delete(oldest);
    }
  }
}
