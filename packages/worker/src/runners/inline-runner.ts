import { getHeapStatistics } from "node:v8";
import type { AnyWorkflow } from "@engine/sdk";
import { type Host, installSourceStacks, machineTime, nodeHost } from "@engine/sdk/node";
import { resolveBundleImports } from "../program/bundle-imports.ts";
import { Executor } from "../program/executor.ts";
import { loadWorkflows } from "../program/load-workflow.ts";
import { RunnerClock } from "../program/runner-clock.ts";
import type { FromRunner, StartMessage, ToRunner } from "./messages.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import { turnList } from "./turn-list.ts";

export interface InlineRunnerOptions {
  readonly events: RunnerEvents;
  /** @param log Goes to the worker's own log. */
  host(log: Host["log"]): Host;
  load(module: StartMessage["module"]): Promise<readonly AnyWorkflow[]>;
  /** The clock of the copies on this runner. */
  readonly clock: RunnerClock;
  release?(): void;
}

/** A runner on the main thread that loads bundles as threads do. */
export function inlineRunner(folder: string, events: RunnerEvents): InlineRunner {
  installSourceStacks();
  return new InlineRunner({
    events,
    host: (log) => nodeHost({ log }),
    load: ({ path }) => loadWorkflows(path),
    clock: new RunnerClock({ clock: nodeHost().now, monotonic: machineTime }),
    release: resolveBundleImports(folder),
  });
}

/** Runs bodies on the main thread, for tests and debuggers: nothing isolates them. */
export class InlineRunner implements Runner {
  readonly isShared = true;
  load = 0;
  isReady = false;
  readonly loaded: Set<string> = new Set();
  readonly entered = 0;
  readonly culprit = 0;
  readonly #executor: Executor;
  readonly #send: (message: ToRunner) => void;
  readonly #release: (() => void) | undefined;

  constructor({ events, host, load, clock, release }: InlineRunnerOptions) {
    const say = turnList<FromRunner>((messages) => events.said(this, messages));
    this.#release = release;
    this.#executor = new Executor({
      host: host((level, message, details = {}) => say({ kind: "log", level, message, details })),
      memoryBytes: getHeapStatistics().heap_size_limit,
      clock,
      post: say,
      load,
      traced: (_copy, run) => run(),
    });
    this.#send = turnList((messages) => this.#executor.receive(messages));
    say({ kind: "ready" });
  }

  post(messages: readonly ToRunner[]): void {
    for (const message of messages) this.#send(message);
  }

  close(): Promise<void> {
    this.#release?.();
    return Promise.resolve();
  }
}
