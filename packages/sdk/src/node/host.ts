import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { Host } from "../replay/port.ts";
import { setScopeReader } from "../replay/scope.ts";

// One storage for the process, however many hosts are made: a scope names its execution itself.
const scopes = new AsyncLocalStorage<unknown>();

export interface NodeHostOptions {
  readonly log?: Host["log"];
}

/** The replay core's host on Node. */
export function nodeHost(options: NodeHostOptions = {}): Host {
  setScopeReader(() => scopes.getStore());
  return {
    runInScope: (scope, body) => scopes.run(scope, body),
    currentScope: () => scopes.getStore(),
    // Outside any scope: what the core does by itself must not look like user code's doing.
    drain: (then) => void scopes.exit(() => setImmediate(then)),
    now: Date.now,
    setTimer: (then, ms) => {
      const timer = scopes.exit(() => setTimeout(then, ms));
      return () => clearTimeout(timer);
    },
    random: Math.random,
    uuid: randomUUID,
    createAbort: () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
    },
    log: options.log ?? (() => {}),
  };
}
