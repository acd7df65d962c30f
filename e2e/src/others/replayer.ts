import { Worker } from "node:worker_threads";
import type { History } from "@engine/contract";

const THREAD = new URL("./replay-thread.ts", import.meta.url);
const LIMIT_MS = 20_000;

/** Replays histories on a thread of its own, which a history may end without harm to the others. */
export class Replayer implements AsyncDisposable {
  readonly #values: string;
  #thread: Worker | undefined;

  /** @param values Folder of values that are kept outside of the log. */
  constructor(values: string) {
    this.#values = values;
  }

  /** What is wrong with a history: the code as it is would not do what it says. One at a time. */
  async violations(history: History): Promise<readonly string[]> {
    this.#thread ??= new Worker(THREAD, {
      workerData: this.#values,
      execArgv: ["--conditions=@engine/source", "--no-warnings"],
    });
    const thread = this.#thread;
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const fail = (error: Error) => resolve([`its replay threw ${error.stack}`]);
    const timer = setTimeout(() => resolve([`its replay takes ${LIMIT_MS} ms`]), LIMIT_MS);
    thread.once("message", resolve).once("error", fail);
    thread.postMessage(history);
    const wrong = await promise;
    clearTimeout(timer);
    thread.off("message", resolve).off("error", fail);
    // What it was doing may be the wrong of the next one.
    if (wrong.length > 0) await this[Symbol.asyncDispose]();
    return wrong;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }
}
