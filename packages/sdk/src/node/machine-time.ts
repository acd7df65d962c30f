import { realClock } from "./replay-safe/real.ts";

const READS = 5;

/**
 * From the zero of the machine's clock to the beginning of this thread. Between the two reads a thread
 * may have to wait for its processor, and takes its beginning to be that much earlier then: the latest
 * of a few is right, or else two threads would say to each other what it was when in different times.
 */
export function beginningOf({
  machineNanoseconds,
  elapsed,
}: Pick<typeof realClock, "machineNanoseconds" | "elapsed">): number {
  const reads = Array.from({ length: READS }, () => Number(machineNanoseconds()) / 1e6 - elapsed());
  return Math.max(...reads);
}

const beginning = beginningOf(realClock);

/**
 * Milliseconds of the machine's clock that nobody sets: the same for all its threads and processes, so
 * that one may say to another what it was when. Code of bodies may run around it.
 */
export function machineTime(): number {
  return beginning + realClock.elapsed();
}
