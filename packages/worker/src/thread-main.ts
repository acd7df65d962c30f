/** The program of a runner thread: the only place, but for inline runs, where user code executes. */
import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { nodeHost } from "@engine/sdk/node";
import { resolveBundleImports } from "./bundle-imports.ts";
import { Executor } from "./executor.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { Outbox } from "./outbox.ts";

const outbox = new Outbox<FromRunner>((messages) => parentPort?.postMessage(messages));
const trace = new AsyncLocalStorage<string>();

function post(message: FromRunner): void {
  outbox.add(message);
}

function log(
  level: "debug" | "warn" | "error",
  message: string,
  details: Record<string, unknown> = {},
): void {
  post({ kind: "log", level, message, details });
}

/** What went wrong, for the worker's own log, with its stack and the execution it came from. */
function problem(message: string, error: unknown): FromRunner {
  const execution_id = trace.getStore();
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const details = { ...(execution_id && { execution_id }), error: text };
  return { kind: "log", level: "error", message, details };
}

// Nobody awaited that promise, so the execution goes on without it; the thread has others to run.
process.on("unhandledRejection", (reason) => {
  post(problem("a promise that no code of a workflow or task awaits was rejected", reason));
});
// Only listens: an error thrown where nothing can catch it leaves the thread in an unknown state.
process.on("uncaughtExceptionMonitor", (error) => {
  // Past the outbox: no microtask of this thread runs any more.
  parentPort?.postMessage([
    problem("an error that nothing could catch ends a runner thread", error),
  ]);
});

// Bundles bring a map, so that stacks name the lines that the user wrote.
process.setSourceMapsEnabled(true);
resolveBundleImports((workerData as { folder: string }).folder);
const executor = new Executor({
  host: nodeHost({ log }),
  post,
  traced: (execution_id, run) => trace.run(execution_id, run),
});
parentPort?.on("message", (messages: ToRunner[]) => executor.receive(messages));
post({ kind: "ready" });
