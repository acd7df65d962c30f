import crypto from "node:crypto";

/** The longest time a timer of Node's takes; one that is given more fires at once. */
export const LONGEST_MS: number = 2 ** 31 - 1;

/**
 * The clock, timers and randomness of the machine, whatever the globals have become. The engine's
 * own code also runs in the async context of a body, so it must not ask the globals.
 */
export interface RealClock {
  readonly now: () => number;
  /** Of a clock that nobody sets, the same for all threads and processes of the machine. */
  readonly machineNanoseconds: () => bigint;
  readonly setTimeout: (then: () => void, ms: number) => NodeJS.Timeout;
  readonly clearTimeout: (timer: NodeJS.Timeout | undefined) => void;
  readonly random: () => number;
  readonly randomUUID: () => string;
}

// Shared: a second copy of this package may load when the first has replaced the globals already.
const KEY: unique symbol = Symbol.for("@engine/sdk/real-clock");
const shared = globalThis as { [KEY]?: RealClock };

shared[KEY] ??= Object.freeze({
  now: Date.now,
  machineNanoseconds: process.hrtime.bigint,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  random: Math.random,
  randomUUID: crypto.randomUUID,
});

export const realClock: RealClock = shared[KEY];
