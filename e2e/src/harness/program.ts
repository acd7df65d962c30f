import { type ChildProcess, spawn } from "node:child_process";

const START_LIMIT_MS = 60_000;
const RUN_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const OUTPUT_SHOWN = 8_000;

export interface ProgramOptions {
  readonly cwd: string;
  /** All of it: nothing of this process's own is added. */
  readonly env: NodeJS.ProcessEnv;
  /** Text for standard input, which then ends; without it the input stays open as long as ours. */
  readonly stdin?: string;
  /** Characters of each stream that are kept, the newest; all of them unless given. */
  readonly keep?: number;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const alive = new Set<Program>();
// A run that is interrupted must not leave servers behind.
process.on("exit", () => {
  for (const program of alive) program.signal("SIGKILL");
});

/** A process of Node with everything that it starts: what tests and measurements run an engine in. */
export class Program implements AsyncDisposable {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #watchers = new Set<() => void>();
  #stdout = "";
  #stderr = "";
  #ended = false;

  /** @param args For Node: the program's file, with options of Node's before it. */
  constructor(name: string, args: readonly string[], options: ProgramOptions) {
    const { cwd, env, stdin, keep = Number.POSITIVE_INFINITY } = options;
    this.#name = name;
    // A group of its own, so that a signal reaches everything the program may have started.
    this.#child = spawn(process.execPath, args, {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout = newest(this.#stdout + text, keep);
      this.#tell();
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = newest(this.#stderr + text, keep);
      this.#tell();
    });
    alive.add(this);
    this.#exited = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#ended = true;
        alive.delete(this);
        this.#tell();
        resolve();
      });
    });
    // A program that ends without reading its input is no error of ours.
    this.#child.stdin?.on("error", () => {});
    if (stdin !== undefined) this.#child.stdin?.end(stdin);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Both streams together. */
  get output(): string {
    return this.#stdout + this.#stderr;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Settles when it has ended, whoever ended it. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** Null while it runs, and after a signal. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Name, state and last lines, for the message of a failed test; empty once it was killed. */
  report(): string {
    const { exitCode, signalCode } = this.#child;
    if (signalCode) return "";
    const state = this.#ended ? `ended with ${exitCode}` : `runs as ${this.pid}`;
    return `${this.#name} ${state}\n${this.output.split("\n").slice(-12).join("\n")}\n`;
  }

  /** Resolves with the first match in the output; rejects when the process ends or is too slow. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      const left = deadline - performance.now();
      if (this.#ended)
        throw this.#failure(`ended with ${this.exitCode} before it printed ${pattern}`);
      if (left <= 0) throw this.#failure(`was too slow to print ${pattern}`);
      await this.#changed(left);
    }
  }

  /** Waits for the end of a command that ends by itself. */
  async result(limitMs: number = RUN_LIMIT_MS): Promise<ProgramResult> {
    let slow = false;
    const timer = setTimeout(() => {
      slow = true;
      this.signal("SIGKILL");
    }, limitMs);
    await this.#exited;
    clearTimeout(timer);
    if (slow) throw this.#failure(`did not end in ${limitMs} ms`);
    return { code: this.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** The same of a command that has to succeed. */
  async succeeded(limitMs?: number): Promise<void> {
    const { code } = await this.result(limitMs);
    if (code !== 0) throw this.#failure(`ended with ${code}`);
  }

  /** Asks it to end and waits until it has; ends it when it does not. */
  async stop(): Promise<void> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), STOP_LIMIT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Ends it in the middle of whatever it does, without any chance to clean up. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exited;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#ended || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Once it has printed more, or has ended, or the time is up. */
  async #changed(limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, limitMs);
    this.#watchers.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#watchers.delete(resolve);
  }

  #failure(what: string): Error {
    return new Error(`${this.#name} ${what}; its output:\n${this.output.slice(-OUTPUT_SHOWN)}`);
  }
}

function newest(text: string, keep: number): string {
  return text.length > keep ? text.slice(-keep) : text;
}
