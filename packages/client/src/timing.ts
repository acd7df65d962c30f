/** Time and chance. The client takes them from here alone, so that a test can move them by hand. */
export interface Timing {
  /** Milliseconds that only grow. */
  readonly now: () => number;
  /** Runs once, later; what it gives back calls it off. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
  /** From 0 to just below 1. */
  readonly random: () => number;
}

export const systemTiming: Timing = {
  now: () => performance.now(),
  setTimer: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Rejects with the signal's reason as soon as it aborts. */
export function sleep(timing: Timing, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      callOff();
      reject(signal?.reason);
    };
    const callOff = timing.setTimer(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    signal?.addEventListener("abort", leave, { once: true });
  });
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * How long to stay away before try `n`, counted from 1: doubling, up to five seconds. Half of it is
 * chance, so that the clients of a server that comes back do not all come back at once.
 */
export function backOffMs(n: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** (n - 1));
  return full / 2 + (full / 2) * random;
}
