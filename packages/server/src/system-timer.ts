import type { SetTimer } from "./engine-ports.ts";

/** Node refuses longer timers: a wait of a month ends early, which every caller allows for. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemTimer: SetTimer = (run, ms) => {
  const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
  return () => clearTimeout(timer);
};
