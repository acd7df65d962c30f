/**
 * The one connection of a replica that holds on to something between statements: what it listens to,
 * and the locks of what it leads. A connection that was lost comes back by itself, without those locks;
 * what other servers said meanwhile was missed.
 */
import { Client, type Notification } from "pg";
import { StatementFailure, unavailable } from "../database-failure.ts";
import type { PostgresTarget } from "../postgres-url.ts";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

export interface SessionListener {
  /** After each connecting, before any notification. */
  connected(client: Client): Promise<void>;
  notified(message: Notification): void;
  lost(): void;
}

export class SessionConnection {
  readonly #target: PostgresTarget;
  readonly #listener: SessionListener;
  #connecting: Promise<Client> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;

  constructor(target: PostgresTarget, listener: SessionListener) {
    this.#target = target;
    this.#listener = listener;
  }

  /** @throws EngineError `unavailable`; it goes on trying nevertheless. */
  async client(): Promise<Client> {
    this.#connecting ??= this.#connect();
    try {
      return await this.#connecting;
    } catch (error) {
      throw unavailable(new StatementFailure(error, "away"));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const client = await this.#connecting?.catch(() => undefined);
    await client?.end();
  }

  async #connect(): Promise<Client> {
    const client = new Client({
      connectionString: this.#target.url,
      application_name: "engine listener",
      connectionTimeoutMillis: 5_000,
      query_timeout: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    let isLost = false;
    const lose = () => {
      if (isLost) return;
      isLost = true;
      this.#listener.lost();
      this.#connectLater();
    };
    client.on("error", lose);
    client.on("end", lose);
    client.on("notification", (message) => this.#listener.notified(message));
    try {
      await client.connect();
      await this.#listener.connected(client);
      this.#retryMs = FIRST_RETRY_MS;
      return client;
    } catch (error) {
      lose();
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  #connectLater(): void {
    this.#connecting = undefined;
    if (this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#connecting ??= this.#connect();
      // It has told `lost`, which comes here again.
      this.#connecting.catch(() => undefined);
    }, this.#retryMs);
    // What it waits for is no reason for a process to stay.
    this.#retry.unref();
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
  }
}
