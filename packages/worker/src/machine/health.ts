import type { World } from "../world.ts";

const PROBE_MS = 1000;
/** Probes in a row that change its mind. */
const IN_A_ROW = 3;
const SAMPLE_MS = 100;

export interface HealthOptions extends Pick<World, "setTimer"> {
  /** A delay of the main loop from which a probe is bad. */
  readonly thresholdMs: number;
  readonly lag: LoopLag;
  onChange(healthy: boolean): void;
  /** Hears of every probe. */
  onProbe?(lagMs: number): void;
}

export interface LoopLag {
  /** The longest time, in milliseconds, that the loop kept others waiting since the last look. */
  take(): number;
  close(): void;
}

/**
 * Whether the worker can keep up with what it has (RUN-5). Several bad probes in a row say that it
 * cannot, as many good ones that it can again, so a single long pause changes nothing.
 */
export class Health implements Disposable {
  readonly #options: HealthOptions;
  #isHealthy = true;
  /** Probes in a row that contradict it. */
  #contrary = 0;
  #cancel: () => void = () => {};

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#wait();
  }

  get healthy(): boolean {
    return this.#isHealthy;
  }

  [Symbol.dispose](): void {
    this.#cancel();
    this.#options.lag.close();
  }

  #wait(): void {
    this.#cancel = this.#options.setTimer(() => {
      this.#wait();
      this.#probe();
    }, PROBE_MS);
  }

  #probe(): void {
    const { lag, thresholdMs, onChange, onProbe } = this.#options;
    const lagMs = lag.take();
    onProbe?.(lagMs);
    const isClean = lagMs < thresholdMs;
    this.#contrary = isClean === this.#isHealthy ? 0 : this.#contrary + 1;
    if (this.#contrary < IN_A_ROW) return;
    this.#contrary = 0;
    this.#isHealthy = isClean;
    onChange(isClean);
  }
}

/** Watches the loop of the thread it is called on. */
export function startLoopLag({
  setTimer,
  monotonic: now,
}: Pick<World, "setTimer" | "monotonic">): LoopLag {
  let longest = 0;
  /** From here on the next sample is late. */
  let due: number;
  let cancel: () => void;
  const wait = () => {
    due = now() + SAMPLE_MS;
    cancel = setTimer(sample, SAMPLE_MS);
  };
  const note = () => {
    longest = Math.max(longest, now() - due);
  };
  const sample = () => {
    note();
    wait();
  };
  wait();
  return {
    take() {
      // A sample that is late just now has its time counted once, here.
      note();
      due = Math.max(due, now());
      const taken = longest;
      longest = 0;
      return taken;
    },
    close: () => cancel(),
  };
}
