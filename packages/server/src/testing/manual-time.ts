import type { SetTimer } from "../engine-ports.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that stands until it is moved, with its timers. Moving {@link now} lets time pass unseen. */
export class ManualTime {
  now: number = Date.UTC(2026, 0, 1);
  /** How much before their time timers come, as those of Node do by less than one. */
  early: number = 0;
  readonly #timers = new Set<Timer>();
  /** By how much somebody has set the clock: timers do not follow that. */
  #set = 0;

  readonly clock = (): number => this.now;

  readonly monotonic = (): number => this.now - this.#set;

  readonly setTimer: SetTimer = (run, ms) => {
    const timer = { at: this.monotonic() + Math.max(ms - this.early, Math.min(ms, 1)), run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Somebody sets the clock; no time passes. */
  set(ms: number): void {
    this.#set += ms;
    this.now += ms;
  }

  /** Moves on, firing what falls due in order, and lets what each starts come to rest. */
  async advance(ms: number): Promise<void> {
    const end = this.monotonic() + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.now += Math.max(next.at - this.monotonic(), 0);
      next.run();
      await settled();
    }
    this.now += end - this.monotonic();
    await settled();
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Waits until the store has committed what was asked of it, and what that led to. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
