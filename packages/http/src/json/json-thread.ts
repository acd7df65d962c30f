import { Worker } from "node:worker_threads";
import { EngineError } from "@engine/contract";
import type { JsonJob, JsonReply } from "./serve-json.ts";

export interface JsonThreadOptions<Job> {
  /** What the thread runs; it calls `serveJson`. */
  readonly program: URL;
  /** Whether the program makes values of a job's text, whose memory the thread keeps. */
  readonly makesValues?: (job: Job) => boolean;
}

/** Enough for the values of the largest body: past the limit V8 ends the whole process. */
const MEMORY_MB = 2048;
/** A thread without work ends after this, so that its memory goes back to the system. */
const IDLE_MS = 5_000;
/** After making values of a text this long, a thread ends to give its memory back. */
const HEAVY_BYTES = 2 * 1024 * 1024;

interface Waiting<Job, Answer> {
  readonly job: Job;
  /** Whether the thread ends after this job. */
  readonly isHeavy: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A thread that works on large JSON, one text after the other: a text that takes a second does not
 * stop the loop, and the half gigabyte that its values may take is there only once. The bytes go there
 * and come back without being copied. The thread starts with the first job and ends when it is idle.
 */
export class JsonThread<Job extends JsonJob, Answer extends JsonJob> {
  readonly #program: URL;
  readonly #makesValues: (job: Job) => boolean;
  readonly #waiting: Waiting<Job, Answer>[] = [];
  #worker: Worker | undefined;
  #current: Waiting<Job, Answer> | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** True until the last thread has given its memory back: the next one would double it. */
  #isEnding = false;

  constructor({ program, makesValues = () => false }: JsonThreadOptions<Job>) {
    this.#program = program;
    this.#makesValues = makesValues;
  }

  /**
   * Rejects with the refusal of the program; the bytes are lost then.
   *
   * @param job Its bytes are given away and come back with the answer.
   */
  run(job: Job): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const isHeavy = job.bytes.length > HEAVY_BYTES && this.#makesValues(job);
      this.#waiting.push({ job, isHeavy, resolve, reject });
      this.#next();
    });
  }

  /** Rejects all jobs that have no answer yet. */
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
