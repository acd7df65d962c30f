/**
 * What code of programs finds around it: the port of a simulated process, or the real world. It takes
 * functions out of globals and modules when it is loaded, as files of users do.
 */
import type { ProgramPort } from "../program-port.ts";

const { promisify } = process.getBuiltinModule("node:util");
const timersOfNode = process.getBuiltinModule("node:timers/promises");

/** Taken out of the globals before any body runs: in a body they have to be those of the body. */
export const taken: {
  readonly random: () => number;
  readonly now: () => number;
  readonly promisified: (ms: number) => Promise<unknown>;
  readonly promises: (ms: number) => Promise<unknown>;
} = {
  random: Math.random,
  now: Date.now,
  promisified: promisify(setTimeout),
  promises: timersOfNode.setTimeout,
};

export function port(): ProgramPort | undefined {
  const key = Symbol.for("engine.simulation.program-port");
  return (globalThis as unknown as Record<symbol, ProgramPort | undefined>)[key];
}

/**
 * What schemas, storages and the like do in real programs: they draw, have a limit for how long they
 * take, and take their time.
 */
export async function dawdle(): Promise<void> {
  Math.random();
  crypto.randomUUID();
  const limit = setTimeout(() => {}, 60_000).unref();
  await idle(2);
  clearTimeout(limit);
}

/** Virtual time in a simulation, none in a replay that is only looked at, else real time. */
async function idle(ms: number): Promise<void> {
  const around = port();
  if (around) await around.idle?.(ms);
  else await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Computes for so long. A simulation has no time for that. */
export function compute(ms: number): void {
  if (ms <= 0 || port()) return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
