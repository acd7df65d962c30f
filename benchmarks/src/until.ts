import { gate } from "./gate.ts";

interface Patience {
  /** Far above what it takes: only something that is wrong reaches it. */
  readonly limitMs: number;
  readonly everyMs?: number;
  /** What was waited for in vain. */
  readonly late: () => string;
}

/** Asks again and again until the answer is yes; a wait in vain fails the run. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { limitMs, everyMs = 50, late }: Patience,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    gate(performance.now() < deadline, () => `${late()} after ${limitMs / 1000} s`);
    await passed(everyMs);
  }
}

export function passed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
}
