import type { SetTimer } from "./engine-ports.ts";

interface Pace {
  /** From the end of one run to the beginning of the next. */
  readonly ms: number;
  /** Before the first run. */
  readonly firstMs?: number;
}

/** Runs again and again, until the answer is called. */
export function every(
  setTimer: SetTimer,
  { ms, firstMs = ms }: Pace,
  run: () => Promise<void>,
): () => void {
  let isOver = false;
  let cancel = setTimer(begin, firstMs);
  return () => {
    isOver = true;
    cancel();
  };

  function begin(): void {
    void run().finally(() => {
      if (!isOver) cancel = setTimer(begin, ms);
    });
  }
}
