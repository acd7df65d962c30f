import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const ENGINE = fileURLToPath(new URL("../../../packages/cli/bin/engine.js", import.meta.url));
const START_LIMIT_MS = 30_000;
const RUN_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;

export interface CliOptions {
  /** Working directory; holds no `engine.toml` unless the test writes one. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text for standard input. */
  readonly stdin?: string;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One `engine …` process, as a user would start it. */
export class CliProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #command: string;
  readonly #exited: Promise<void>;
  #stdout = "";
  #stderr = "";
  #ended = false;

  constructor(args: readonly string[], { cwd, env = {}, stdin = "" }: CliOptions) {
    this.#command = `engine ${args.join(" ")}`;
    // A group of its own, so that a kill reaches everything the command may have started.
    this.#child = spawn(process.execPath, [ENGINE, ...args], {
      cwd,
      env: { ...cleanEnvironment(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#ended = true;
        resolve();
      });
    });
    // A command that ends without reading its input is no error of ours.
    this.#child.stdin?.on("error", () => {});
    this.#child.stdin?.end(stdin);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Both streams together. */
  get output(): string {
    return this.#stdout + this.#stderr;
  }

  /** Command, state and last lines, for the message of a failed test; empty once it was killed. */
  report(): string {
    const { exitCode, signalCode } = this.#child;
    if (signalCode) return "";
    const state = this.#ended ? `ended with ${exitCode}` : `runs as ${this.pid}`;
    return `${this.#command} ${state}\n${this.output.split("\n").slice(-12).join("\n")}\n`;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves with the first match in the output; rejects when the process ends or is too slow. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      const left = deadline - performance.now();
      if (this.#ended || left <= 0) {
        const why = this.#ended ? `ended with ${this.#child.exitCode}` : "was too slow";
        throw new Error(`${this.#command} ${why} before it printed ${pattern}:\n${this.output}`);
      }
      await this.#moreOutput(left);
    }
  }

  /** Waits for the end of a command that ends by itself. */
  async result(limitMs: number = RUN_LIMIT_MS): Promise<CliResult> {
    let slow = false;
    const timer = setTimeout(() => {
      slow = true;
      this.signal("SIGKILL");
    }, limitMs);
    await this.#exited;
    clearTimeout(timer);
    if (slow) throw new Error(`${this.#command} did not end in ${limitMs} ms:\n${this.output}`);
    return { code: this.#child.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Ends it without any chance to clean up. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exited;
  }

  /** Asks it to end and waits until it has. */
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #moreOutput(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
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

/** The tester's own ENGINE_ variables must not reach the processes under test. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ENGINE_"));
  return Object.fromEntries(own);
}
