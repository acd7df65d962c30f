import { RunnerClock } from "@engine/worker/machine";
import type { Process } from "./process.ts";

/** What the copies of a worker take for the time, read without anybody taking the time to look. */
export class ShownClock extends RunnerClock {
  readonly #time: Process["time"];
  #before = Number.NEGATIVE_INFINITY;

  constructor({ clock, monotonic, time }: Process) {
    super({ clock, monotonic });
    this.#time = time;
  }

  override set(serverAtZero: number): void {
    this.#before = this.latest;
    super.set(serverAtZero);
  }

  get shown(): number {
    const { serverAtZero } = this;
    if (serverAtZero === undefined) return this.#time.peek();
    return Math.floor(serverAtZero + this.#time.peekElapsed());
  }

  /** The latest that it has shown: what it is set to may be earlier. */
  get latest(): number {
    return Math.max(this.#before, this.shown);
  }
}
