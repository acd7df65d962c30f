import { AsyncLocalStorage } from "node:async_hooks";
import { type Host, installSourceStacks, machineTime, nodeHost } from "@engine/sdk/node";
import type { FromRunner, ToRunner } from "../runners/messages.ts";
import type { RunnerSetup } from "../runners/thread-data.ts";
import { turnList } from "../runners/turn-list.ts";
import { resolveBundleImports } from "./bundle-imports.ts";
import { Executor, type TracedCopy } from "./executor.ts";
import { loadWorkflows } from "./load-workflow.ts";
import { RunnerClock } from "./runner-clock.ts";

const MIB = 1024 * 1024;

export interface RunnerProgramOptions extends RunnerSetup {
  send(messages: readonly FromRunner[]): void;
  /** The code of this copy is about to run. */
  entered(copy: number): void;
  /** The code of this copy, or of none that is known (0), ends the program. */
  ended(copy: number): void;
}

/**
 * The program of a runner thread and of a runner process: the only places, but for inline runs,
 * where user code executes. Gives what takes the messages of the worker's main thread.
 */
export function startRunnerProgram({
  folder,
  memoryMb,
  send,
  entered,
  ended,
}: RunnerProgramOptions): (messages: readonly ToRunner[]) => void {
  const post = turnList<FromRunner>(send);
  const trace = new AsyncLocalStorage<TracedCopy>();

  /** What went wrong, for the worker's own log, with its stack and the execution it came from. */
  const problem = (message: string, error: unknown): FromRunner => {
    const execution_id = trace.getStore()?.execution_id;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const details = { ...(execution_id && { execution_id }), error: text };
    return { kind: "log", level: "error", message, details };
  };

  let isTold = false;
  /** Tells which copy ends the program: the one whose code set in motion what ended it. */
  const tell = () => {
    if (isTold) return;
    isTold = true;
    const traced = trace.getStore();
    // What the top of a module sets going belongs to every copy that uses the module.
    ended(traced && !traced.isLoading ? traced.copy : 0);
  };

  // Nobody awaited that promise, so the execution goes on without it; the runner has others to run.
  process.on("unhandledRejection", (reason) => {
    post(problem("a promise that no code of a workflow or task awaits was rejected", reason));
  });
  // Only listens: an error thrown where nothing can catch it leaves the runner in an unknown state.
  process.on("uncaughtExceptionMonitor", (error) => {
    // Past the list of this turn: no microtask runs here any more.
    send([problem("an error that nothing could catch ends a runner", error)]);
    tell();
  });
  process.on("exit", () => tell());

  // Bundles bring a map, so that stacks name the lines that the user wrote.
  installSourceStacks();
  resolveBundleImports(folder);
  const mark = () => entered(trace.getStore()?.copy ?? 0);
  const host = nodeHost({
    log: (level, message, details = {}) => post({ kind: "log", level, message, details }),
  });
  const executor = new Executor({
    host: marking(host, mark),
    clock: new RunnerClock({ clock: host.now, monotonic: machineTime }),
    memoryBytes: memoryMb * MIB,
    post,
    load: ({ path }) => loadWorkflows(path),
    traced: (copy, run) =>
      trace.run(copy, () => {
        mark();
        run();
      }),
  });
  post({ kind: "ready" });
  return (messages) => executor.receive(messages);
}

/** Notes the copy whose turn it is wherever the core lets code run. */
function marking(host: Host, mark: () => void): Host {
  const marked = (then: () => void) => () => {
    mark();
    then();
  };
  return {
    ...host,
    runInScope: (scope, body) => {
      mark();
      return host.runInScope(scope, body);
    },
    drain: (then) => host.drain(marked(then)),
    setTimer: (then, ms) => host.setTimer(marked(then), ms),
  };
}
