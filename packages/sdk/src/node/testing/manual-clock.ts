import type { Host } from "../../replay/port.ts";
import { nodeHost } from "../host.ts";

interface Timer {
  readonly at: number;
  readonly then: () => void;
}

/** A host whose time stands still until a test moves it, and which knows when nothing moves. */
export class ManualClock {
  now: number = Date.UTC(2030, 0, 1);
  /** By how much the clock of the machine that runs the code is behind, milliseconds. */
  behind = 0;
  readonly host: Host;
  readonly logged: { readonly level: string; readonly message: string }[] = [];
  readonly #timers: Set<Timer> = new Set();
  #drains = 0;

  constructor() {
    const real = nodeHost({ log: (level, message) => void this.logged.push({ level, message }) });
    this.host = {
      ...real,
      now: () => this.now - this.behind,
      drain: (then) => {
        this.#drains++;
        real.drain(() => {
          this.#drains--;
          then();
        });
      },
      setTimer: (then, ms) => {
        const timer = { at: this.now + Math.max(0, ms), then };
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
    };
  }

  /** Waits until nothing is left to happen at this instant. */
  async still(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#drains > 0);
  }

  get nextTimer(): number | undefined {
    const times = [...this.#timers].map(({ at }) => at);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Lets the timers fire whose time has come. */
  async fire(): Promise<void> {
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > this.now || !this.#timers.delete(timer)) continue;
      timer.then();
      await this.still();
    }
  }
}
