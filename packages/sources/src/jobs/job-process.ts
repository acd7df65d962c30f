import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { JobReply } from "./serve-jobs.ts";

export interface JobProcessOptions {
  /** What the process runs; it calls `serveJobs`. */
  readonly program: URL;
  /** The limit of its heap; past it the process ends. */
  readonly memoryMb: number;
  /** How long one job may take, from when it is sent. */
  readonly limitMs: number;
  /** How long the process stays without a job. */
  readonly idleMs: number;
}

export type JobOutcome<Answer> =
  | { readonly kind: "done"; readonly answer: Answer }
  /** The job needed more than it is given, and was ended. */
  | { readonly kind: "spent"; readonly of: "time" | "memory" };

interface Waiting<Job, Answer> {
  readonly job: Job;
  readonly resolve: (outcome: JobOutcome<Answer>) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A child process that computes one job after another, so that none of them stops the loop. A thread
 * would not do: V8 aborts the whole process when one call fills the heap of a thread, as parsing the
 * JSON of a syntax tree can. It is started when there is a job, ends when there has been none for a
 * while, and is replaced when it dies. Jobs wait in lines that take turns: a line
 * with many jobs delays only itself.
 */
export class JobProcess<Job, Answer> {
  readonly #options: JobProcessOptions;
  readonly #lines = new Map<string, Waiting<Job, Answer>[]>();
  #child: ChildProcess | undefined;
  #current: Waiting<Job, Answer> | undefined;
  #limit: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: JobProcessOptions) {
    this.#options = options;
  }

  get isAlive(): boolean {
    return this.#child !== undefined;
  }

  /** How many jobs of a line wait. */
  waiting(line: string): number {
    return this.#lines.get(line)?.length ?? 0;
  }

  /** Rejects when the job itself throws, or the process dies of anything but what it may use. */
  run(job: Job, line = ""): Promise<JobOutcome<Answer>> {
    return new Promise((resolve, reject) => {
      const waiting = this.#lines.get(line) ?? [];
      waiting.push({ job, resolve, reject });
      this.#lines.set(line, waiting);
      this.#next();
    });
  }

  #next(): void {
    if (this.#current) return;
    const [turn] = this.#lines;
    if (!turn) {
      this.#rest();
      return;
    }
    const [line, waiting] = turn;
    this.#current = waiting.shift();
    this.#lines.delete(line);
    if (waiting.length > 0) this.#lines.set(line, waiting);
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    this.#child.send({ job: this.#current?.job }, () => {
      // A process that has died is noticed by its `exit`.
    });
    this.#limit = setTimeout(() => this.#spent("time"), this.#options.limitMs);
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#drop(), this.#options.idleMs).unref();
  }

  #start(): ChildProcess {
    const { program, memoryMb } = this.#options;
    const child = fork(fileURLToPath(program), [], {
      execArgv: [
        ...(program.pathname.endsWith(".ts") ? ["--conditions=@engine/source"] : []),
        `--max-old-space-size=${memoryMb}`,
      ],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    // A job under way keeps the server alive by its timer; an idle process does not.
    child.unref();
    child.channel?.unref();
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-MAX_SAID);
    });
    (child.stderr as { unref?(): void } | null)?.unref?.();
    child.on("message", (reply: JobReply<Answer>) => {
      if (child !== this.#child) return;
      if ("error" in reply) this.#settle((job) => job.reject(reply.error));
      else this.#settle((job) => job.resolve({ kind: "done", answer: reply.answer }));
    });
    const died = (why: string) => {
      if (child !== this.#child) return;
      this.#child = undefined;
      this.#settle((job) => job.reject(new Error(`${program.pathname} ${why} ${said}`)));
    };
    child.on("error", (error) => died(error.message));
    child.on("exit", (code, signal) => {
      if (child === this.#child && signal === "SIGABRT") this.#spent("memory");
      else died(`ended with ${signal ?? code}`);
    });
    return child;
  }

  #spent(of: "time" | "memory"): void {
    this.#drop();
    this.#settle((job) => job.resolve({ kind: "spent", of }));
  }

  #settle(settle: (job: Waiting<Job, Answer>) => void): void {
    clearTimeout(this.#limit);
    const job = this.#current;
    this.#current = undefined;
    if (job) settle(job);
    this.#next();
  }

  #drop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }
}

/** How many characters of a dying process's output its error repeats. */
const MAX_SAID = 2_000;
