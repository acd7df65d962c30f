import { RunnerClock } from "@engine/worker/machine";
import type { Process } from "./process.ts";

/** A wait that began before the clock was set back ends by what the clock would have shown. */
const WAITS_MS = 10_000;

/** What the copies of a worker take for the time, read without anybody taking the time to look. */
export class ShownClock extends RunnerClock {
  readonly #time: Process["time"];
  #before = Number.NEGATIVE_INFINITY;
  /** The setting by which it was ahead of the present one, and when that was replaced. */
  #replaced: { readonly serverAtZero: number; readonly elapsed: number } | undefined;

  constructor({ clock, monotonic, time }: Process) {
    super({ clock, monotonic });
    this.#time = time;
  }

  override set(serverAtZero: number): void {
    this.#before = this.latest;
    const { serverAtZero: earlier } = this;
    if (earlier !== undefined && earlier > serverAtZero) {
      this.#replaced = { serverAtZero: earlier, elapsed: this.#time.peekElapsed() };
    }
    super.set(serverAtZero);
  }

  get shown(): number {
    const { serverAtZero } = this;
    if (serverAtZero === undefined) return this.#time.peek();
    return Math.floor(serverAtZero + this.#time.peekElapsed());
  }

  /** The latest that it has shown, or would show to a wait: what it is set to may be earlier. */
  get latest(): number {
    return Math.max(this.#before, this.shown, this.#awaited);
  }

  get #awaited(): number {
    const elapsed = this.#time.peekElapsed();
    if (!this.#replaced || elapsed - this.#replaced.elapsed >= WAITS_MS) return this.shown;
    return Math.floor(this.#replaced.serverAtZero + elapsed);
  }
}
