/** Calls `run` every so many milliseconds until the returned function is called. */
export type Repeat = (everyMs: number, run: () => void) => () => void;

/** By a timer that does not keep the process alive. */
export const repeat: Repeat = (everyMs, run) => {
  const timer = setInterval(run, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};
