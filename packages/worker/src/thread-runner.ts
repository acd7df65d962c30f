import { Worker } from "node:worker_threads";
import type { FromRunner, ToRunner } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import type { Runner, RunnerEvents } from "./runner.ts";

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(fromSources ? "./thread-main.ts" : "./thread-main.js", import.meta.url);

/** Runs bodies on a thread of its own, many at a time (RUN-1). */
export class ThreadRunner implements Runner {
  load = 0;
  readonly loaded: Set<string> = new Set();
  readonly #worker: Worker;
  readonly #outbox: Outbox<ToRunner>;
  #closing = false;

  /** @param folder Address of the folder of the bundles, with a slash at its end. */
  constructor(folder: string, events: RunnerEvents) {
    this.#worker = new Worker(program, {
      env: withoutEngine(process.env),
      workerData: { folder },
      ...(fromSources && { execArgv: ["--conditions=@engine/source"] }),
    });
    this.#outbox = new Outbox((messages) => this.#worker.postMessage(messages));
    this.#worker.on("message", (messages: FromRunner[]) => {
      for (const message of messages) events.message(this, message);
    });
    let error: unknown;
    this.#worker.on("error", (thrown) => {
      error = thrown;
    });
    this.#worker.on("exit", (code) => {
      if (!this.#closing) events.died(this, error ? textOf(error) : `it exited with code ${code}`);
    });
  }

  post(messages: readonly ToRunner[]): void {
    for (const message of messages) this.#outbox.add(message);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#worker.terminate();
  }
}

/** AUTH-55: credentials and configuration of the engine stay on the main thread. */
function withoutEngine(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("ENGINE_")));
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
