/** For tests: time that passes by itself as soon as somebody waits for it. */
import type { LockTime } from "../file-lock.ts";

export class WaitingTime implements LockTime {
  now: number = Date.now();
  /** How long was waited, in milliseconds, in order. */
  readonly waits: number[] = [];
  readonly #during: (waits: number) => unknown;

  /** `during` does what happens while somebody waits the n-th time, beginning with 1. */
  constructor(during: (waits: number) => unknown = () => {}) {
    this.#during = during;
  }

  readonly clock = (): number => this.now;

  readonly setTimer = (run: () => void, ms: number): (() => void) => {
    this.waits.push(ms);
    this.now += ms;
    // Others have their turn, as they would while time passes.
    setImmediate(() => void this.#pass(run));
    return () => {};
  };

  async #pass(run: () => void): Promise<void> {
    await this.#during(this.waits.length);
    run();
  }
}
