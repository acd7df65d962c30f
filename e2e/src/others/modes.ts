import type { Env } from "../harness/engine-access.ts";

/** How a program is run: what happens to its workers, and what they keep in memory. */
export const MODES = ["plain", "cold", "killed", "struck", "drained"] as const;
export type Mode = (typeof MODES)[number];

/** A worker that drains gives back what has not ended by then. */
export const DRAIN_MS = 4_000;

interface ModeFacts {
  /** For `--help` and reports. */
  readonly means: string;
  readonly workers: readonly string[];
  /** What differs from the default configuration. */
  readonly env: Env;
  /** How long one execution may take in it. */
  readonly limitMs: number;
}

export const MODE_FACTS: Readonly<Record<Mode, ModeFacts>> = {
  plain: {
    means: "as it is configured by default",
    workers: ["one"],
    env: {},
    limitMs: 40_000,
  },
  cold: {
    means: "every wait ends with a replay from the log, on either of two workers",
    workers: ["one", "two"],
    env: { ENGINE_WORKERS__WARM_EXECUTIONS: "0", ENGINE_EXECUTIONS__INLINE_WAIT: "0.02" },
    limitMs: 40_000,
  },
  killed: {
    means: "its worker is killed by SIGKILL inside a task, when its executions come to their n-th",
    workers: ["one", "two"],
    env: {
      ENGINE_WORKERS__DISCONNECT_GRACE: "0.1",
      // Neighbours' deaths count as well, and there are many of them.
      ENGINE_WORKERS__MAX_CRASHES: "1000",
    },
    limitMs: 150_000,
  },
  struck: {
    means: "the same for those that are touchy, at once and a few at a time",
    workers: ["one", "two"],
    env: { ENGINE_WORKERS__DISCONNECT_GRACE: "0.1", ENGINE_WORKERS__MAX_CRASHES: "1000" },
    limitMs: 150_000,
  },
  drained: {
    means: "again and again one of two workers drains and the other one goes on",
    workers: ["one", "two"],
    env: {
      ENGINE_WORKERS__DRAIN_TIMEOUT: `${DRAIN_MS / 1_000}`,
      ENGINE_WORKERS__MAX_CRASHES: "1000",
    },
    limitMs: 120_000,
  },
};
