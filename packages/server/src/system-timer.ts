import type { SetTimer } from "./engine-ports.ts";

/** Node refuses longer timers. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Timers of Node come up to a millisecond before their time, and at once where that is a month away. These
 * never do, by the clock that nobody sets: whoever is called back finds that the time has come.
 */
export const systemTimer: SetTimer = (run, ms) => {
  const due = performance.now() + ms;
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = due - performance.now();
    if (left > 0) arm(left);
    else run();
  };
  const arm = (left: number) => {
    timer = setTimeout(look, Math.min(left, LONGEST_MS));
  };
  arm(ms);
  return () => clearTimeout(timer);
};
