import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { FromRunner, ToRunner } from "./messages.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import { CULPRIT, ENTERED, MARKS, type RunnerSetup, type ThreadData } from "./thread-data.ts";
import { turnList } from "./turn-list.ts";

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(`../program/thread-main${extname(import.meta.url)}`, import.meta.url);

export interface ThreadRunnerOptions extends RunnerSetup {
  readonly env: NodeJS.ProcessEnv;
  /** Whether it is for more than one execution. */
  readonly isShared: boolean;
}

/**
 * Runs bodies on a thread, as a rule many at a time (RUN-1). Its memory is limited as well as V8
 * can: code that fills it faster than V8 can interrupt takes the whole worker along. Workflows that
 * must not harm others need a process.
 */
export class ThreadRunner implements Runner {
  readonly isShared: boolean;
  load = 0;
  isReady = false;
  readonly loaded: Set<string> = new Set();
  readonly #worker: Worker;
  readonly #send: (message: ToRunner) => void;
  readonly #marks = new Int32Array(new SharedArrayBuffer(MARKS * Int32Array.BYTES_PER_ELEMENT));
  #closing = false;

  constructor({ folder, memoryMb, env, isShared }: ThreadRunnerOptions, events: RunnerEvents) {
    this.isShared = isShared;
    const data: ThreadData = { folder, memoryMb, marks: this.#marks };
    this.#worker = new Worker(program, {
      env,
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      ...(fromSources && { execArgv: ["--conditions=@engine/source"] }),
    });
    this.#send = turnList((messages) => this.#worker.postMessage(messages));
    this.#worker.on("message", (messages: FromRunner[]) => events.said(this, messages));
    let why: string | undefined;
    this.#worker.on("error", (error) => {
      why = reasonOf(error, memoryMb);
    });
    this.#worker.on("exit", (code) => {
      if (!this.#closing) events.died(this, why ?? `it exited with code ${code}`);
    });
  }

  get entered(): number {
    return Atomics.load(this.#marks, ENTERED);
  }

  get culprit(): number {
    return Atomics.load(this.#marks, CULPRIT);
  }

  post(messages: readonly ToRunner[]): void {
    for (const message of messages) this.#send(message);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#worker.terminate();
  }
}

function reasonOf(error: unknown, memoryMb: number): string {
  if ((error as { code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return `it needed more memory than thread_memory_mb, ${memoryMb}`;
  }
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
