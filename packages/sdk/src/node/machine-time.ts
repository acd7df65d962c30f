import { realClock } from "./replay-safe/real.ts";

/** From the zero of the machine's clock to the beginning of this thread. */
const beginning = Number(realClock.machineNanoseconds()) / 1e6 - realClock.elapsed();

/**
 * Milliseconds of the machine's clock that nobody sets: the same for all its threads and processes, so
 * that one may say to another what it was when. Code of bodies may run around it.
 */
export function machineTime(): number {
  return beginning + realClock.elapsed();
}
