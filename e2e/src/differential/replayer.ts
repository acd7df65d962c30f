import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { History } from "@engine/contract";
import type { ReplaySeen } from "./evidence.ts";

const MAIN = fileURLToPath(new URL("./replay-main.ts", import.meta.url));
/** A replay waits for nothing. */
const LIMIT_MS = 15_000;

/** Replays logs in a process of its own, one at a time; a new one when that has died of it. */
export class Replayer implements AsyncDisposable {
  readonly #values: string;
  #child: ChildProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param values The folder in which the engine keeps large values. */
  constructor(values: string) {
    this.#values = values;
    this.#child = this.#start();
  }

  replay(history: History): Promise<ReplaySeen> {
    const seen = this.#last.then(() => this.#replay(history));
    this.#last = seen;
    return seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  #replay(history: History): Promise<ReplaySeen> {
    this.#child ??= this.#start();
    const child = this.#child;
    return new Promise((resolve) => {
      let text = "";
      const onText = (chunk: Buffer) => {
        text = (text + chunk.toString()).slice(-2_000);
      };
      const onExit = () => {
        this.#child = undefined;
        settle({ result: "crashed", reason: `the replay ended its process: ${text}`, told: {} });
      };
      const onSeen = (seen: ReplaySeen) => settle(seen);
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
      }, LIMIT_MS);
      const settle = (seen: ReplaySeen) => {
        clearTimeout(timer);
        child.off("exit", onExit).off("message", onSeen);
        child.stderr?.off("data", onText);
        resolve(seen);
      };
      child.once("exit", onExit).once("message", onSeen);
      child.stderr?.on("data", onText);
      child.send(history);
    });
  }

  #start(): ChildProcess {
    return fork(MAIN, [this.#values], {
      execArgv: ["--conditions=@engine/source"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
  }
}
