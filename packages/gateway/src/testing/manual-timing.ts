import type { GatewayTiming } from "../timing.ts";

/** Time that stands until a test moves it. */
export class ManualTiming implements GatewayTiming {
  time = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  readonly now = (): number => this.time;
  readonly setTimer = (run: () => void, ms: number): (() => void) => {
    const timer = { at: this.time + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** How many timers nobody fired or called off. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on, timer by timer, and lets what each of them began come to rest. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    await settled();
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.time = due.at;
      due.run();
      await settled();
    }
    this.time = end;
    await settled();
  }
}

/** Lets everything run that waits for nothing outside. */
export function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
