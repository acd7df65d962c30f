import type { Process } from "./process.ts";
import { runningWorker } from "./workers.ts";

/** Virtual time that functions of tasks take for what they do. */
export class FunctionTime {
  readonly #passing = new Set<{ readonly of: Process }>();

  /** Whether some function is at work in a process that lives. */
  get isPassing(): boolean {
    return [...this.#passing].some(({ of }) => of.isAlive);
  }

  /** Time passes for the code that calls; never again once its process is dead. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const process = runningWorker()?.process;
    if (!process) return Promise.resolve();
    const passing = { of: process };
    this.#passing.add(passing);
    return new Promise((resolve, reject) => {
      const over = () => {
        this.#passing.delete(passing);
        signal?.removeEventListener("abort", abort);
      };
      const abort = () => {
        cancel();
        over();
        reject(signal?.reason as Error);
      };
      const cancel = process.setTimer(() => {
        over();
        resolve();
      }, ms);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
