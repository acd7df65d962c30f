/**
 * Reads lists on a thread. What a list answers is short, but its total, or a filter that matches
 * little, may go through every row that is kept: the event loop does not wait for that. WAL lets the
 * thread read while the store writes, and shows it every commit that took place before it began.
 */
import { Worker } from "node:worker_threads";
import { EngineError } from "@engine/contract";
import Database from "better-sqlite3";
import type { RenderedSql } from "../operations/sql.ts";
import { isDatabaseFailure, unavailable } from "./connection.ts";
import type { DatabaseFile } from "./database-file.ts";
import type { ListReader, ListRows } from "./lists.ts";

export interface ListThreadData {
  readonly path: string;
  readonly busyTimeoutMs: number;
}

export interface ListRequest {
  readonly id: number;
  readonly queries: readonly RenderedSql[];
}

export type ListAnswer =
  | { readonly id: number; readonly rows: ListRows }
  | { readonly id: number; readonly failure: { readonly message: string; readonly code: string } };

/** Lists that wait for the thread; each holds its request, and would hold its answer. */
const MOST_WAITING = 100;

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(
  fromSources ? "./list-thread-main.ts" : "./list-thread-main.js",
  import.meta.url,
);

export class ListThread implements ListReader {
  readonly #data: ListThreadData;
  readonly #file: DatabaseFile;
  readonly #waiting = new Map<number, PromiseWithResolvers<ListRows>>();
  #worker: Worker | undefined;
  #asked = 0;
  #isClosed = false;

  /** @param file Looked at before each list: the thread opens it by its name. */
  constructor(data: ListThreadData, file: DatabaseFile) {
    this.#data = data;
    this.#file = file;
  }

  async read(queries: readonly RenderedSql[]): Promise<ListRows> {
    if (this.#isClosed) throw closed();
    if (this.#waiting.size >= MOST_WAITING) {
      const message = `${MOST_WAITING} lists are being read at this moment; try again`;
      throw new EngineError("unavailable", message);
    }
    this.#file.assertInPlace();
    const id = ++this.#asked;
    const answer = Promise.withResolvers<ListRows>();
    this.#waiting.set(id, answer);
    this.#worker ??= this.#start();
    // A list that is waited for keeps the process; the thread by itself does not.
    this.#worker.ref();
    this.#worker.postMessage({ id, queries } satisfies ListRequest);
    return answer.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refuseAll(closed());
    await this.#worker?.terminate();
  }

  /** At the first list: most processes that open a store read none. */
  #start(): Worker {
    const execArgv = fromSources ? ["--conditions=@engine/source"] : [];
    const worker = new Worker(program, { workerData: this.#data, env: {}, execArgv });
    worker.on("message", (answer: ListAnswer) => this.#settle(worker, answer));
    let cause: Error | undefined;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
      // The next list starts another one. A defect is told as what it is, so that it is logged.
      this.#refuseAll(cause && !isEndOfThread(cause) ? cause : unavailable(cause));
    });
    return worker;
  }

  #settle(worker: Worker, answer: ListAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) worker.unref();
    if ("rows" in answer) waiting?.resolve(answer.rows);
    else {
      const { message, code } = answer.failure;
      const error = new Database.SqliteError(message, code);
      waiting?.reject(isDatabaseFailure(error) ? unavailable(error) : error);
    }
  }

  #refuseAll(reason: Error): void {
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }
}

/** The database failed it, or it had no memory left. */
function isEndOfThread(cause: Error): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return isDatabaseFailure(cause) || code === "ERR_WORKER_OUT_OF_MEMORY";
}

function closed(): EngineError {
  return new EngineError("unavailable", "the store is closed");
}
