/**
 * What replicas tell each other. The rows are the truth; news only say where to look, sooner than the
 * safety tick would. They leave outside of the commits, since a notification in a transaction makes
 * all of them commit one after the other, and together for about 10 ms.
 */
import { randomUUID } from "node:crypto";
import { EngineError } from "@engine/contract";
import type { Client, Notification } from "pg";
import type { RemoteNews } from "../store.ts";
import { announcementText, changedTexts, isTooLong, parseAnnouncement } from "./announcement.ts";
import type { Database, Statement } from "./database.ts";
import { closedStore } from "./database-failure.ts";

const CHANNEL = "engine_news";
const TOGETHER_MS = 10;
const TEST_MS = 1_000;

export type NewsListener = (news: RemoteNews) => void;

export class News {
  readonly #database: Database;
  readonly #warn: (message: string) => void;
  readonly #me = randomUUID();
  readonly #notify: Statement;
  readonly #listeners = new Set<NewsListener>();
  readonly #tests = new Map<string, () => void>();
  readonly #heardBy = new WeakSet<Client>();
  readonly #changed = new Set<string>();
  #messages: string[] = [];
  /** Something could not be said: whoever listens has to look at all. */
  #isIncomplete = false;
  #timer: NodeJS.Timeout | undefined;
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

  /** Executions that this replica has written. */
  changed(execution_ids: readonly string[]): void {
    for (const id of execution_ids) this.#changed.add(id);
    this.#sendSoon();
  }

  announce(message: string): void {
    if (this.#closed) throw closedStore();
    const text = announcementText({ from: this.#me, message });
    if (isTooLong(text)) {
      const size = Buffer.byteLength(text);
      throw new EngineError("payload_too_large", `a message of ${size} bytes; news take 7900`);
    }
    this.#messages.push(text);
    this.#sendSoon();
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
    // Whatever was said before was missed.
    this.#tell({ execution_ids: "all", messages: [] });
  }

  /** A pooler between here and the database may swallow every notification without a word. */
  async test(): Promise<boolean> {
    const test = randomUUID();
    const heard = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), TEST_MS);
      this.#tests.set(test, () => {
        clearTimeout(timer);
        resolve(true);
      });
      this.#send([announcementText({ from: this.#me, test })]).catch(() => undefined);
    });
    this.#tests.delete(test);
    if (!heard) {
      this.#warn(
        "the database's notifications do not arrive (LISTEN does not work through a pooler in transaction mode); changes of other servers are only seen at the safety tick, every 15 s. Connect to the database directly",
      );
    }
    return heard;
  }

  notified({ channel, payload }: Notification): void {
    if (channel !== CHANNEL) return;
    const announcement = parseAnnouncement(payload);
    if (!announcement) return;
    const { from, ids, all, message, test } = announcement;
    if (test !== undefined) this.#tests.get(test)?.();
    if (from === this.#me || test !== undefined) return;
    this.#tell({
      execution_ids: all ? "all" : (ids ?? []),
      messages: message === undefined ? [] : [message],
    });
  }

  /** Says what is left to be said. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    await this.#flush();
  }

  #tell(news: RemoteNews): void {
    for (const listener of this.#listeners) listener(news);
  }

  #sendSoon(): void {
    if (this.#timer || this.#sending || this.#closed) return;
    const waited = performance.now() - this.#lastSent;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#sending = this.#flush().finally(() => {
          this.#sending = undefined;
          if (this.#changed.size > 0 || this.#messages.length > 0) this.#sendSoon();
        });
      },
      Math.max(0, TOGETHER_MS - waited),
    );
  }

  async #flush(): Promise<void> {
    const changed = this.#isIncomplete
      ? [announcementText({ from: this.#me, all: true })]
      : changedTexts(this.#me, this.#changed);
    const texts = [...changed, ...this.#messages];
    this.#changed.clear();
    this.#messages = [];
    if (texts.length === 0) return;
    this.#lastSent = performance.now();
    try {
      await this.#send(texts);
      this.#isIncomplete = false;
    } catch {
      // News may be lost: the rows are the truth, and the next ones say that some were.
      this.#isIncomplete = true;
    }
  }

  async #send(texts: readonly string[]): Promise<void> {
    await this.#database.write(this.#notify, texts);
  }
}
