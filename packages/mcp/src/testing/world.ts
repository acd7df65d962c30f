/** For tests: a clock that stands until it is moved, with timers that go by it. */
import type { SetTimer } from "../progress.ts";

export class World {
  /** Milliseconds. */
  now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();
  readonly clock: () => number = () => this.now;
  readonly setTimer: SetTimer = (run, ms) => {
    const timer = { at: this.now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** How many timers have not run yet. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets time pass; timers run at their own times, in order. */
  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (!next || next.at > until) break;
      this.#timers.delete(next);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = until;
  }
}
