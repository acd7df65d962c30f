import type { SetTimer } from "../world.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Time that stands still until a test moves it. */
export class ManualTime {
  #now = 0;
  readonly #timers = new Set<Timer>();

  readonly monotonic = (): number => this.#now;

  readonly setTimer: SetTimer = (run, ms) => {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Lets time pass, and all happen that falls due in it. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await new Promise(setImmediate);
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }

  /** Lets time pass as a stopped process does: what falls due has to wait. */
  jump(ms: number): void {
    this.#now += ms;
  }
}
