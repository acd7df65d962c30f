import { messageOf } from "../transient.ts";
import type { Log } from "../world.ts";

const LINE_EVERY_MS = 30_000;

/** Tells about a server that stays away, without a line for each of the many tries. */
export class Outage {
  readonly #log: Log;
  readonly #monotonic: () => number;
  #lastLine: number | undefined;

  constructor(log: Log, monotonic: () => number) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  failed(error: unknown): void {
    const now = this.#monotonic();
    if (this.#lastLine !== undefined && now - this.#lastLine < LINE_EVERY_MS) return;
    this.#lastLine = now;
    this.#log.warn({ error: messageOf(error) }, "the server cannot be reached; trying again");
  }

  over(): void {
    if (this.#lastLine === undefined) return;
    this.#lastLine = undefined;
    this.#log.info({}, "the server is reached again");
  }
}
