import type { Random } from "@engine/simulation/random";
import type { Env } from "../harness/engine-access.ts";

/** How the engine is set up that runs a program. */
export interface Setup {
  readonly name: string;
  /** Every wait is a cold replay; else the engine is as nobody has configured it. */
  readonly isCold: boolean;
  /** Workers are killed while it runs. */
  readonly isKilled: boolean;
  /** Its `inline_wait`, around which some waits of programs lie. */
  readonly inlineMs: number;
  readonly env: Env;
}

/** What no test of what the engine does should depend on. */
const QUIET: Env = {
  ENGINE_LOG_LEVEL: "error",
  // Many programs share a worker, and each of them may kill it.
  ENGINE_WORKERS__MAX_CRASHES: "1000",
};

const COLD: Env = {
  ...QUIET,
  ENGINE_STORE__SYNCHRONOUS: "normal",
  ENGINE_EXECUTIONS__INLINE_WAIT: "0.1",
  ENGINE_EXECUTIONS__INLINE_VALUE_BYTES: "8192",
  ENGINE_WORKERS__WARM_EXECUTIONS: "0",
  ENGINE_WORKERS__THREADS: "1",
  ENGINE_WORKERS__PROCESS_SPARES: "0",
  ENGINE_WORKERS__RUNNERS: '["thread"]',
  ENGINE_WORKERS__DISCONNECT_GRACE: "0.1",
};

const SETUPS: readonly Setup[] = [
  { name: "cold", isCold: true, isKilled: false, inlineMs: 100, env: COLD },
  { name: "cold, killed", isCold: true, isKilled: true, inlineMs: 100, env: COLD },
  { name: "default", isCold: false, isKilled: false, inlineMs: 1_000, env: QUIET },
  { name: "default, killed", isCold: false, isKilled: true, inlineMs: 1_000, env: QUIET },
];

/** Of how many programs workers are killed, and how many have the default configuration: from 0 to 1. */
export interface Shares {
  readonly kills: number;
  readonly defaults: number;
}

export function drawnSetup(random: Random, { kills, defaults }: Shares): Setup {
  const [isKilled, isCold] = [random.chance(kills), !random.chance(defaults)];
  const setup = SETUPS.find((one) => one.isKilled === isKilled && one.isCold === isCold);
  if (!setup) throw new Error("there is a setup for each of the four");
  return setup;
}
