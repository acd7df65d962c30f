import type { Timing } from "../timing.ts";

interface Timer {
  readonly ms: number;
  readonly run: () => void;
}

/** Time that stands until a test moves it, and chance as the test has it. */
export class ManualTiming implements Timing {
  time = 0;
  chance = 0;
  readonly #timers = new Set<Timer>();
  readonly #watchers = new Set<() => void>();

  readonly now = (): number => this.time;
  readonly random = (): number => this.chance;
  readonly setTimer = (run: () => void, ms: number): (() => void) => {
    const timer = { ms, run };
    this.#timers.add(timer);
    for (const look of this.#watchers) look();
    return () => void this.#timers.delete(timer);
  };

  /** How many timers nobody fired or called off. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Waits until there is a timer of at most `longest` and gives its length. */
  async armed(longest = 5_000): Promise<number> {
    return (await this.#timer(longest)).ms;
  }

  /** Waits until there is a timer of at most `longest`, fires it and gives its length. */
  async fire(longest = 5_000): Promise<number> {
    const timer = await this.#timer(longest);
    this.#timers.delete(timer);
    this.time += timer.ms;
    timer.run();
    return timer.ms;
  }

  #timer(longest: number): Promise<Timer> {
    return new Promise((resolve) => {
      const look = () => {
        const timer = [...this.#timers].find(({ ms }) => ms <= longest);
        if (!timer) return;
        this.#watchers.delete(look);
        resolve(timer);
      };
      this.#watchers.add(look);
      look();
    });
  }
}
