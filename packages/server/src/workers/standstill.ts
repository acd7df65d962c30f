import type { EnginePorts } from "../engine-ports.ts";

/** A timer that is later than this shows that the process stood still. */
const LATE_MS = 1_000;

type Ports = Pick<EnginePorts, "monotonic" | "setTimer" | "log">;

/**
 * Notices that this process stood still: it was stopped, its machine slept, or something blocked its
 * loop. After that timers fire before messages are read that came meanwhile, so no worker can be called
 * silent yet: every worker has a fresh grace from {@link endedAt} on.
 */
export class Standstill {
  readonly #ports: Ports;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** When the last standstill was noticed, by the clock that nobody sets. */
  get endedAt(): number {
    return this.#endedAt;
  }

  /** Calls back once after that many milliseconds. A timer that is late shows a standstill. */
  after(ms: number, run: () => void): () => void {
    const { monotonic, setTimer } = this.#ports;
    const due = monotonic() + ms;
    return setTimer(() => {
      this.#look(due);
      run();
    }, ms);
  }

  #look(due: number): void {
    const { monotonic, log } = this.#ports;
    const now = monotonic();
    if (now - due < LATE_MS) return;
    // One standstill makes several timers late: it is logged once.
    if (due > this.#endedAt) {
      const seconds = Math.round((now - due) / 100) / 10;
      log.warn(
        { seconds },
        "this server stood still; workers get a fresh grace before any is lost",
      );
    }
    this.#endedAt = now;
  }
}
