/**
 * What replicas tell each other. The rows are the truth; news only say where to look, sooner than the
 * safety tick would. They leave outside of the commits, since a notification in a transaction makes
 * all of them commit one after the other, and together for about 10 ms.
 */
import { randomUUID } from "node:crypto";
import { EngineError } from "@engine/contract";
import type { Client, Notification } from "pg";
import type { Database, Statement } from "../database.ts";
import { closedStore } from "../database-failure.ts";
import { announcementText, isTooLong, parseAnnouncement } from "./announcement.ts";

const CHANNEL = "engine_news";
const TOGETHER_MS = 10;
const TEST_MS = 1_000;

/** Undefined: some were missed. */
export type NewsListener = (message: string | undefined) => void;

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
}

export class News {
  readonly #database: Database;
  readonly #warn: (message: string) => void;
  readonly #me = randomUUID();
  readonly #notify: Statement;
  readonly #listeners = new Set<NewsListener>();
  readonly #tests = new Map<string, () => void>();
  readonly #heardBy = new WeakSet<Client>();
  #waiting: Waiting[] = [];
  /** Something could not be said: the other servers have to look at all rows. */
  #isIncomplete = false;
  #cancel: (() => void) | undefined;
  #lastSent = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(database: Database, warn: (message: string) => void) {
    this.#database = database;
    this.#warn = warn;
    this.#notify = database.prepare(
      // Nothing of it is worth a wait for the disk.
      `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', text)
       FROM unnest($1::text[]) AS text`,
    );
  }

  /** Resolves once it is said, or cannot be. */
  async announce(message: string): Promise<void> {
    if (this.#closed) throw closedStore();
    const text = announcementText({ kind: "message", from: this.#me, text: message });
    if (isTooLong(text)) {
      const size = Buffer.byteLength(message);
      throw new EngineError("payload_too_large", `a message of ${size} bytes; news take 7000`);
    }
    const said = new Promise<void>((resolve) => this.#waiting.push({ text, resolve }));
    this.#sendSoon();
    return said;
  }

  add(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get isWanted(): boolean {
    return this.#listeners.size > 0;
  }

  async listen(client: Client): Promise<void> {
    if (this.#heardBy.has(client)) return;
    this.#heardBy.add(client);
    await client.query(`LISTEN ${CHANNEL}`);
  }

  /** Tells listeners that news may have come while this server did not listen. */
  missed(): void {
    this.#tell(undefined);
  }

  /** Listens for the first time, and finds out whether that works. */
  async begin(client: Client): Promise<void> {
    await this.listen(client);
    if (!(await this.#hearsItself())) this.warnUnheard();
  }

  warnUnheard(): void {
    this.#warn(
      "the database's notifications do not arrive (LISTEN does not work through a pooler in transaction mode); changes of other servers are only seen at the safety tick, every 15 s. Connect to the database directly",
    );
  }

  /** A pooler between here and the database may swallow every notification without a word. */
  async #hearsItself(): Promise<boolean> {
    const text = randomUUID();
    const heard = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), TEST_MS);
      this.#tests.set(text, () => {
        clearTimeout(timer);
        resolve(true);
      });
      const test = announcementText({ kind: "test", from: this.#me, text });
      this.#send([test]).catch(() => undefined);
    });
    this.#tests.delete(text);
    return heard;
  }

  notified({ channel, payload }: Notification): void {
    if (channel !== CHANNEL) return;
    const announcement = parseAnnouncement(payload);
    if (announcement?.kind === "test") this.#tests.get(announcement.text)?.();
    else if (announcement && announcement.from !== this.#me) {
      this.#tell(announcement.kind === "message" ? announcement.text : undefined);
    }
  }

  /** Says what is left to be said. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#sending;
    await this.#flush();
  }

  #tell(message: string | undefined): void {
    for (const listener of this.#listeners) listener(message);
  }

  /** At once, with what else this turn of the event loop says, unless the last ones have just left. */
  #sendSoon(): void {
    if (this.#cancel || this.#sending || this.#closed) return;
    const wait = TOGETHER_MS - (performance.now() - this.#lastSent);
    const send = () => {
      this.#cancel = undefined;
      this.#sending = this.#flush().finally(() => {
        this.#sending = undefined;
        if (this.#waiting.length > 0) this.#sendSoon();
      });
    };
    if (wait > 0) {
      const timer = setTimeout(send, wait);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const turn = setImmediate(send);
      this.#cancel = () => clearImmediate(turn);
    }
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#lastSent = performance.now();
    const texts = waiting.map(({ text }) => text);
    if (this.#isIncomplete) texts.unshift(announcementText({ kind: "missed", from: this.#me }));
    try {
      await this.#send(texts);
      this.#isIncomplete = false;
    } catch {
      // News may be lost: the rows are the truth, and the next ones say that some were.
      this.#isIncomplete = true;
    }
    for (const { resolve } of waiting) resolve();
  }

  async #send(texts: readonly string[]): Promise<void> {
    await this.#database.write(this.#notify, texts);
  }
}
