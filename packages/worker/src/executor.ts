import { type Event, PROGRESS_VALUE_BYTES, type ProgressItem } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import {
  type CheckpointReply,
  type ExecutionPort,
  type Host,
  type RunningExecution,
  startExecution,
} from "@engine/sdk/node";
import { importFailure, loadWorkflows, pickWorkflow } from "./load-workflow.ts";
import type { FromRunner, StartMessage, ToRunner } from "./messages.ts";

export interface ExecutorOptions {
  readonly host: Host;
  post(message: FromRunner): void;
  /** Runs what an execution does, so that a late error can be traced to it. */
  traced(execution_id: string, run: () => void): void;
}

/** A copy on its runner. Until its module is loaded it has no execution and keeps what arrives. */
interface Entry {
  readonly start: StartMessage;
  execution: RunningExecution | undefined;
  readonly early: ToRunner[];
  /** Answers the delta that is on its way. */
  answer: ((reply: CheckpointReply) => void) | undefined;
  /** Task calls that were warned about a progress value that is too large. */
  warned: Set<string> | undefined;
}

/**
 * The runner's side of the messages: it turns them into calls of the replay core. The same on a
 * thread and on the main thread.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #modules = new Map<string, Promise<readonly AnyWorkflow[]>>();
  /** Loaded ones again, so that a start with a known module waits for nothing. */
  readonly #workflows = new Map<string, readonly AnyWorkflow[]>();

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  receive(messages: readonly ToRunner[]): void {
    for (const message of messages) this.#handle(message);
  }

  #handle(message: ToRunner): void {
    if (message.kind === "start") {
      const fresh: Entry = {
        start: message,
        execution: undefined,
        early: [],
        answer: undefined,
        warned: undefined,
      };
      this.#entries.set(message.copy, fresh);
      void this.#start(fresh);
      return;
    }
    const entry = this.#entries.get(message.copy);
    // Over: its end and this message crossed.
    if (!entry) return;
    if (!entry.execution && message.kind !== "stop") entry.early.push(message);
    else this.#pass(entry, message);
  }

  #pass(entry: Entry, message: Exclude<ToRunner, StartMessage>): void {
    const { execution } = entry;
    switch (message.kind) {
      case "reply": {
        const answer = entry.answer;
        entry.answer = undefined;
        answer?.(message.reply);
        break;
      }
      case "events":
        execution?.deliver(message.base_seq, message.events);
        break;
      case "listen":
        execution?.listen(message.on);
        break;
      case "stop":
        this.#entries.delete(entry.start.copy);
        execution?.stop(message.reason);
        entry.answer?.({ kind: "stale" });
        break;
    }
  }

  async #start(entry: Entry): Promise<void> {
    const { copy, info, module } = entry.start;
    let workflows = this.#workflows.get(module.hash);
    try {
      workflows ??= await this.#load(module);
    } catch (error) {
      this.#fail(entry, importFailure(error, info));
      return;
    }
    if (this.#entries.get(copy) !== entry) return;
    const picked = pickWorkflow(workflows, info);
    if ("message" in picked) this.#fail(entry, picked);
    else this.#options.traced(info.execution_id, () => this.#begin(entry, picked));
  }

  /** A defect of ours must not keep the slot: the execution is given back. */
  #begin(entry: Entry, workflow: AnyWorkflow): void {
    try {
      this.#run(entry, workflow);
    } catch (error) {
      const { copy, info } = entry.start;
      this.#entries.delete(copy);
      this.#options.post({
        kind: "log",
        level: "error",
        message: "an execution could not be started on its runner",
        details: {
          execution_id: info.execution_id,
          error: error instanceof Error ? error.stack : String(error),
        },
      });
      this.#options.post({ kind: "ended", copy, how: "stopped" });
    }
  }

  #load({ hash, path }: StartMessage["module"]): Promise<readonly AnyWorkflow[]> {
    const known = this.#modules.get(hash);
    if (known) return known;
    const loading = loadWorkflows(path);
    this.#modules.set(hash, loading);
    loading.then(
      (workflows) => this.#workflows.set(hash, workflows),
      () => this.#modules.delete(hash),
    );
    return loading;
  }

  #fail(entry: Entry, failure: Extract<FromRunner, { kind: "unloadable" }>["failure"]): void {
    const { copy } = entry.start;
    if (!this.#entries.delete(copy)) return;
    this.#options.post({ kind: "unloadable", copy, failure });
  }

  #run(entry: Entry, workflow: AnyWorkflow): void {
    const { copy, info, limits, listen } = entry.start;
    const { host, post } = this.#options;
    const history = JSON.parse(entry.start.history) as Event[];
    const port: ExecutionPort = {
      checkpoint: (delta) =>
        new Promise((answer) => {
          // A stopped copy has nobody who would answer.
          if (this.#entries.get(copy) !== entry) return answer({ kind: "stale" });
          entry.answer = answer;
          post({ kind: "delta", copy, delta });
        }),
      progress: (item) => this.#progress(entry, item),
    };
    const execution = startExecution(workflow, { info, history, limits, listen, port, host });
    entry.execution = execution;
    for (const message of entry.early.splice(0)) this.#handle(message);
    void execution.ended.then((how) => {
      // A copy that was told to stop is forgotten already.
      if (this.#entries.delete(copy)) post({ kind: "ended", copy, how });
    });
  }

  #progress(entry: Entry, item: ProgressItem): void {
    const { copy, info } = entry.start;
    if (this.#entries.get(copy) !== entry) return;
    const value = JSON.stringify(item.value);
    if (Buffer.byteLength(value) <= PROGRESS_VALUE_BYTES) {
      this.#options.post({ kind: "progress", copy, item: JSON.stringify(item) });
      return;
    }
    entry.warned ??= new Set();
    if (entry.warned.has(item.source_id)) return;
    entry.warned.add(item.source_id);
    this.#options.post({
      kind: "log",
      level: "warn",
      message: `a progress value of ${item.source_id} is over ${PROGRESS_VALUE_BYTES} bytes as JSON and was dropped; further ones of this call are dropped without a word`,
      details: { execution_id: info.execution_id },
    });
  }
}
