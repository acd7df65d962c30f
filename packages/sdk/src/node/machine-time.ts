import { realClock } from "./replay-safe/real.ts";

/**
 * Milliseconds of the machine's clock that nobody sets: the same for all its threads and processes, so
 * that one may say to another what it was when. It is read as it is: each thread knows its own
 * beginning less well than that, and the reads of a thread that had to wait in between lie far apart.
 * Code of bodies may run around it.
 */
export function machineTime(): number {
  return Number(realClock.machineNanoseconds()) / 1e6;
}
