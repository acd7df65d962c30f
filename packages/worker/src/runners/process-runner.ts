import { type ChildProcess, fork } from "node:child_process";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { World } from "../world.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { readLines } from "./output-lines.ts";
import { endGroup } from "./process-group.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import type { RunnerSetup } from "./thread-data.ts";
import { turnList } from "./turn-list.ts";

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(`../program/process-main${extname(import.meta.url)}`, import.meta.url);

/** From the exit of a child to the end of what it has printed. */
const LAST_WORDS_MS = 500;

export interface ProcessRunnerOptions extends RunnerSetup, Pick<World, "setTimer" | "log"> {
  readonly env: NodeJS.ProcessEnv;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
}

/** Runs one execution in a child process of its own, which leads a process group (RUN-1). */
export class ProcessRunner implements Runner {
  readonly isShared = false;
  load = 0;
  isReady = false;
  readonly loaded: Set<string> = new Set();
  /** The copy it runs, the only one. */
  entered = 0;
  readonly #options: ProcessRunnerOptions;
  readonly #child: ChildProcess;
  readonly #send: (message: ToRunner) => void;
  readonly #exited: Promise<void>;
  /** Of the execution it runs. */
  #execution_id: string | undefined;
  #isOutOfMemory = false;
  #closing: Promise<void> | undefined;

  constructor(options: ProcessRunnerOptions, events: RunnerEvents) {
    const { folder, memoryMb, env } = options;
    this.#options = options;
    this.#child = fork(fileURLToPath(program), [folder, `${memoryMb}`], {
      detached: true,
      env,
      execArgv: [
        ...(fromSources ? ["--conditions=@engine/source"] : []),
        `--max-old-space-size=${memoryMb}`,
      ],
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#send = turnList((messages) => {
      // A child that is gone has said so, or is about to.
      if (this.#child.connected) this.#child.send(messages, () => {});
    });
    this.#child.on("message", (messages: FromRunner[]) => {
      if (!this.#closing) events.said(this, messages);
    });
    this.#forward("stdout", this.#child.stdout);
    this.#forward("stderr", this.#child.stderr);
    const exited = Promise.withResolvers<void>();
    this.#exited = exited.promise;
    this.#child.once("error", ({ name, message }) => {
      exited.resolve();
      this.#died(`${name}: ${message}`, events);
    });
    this.#child.once("exit", (code, signal) => {
      exited.resolve();
      const died = () =>
        this.#died(signal ? `it was ended by ${signal}` : `it exited with code ${code}`, events);
      // The last output of the child is still to be read; processes it has started may hold that open.
      const cancel = options.setTimer(died, LAST_WORDS_MS);
      this.#child.once("close", () => {
        cancel();
        died();
      });
    });
  }

  get culprit(): number {
    return this.entered;
  }

  post(messages: readonly ToRunner[]): void {
    for (const message of messages) {
      if (message.kind === "start") {
        this.entered = message.copy;
        this.#execution_id = message.info.execution_id;
      }
      this.#send(message);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #died(why: string, events: RunnerEvents): void {
    if (this.#closing) return;
    // Processes that the child has started do not outlive it.
    this.#closing = this.#end();
    const { memoryMb } = this.#options;
    events.died(this, this.#isOutOfMemory ? `it needed more memory than ${memoryMb} MB` : why);
  }

  async #end(): Promise<void> {
    const { graceMs, setTimer } = this.#options;
    const { pid, stdout, stderr } = this.#child;
    // The child could not even be started.
    if (pid === undefined) return;
    await endGroup(pid, { graceMs, setTimer });
    await this.#exited;
    stdout?.destroy();
    stderr?.destroy();
  }

  /** What code of users prints goes to the worker's log, with the execution it came from. */
  #forward(stream: "stdout" | "stderr", from: Readable | null): void {
    if (!from) return;
    const { log } = this.#options;
    readLines(from, (line) => {
      if (stream === "stderr" && line.includes("JavaScript heap out of memory")) {
        this.#isOutOfMemory = true;
      }
      const execution_id = this.#execution_id;
      const details = { ...(execution_id && { execution_id }), stream };
      if (stream === "stdout") log.info(details, line);
      else log.warn(details, line);
    });
  }
}
