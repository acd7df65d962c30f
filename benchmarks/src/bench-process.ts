import { type ChildProcess, spawn } from "node:child_process";

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;
const OUTPUT_KEPT = 64_000;
const OUTPUT_SHOWN = 8_000;

const alive = new Set<BenchProcess>();
// A run that is interrupted must not leave servers behind.
process.on("exit", () => {
  for (const child of alive) child.signal("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

export interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
}

/** A program of Node that keeps running until it is stopped. Its input stays open as long as ours. */
export class BenchProcess {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #exited: Promise<void>;
  readonly #watchers = new Set<() => void>();
  #output = "";
  #ended = false;

  constructor(name: string, program: readonly string[], options: ProcessOptions) {
    this.#name = name;
    // A group of its own: a signal reaches the command and whatever it started.
    this.#child = spawn(process.execPath, [...(options.nodeArgs ?? []), ...program], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    const keep = (text: string) => {
      this.#output = (this.#output + text).slice(-OUTPUT_KEPT);
      for (const watcher of this.#watchers) watcher();
    };
    this.#child.stdout?.setEncoding("utf8").on("data", keep);
    this.#child.stderr?.setEncoding("utf8").on("data", keep);
    alive.add(this);
    this.#exited = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#ended = true;
        alive.delete(this);
        for (const watcher of this.#watchers) watcher();
        resolve();
      });
    });
  }

  /** Resolves with the first match in the output; rejects when the process ends or is too slow. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const match = pattern.exec(this.#output);
      if (match) return match;
      if (this.#ended) throw this.#failure("ended early");
      const left = deadline - performance.now();
      if (left <= 0) throw this.#failure(`printed nothing like ${pattern}`);
      await this.#changed(left);
    }
  }

  /** Waits for the end of a command that ends by itself. */
  async succeeded(): Promise<void> {
    const timer = setTimeout(() => this.signal("SIGKILL"), START_LIMIT_MS);
    await this.#exited;
    clearTimeout(timer);
    if (this.#child.exitCode !== 0) throw this.#failure(`ended with ${this.#child.exitCode}`);
  }

  /** Asks it to stop, and ends it when it does not. */
  async stop(): Promise<void> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), STOP_LIMIT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Ends it in the middle of whatever it does. */
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
    return new Error(`${this.#name} ${what}; its output:\n${this.#output.slice(-OUTPUT_SHOWN)}`);
  }
}
