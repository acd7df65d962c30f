import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { setScopeReader } from "../replay/calls/scope.ts";
import type { Host } from "../replay/port.ts";
import { callSite } from "./call-site.ts";
import { installReplaySafeGlobals } from "./replay-safe/install.ts";
import { LONGEST_MS, realClock } from "./replay-safe/real.ts";
import { traceOf } from "./trace-of.ts";

// One storage for the process, however many hosts are made: a scope names its execution itself.
const scopes = new AsyncLocalStorage<unknown>();

/** Parts of the host on Node that a caller may replace. */
export interface NodeHostOptions {
  readonly log?: Host["log"];
  /** Default: warnings of that log. */
  readonly failed?: Host["failed"];
}

/** The replay core's host on Node. Makes this process's globals replay-safe (EXE-31). */
export function nodeHost(options: NodeHostOptions = {}): Host {
  setScopeReader(() => scopes.getStore());
  installReplaySafeGlobals();
  const { log = () => {} } = options;
  const { failed = (message, details) => log("warn", message, details) } = options;
  return {
    runInScope: (scope, body) => scopes.run(scope, body),
    // Outside any scope: what the core does by itself must not look like user code's doing.
    drain: (then) => void scopes.exit(() => setImmediate(then)),
    now: realClock.now,
    setTimer: (then, ms) => scopes.exit(() => startTimer(then, ms)),
    random: realClock.random,
    uuid: realClock.randomUUID,
    hash: (text) => createHash("sha256").update(text).digest("hex"),
    callSite,
    traceOf,
    createAbort: () => new AbortController(),
    log: (level, message, details) => scopes.exit(() => log(level, message, details)),
    failed: (message, details) => scopes.exit(() => failed(message, details)),
  };
}

function startTimer(then: () => void, ms: number): () => void {
  let timer: ReturnType<typeof realClock.setTimeout>;
  const arm = (left: number) => {
    const next = left > LONGEST_MS ? () => arm(left - LONGEST_MS) : then;
    timer = realClock.setTimeout(next, Math.min(left, LONGEST_MS));
  };
  arm(ms);
  return () => realClock.clearTimeout(timer);
}
