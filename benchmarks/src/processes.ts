import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The command as users run it; from sources, like every other part of a checkout. */
const ENGINE = fileURLToPath(new URL("../../packages/cli/bin/engine.js", import.meta.url));
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;
const OUTPUT_KEPT = 8_000;

const alive = new Set<EngineProcess>();
// A run that is interrupted must not leave servers behind.
process.on("exit", () => {
  for (const child of alive) child.signal("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
}

/** One `engine …` command that keeps running until it is stopped. */
export class EngineProcess {
  readonly #child: ChildProcess;
  readonly #command: string;
  readonly #exited: Promise<void>;
  #output = "";
  #ended = false;

  constructor(args: readonly string[], options: ProcessOptions) {
    this.#command = `engine ${args.join(" ")}`;
    // A group of its own: a signal reaches the command and whatever it started.
    this.#child = spawn(process.execPath, [...(options.nodeArgs ?? []), ENGINE, ...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const keep = (text: string) => {
      this.#output = (this.#output + text).slice(-OUTPUT_KEPT);
    };
    this.#child.stdout?.setEncoding("utf8").on("data", keep);
    this.#child.stderr?.setEncoding("utf8").on("data", keep);
    alive.add(this);
    this.#exited = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#ended = true;
        alive.delete(this);
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
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        const done = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#child.stdout?.once("data", done);
        this.#child.stderr?.once("data", done);
        this.#child.once("close", done);
      });
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

  signal(signal: NodeJS.Signals): void {
    if (this.#ended || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  #failure(what: string): Error {
    return new Error(`${this.#command} ${what}; its output:\n${this.#output}`);
  }
}
