import { METRIC_WINDOW } from "@engine/contract";

/** The last samples of a figure. */
export class SampleWindow {
  readonly #samples: number[] = [];
  /** Where the next one goes. */
  #next = 0;

  push(sample: number): void {
    this.#samples[this.#next] = sample;
    this.#next = (this.#next + 1) % METRIC_WINDOW;
  }

  get size(): number {
    return this.#samples.length;
  }

  get newest(): number | undefined {
    return this.#samples.at(this.#next - 1);
  }

  get mean(): number | undefined {
    const { size } = this;
    return size === 0 ? undefined : this.#samples.reduce((sum, one) => sum + one, 0) / size;
  }

  /** The smallest sample that so many of them do not exceed. */
  percentile(share: number): number | undefined {
    const rank = Math.max(1, Math.ceil(share * this.size));
    return [...this.#samples].sort((a, b) => a - b)[rank - 1];
  }

  /** How many are at least `least`. */
  countFrom(least: number): number {
    return this.#samples.filter((sample) => sample >= least).length;
  }

  get isFull(): boolean {
    return this.size === METRIC_WINDOW;
  }
}
