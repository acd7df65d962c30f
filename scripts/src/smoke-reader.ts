import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { missingLine, type PageStep } from "./page-steps.ts";

interface Place {
  /** What `~` is. */
  readonly home: string;
  readonly cwd: string;
}

interface Terminal {
  readonly process: ChildProcess;
  readonly printed: () => string;
  readonly ended: Promise<void>;
}

/** Tells an output that never comes from a machine that is slow. */
const LIMIT_MS = 120_000;

/** Somebody who does what a page says, in a shell that remembers its folder. */
export class Reader {
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #terminals = new Map<string, Terminal>();
  #cwd: string;
  /** Of the last commands. */
  #printed: () => string = () => "";

  constructor({ home, cwd }: Place) {
    this.#home = home;
    this.#cwd = cwd;
    // A free port, so that a server of whoever runs this is left alone.
    const port = String(20_000 + (process.pid % 20_000));
    this.#env = {
      ...machine(),
      PATH: [dirname(process.execPath), ...pathOfUser()].join(delimiter),
      HOME: home,
      // What npm keeps and knows is the machine's, as its proxies are.
      npm_config_cache: join(homedir(), ".npm"),
      npm_config_userconfig: join(homedir(), ".npmrc"),
      npm_config_audit: "false",
      npm_config_fund: "false",
      ENGINE_SERVER__PORT: port,
      ENGINE_SERVER_URL: `http://127.0.0.1:${port}`,
    };
  }

  get cwd(): string {
    return this.#cwd;
  }

  async take(step: PageStep): Promise<void> {
    if (step.kind === "file") {
      const path = join(this.#cwd, step.path);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, step.text);
      return;
    }
    if (step.kind === "output") return this.#untilPrinted(step.text);
    console.log(step.text.trimEnd());
    if (step.terminal === undefined) return this.#run(step.text);
    await this.#stop(step.terminal);
    const terminal = this.#start(`exec ${step.text}`);
    this.#terminals.set(step.terminal, terminal);
    this.#printed = terminal.printed;
  }

  async end(): Promise<void> {
    for (const name of this.#terminals.keys()) await this.#stop(name);
  }

  async #run(text: string): Promise<void> {
    const folder = join(this.#home, ".cwd");
    const shell = this.#start(`${text}\npwd > '${folder}'`);
    await shell.ended;
    this.#printed = shell.printed;
    if (shell.process.exitCode !== 0) {
      throw new Error(`failed with code ${shell.process.exitCode}:\n${text}${shell.printed()}`);
    }
    this.#cwd = readFileSync(folder, "utf8").trimEnd();
  }

  #start(text: string): Terminal {
    const child = spawn("bash", ["-euc", text], {
      cwd: this.#cwd,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own: what Ctrl-C reaches.
      detached: true,
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        printed += chunk;
      });
    }
    const ended = new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", () => resolve());
    });
    return { process: child, printed: () => printed, ended };
  }

  async #untilPrinted(expected: string): Promise<void> {
    const until = performance.now() + LIMIT_MS;
    for (;;) {
      const missing = missingLine(expected, this.#printed());
      if (missing === undefined) return;
      if (performance.now() > until || !this.#isGoingOn()) {
        throw new Error(`not printed: ${missing}\n\nprinted was:\n${this.#printed()}`);
      }
      await delay(100);
    }
  }

  /** Whether the last commands can still print something. */
  #isGoingOn(): boolean {
    return [...this.#terminals.values()].some(
      ({ printed, process: { exitCode } }) => printed === this.#printed && exitCode === null,
    );
  }

  /** Ctrl-C. */
  async #stop(name: string): Promise<void> {
    const terminal = this.#terminals.get(name);
    if (!terminal) return;
    const { pid, exitCode } = terminal.process;
    if (pid !== undefined && exitCode === null) process.kill(-pid, "SIGINT");
    await terminal.ended;
    this.#terminals.delete(name);
  }
}

/** Without the commands of this repository, which a user does not have. */
function pathOfUser(): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => !folder.includes("node_modules"));
}

/** The environment without what npm tells a script, and without settings of an engine. */
function machine(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|ENGINE_)/.test(name));
  return Object.fromEntries(own);
}
