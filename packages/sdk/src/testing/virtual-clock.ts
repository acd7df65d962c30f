import { LONGEST_MS, realClock } from "../node/replay-safe/real.ts";

interface Timer {
  readonly due: number;
  readonly fire: () => void;
}

/** The core lets events wait this long for company: politeness, by which no time passes. */
export const MOMENT_MS = 5;

/**
 * A clock that stands still until it is moved. Its timers also fire when as much real time has
 * passed, so that what limits running code does; the clock then stands at the instant they were for.
 */
export class VirtualClock {
  #now: number;
  readonly #timers: Set<Timer> = new Set();
  /** Functions whose moment has passed: if they want another, time has to pass for it. */
  readonly #waited: WeakSet<() => void> = new WeakSet();

  constructor(now: number) {
    this.#now = now;
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#now;
  }

  /** When the next timer is due. */
  get next(): number | undefined {
    if (this.#timers.size === 0) return undefined;
    return Math.min(...[...this.#timers].map(({ due }) => due));
  }

  /**
   * @param isPast Resolves when a moment is over. A machine that is held up for that long has not
   *   come to what would have happened within it, so that real time alone would not do.
   * @returns A function that cancels the timer.
   */
  setTimer(then: () => void, ms: number, isPast: () => Promise<unknown>): () => void {
    const isMoment = ms <= MOMENT_MS && !this.#waited.has(then);
    const due = isMoment ? this.#now : Math.ceil(this.#now + Math.max(0, ms));
    const cancel = () => {
      realClock.clearTimeout(real);
      return this.#timers.delete(timer);
    };
    const fire = () => {
      if (!cancel()) return;
      if (isMoment) this.#waited.add(then);
      this.#now = Math.max(this.#now, due);
      then();
    };
    const timer: Timer = { due, fire };
    const elapsed = isMoment ? () => void isPast().then(fire) : fire;
    // What is longer than any timer of Node's passes only when somebody moves time.
    const real = ms > LONGEST_MS ? undefined : realClock.setTimeout(elapsed, ms);
    // A test that waits for the engine keeps the process alive, not what the engine might do some day.
    real?.unref();
    this.#timers.add(timer);
    return cancel;
  }

  /** Moves on to an instant and fires what is due by then, in order. Time never goes back. */
  moveTo(instant: number): void {
    this.#now = Math.max(this.#now, instant);
    const due = [...this.#timers].filter((timer) => timer.due <= this.#now);
    for (const { fire } of due.sort((a, b) => a.due - b.due)) fire();
  }
}
