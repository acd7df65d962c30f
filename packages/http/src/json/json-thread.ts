import { Worker } from "node:worker_threads";
import { EngineError } from "@engine/contract";
import type { JsonJob, JsonReply } from "./serve-json.ts";

export interface JsonThreadOptions<Job> {
  /** What the thread runs; it calls `serveJson`. */
  readonly program: URL;
  /** Whether values are made for a job, which lie there beside those of the next one. */
  readonly makesValues?: (job: Job) => boolean;
}

/** What the largest body can become is a part of it: V8 takes the process along past the limit. */
const MEMORY_MB = 2048;
/** Then its memory goes back to the system. */
const IDLE_MS = 5_000;
/** Values of a text this long leave so much behind that a thread ends with them. */
const HEAVY_BYTES = 2 * 1024 * 1024;

interface Waiting<Job, Answer> {
  readonly job: Job;
  /** Values of a long text are made for it. */
  readonly isHeavy: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A thread that looks through large JSON, one text after the other: what takes a second there stops
 * nobody, and what takes half a gigabyte is taken once. The bytes go there and come back without being
 * copied. It is started when there is something to do, and ends when there has been nothing for a while.
 */
export class JsonThread<Job extends JsonJob, Answer extends JsonJob> {
  readonly #program: URL;
  readonly #makesValues: (job: Job) => boolean;
  readonly #waiting: Waiting<Job, Answer>[] = [];
  #worker: Worker | undefined;
  #current: Waiting<Job, Answer> | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The last thread has not given its memory back: the next one would have as much beside it. */
  #isEnding = false;

  constructor({ program, makesValues = () => false }: JsonThreadOptions<Job>) {
    this.#program = program;
    this.#makesValues = makesValues;
  }

  /**
   * Rejects with what the job was refused for; the bytes are gone then.
   *
   * @param job Its bytes are given away.
   */
  run(job: Job): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const isHeavy = job.bytes.length > HEAVY_BYTES && this.#makesValues(job);
      this.#waiting.push({ job, isHeavy, resolve, reject });
      this.#next();
    });
  }

  /** Whoever waits for something is sent away. */
  async close(): Promise<void> {
    const gone = new EngineError("unavailable", "the server is stopping; try again");
    for (const { reject } of this.#waiting.splice(0)) reject(gone);
    this.#current?.reject(gone);
    this.#current = undefined;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    if (!worker) return;
    this.#isEnding = true;
    await worker.terminate();
    this.#isEnding = false;
    this.#next();
  }

  #next(): void {
    if (this.#current || this.#isEnding) return;
    clearTimeout(this.#idle);
    this.#current = this.#waiting.shift();
    if (!this.#current) {
      this.#idle = setTimeout(() => void this.#drop(), IDLE_MS).unref();
      return;
    }
    this.#worker ??= this.#start();
    const { job } = this.#current;
    this.#worker.postMessage(job, [job.bytes.buffer]);
  }

  #start(): Worker {
    const worker = new Worker(this.#program, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      ...(this.#program.pathname.endsWith(".ts") && { execArgv: ["--conditions=@engine/source"] }),
    });
    worker.unref();
    worker.on("message", (reply: JsonReply<Answer>) => {
      if (worker === this.#worker) this.#settle(reply);
    });
    worker.on("error", (error) => {
      if (worker === this.#worker) this.#died(error.stack ?? error.message);
    });
    worker.on("exit", (code) => {
      if (worker === this.#worker) this.#died(`the thread for large JSON ended with ${code}`);
    });
    return worker;
  }

  #died(failed: string): void {
    this.#worker = undefined;
    this.#settle({ failed });
  }

  #settle(reply: JsonReply<Answer>): void {
    const waiting = this.#current;
    this.#current = undefined;
    if (waiting?.isHeavy) void this.#drop();
    if (waiting && "answer" in reply) waiting.resolve(reply.answer);
    else if (waiting && "refused" in reply)
      waiting.reject(EngineError.from({ error: reply.refused }));
    else if (waiting && "failed" in reply) waiting.reject(new Error(reply.failed));
    this.#next();
  }
}
