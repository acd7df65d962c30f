/**
 * Whether the code that calls a global is the body of a workflow (EXE-31). Each copy of this
 * package finds the scopes of its own executions; the copy that replaced the globals asks them all.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { BodyTimer, BodyWorld, Scope } from "../../replay/calls/call.ts";

/** The body that runs right now, and where in it. */
export interface Body {
  readonly scope: Scope;
  readonly world: BodyWorld;
}

/** A body whose timers are durable sleeps. */
export interface TimedBody extends Body {
  readonly timer: BodyTimer;
}

type ReadScope = () => Scope | undefined;

const KEY: unique symbol = Symbol.for("@engine/sdk/scope-readers");
const shared = globalThis as { [KEY]?: ReadScope[] };
shared[KEY] ??= [];
const readers: ReadScope[] = shared[KEY];

const native = new AsyncLocalStorage<true>();

/** Adds a copy's scopes to those that count. True for the very first call of all. */
export function shareScopes(read: ReadScope): boolean {
  if (readers.includes(read)) return false;
  return readers.push(read) === 1;
}

/** Undefined in tasks and outside executions, where globals are the real ones (decision 0020). */
export function currentBody(): Body | undefined {
  // A plain loop, and nothing made on the way: every Date.now() of the process comes by here.
  for (let i = 0; i < readers.length; i++) {
    const scope = readers[i]?.();
    if (scope === undefined) continue;
    const { world } = scope;
    if (world === undefined || native.getStore() === true) return undefined;
    return { scope, world };
  }
  return undefined;
}

/** Undefined where timers are the machine's own: also in schemas, which have a clock and no sleeps. */
export function currentTimedBody(): TimedBody | undefined {
  const body = currentBody();
  const timer = body?.world.timer;
  return body && timer && { ...body, timer };
}

/**
 * Runs library code that a body has called, with the real globals: timers of a connection pool, say,
 * must not become sleeps of the execution that happened to open it.
 */
export function natively<T>(run: () => T): T {
  return native.run(true, run);
}
