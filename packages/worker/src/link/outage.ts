import { messageOf } from "../transient.ts";
import type { World } from "../world.ts";

const LINE_EVERY_MS = 30_000;

/** Tells about a server that stays away, without a line for each of the many tries. */
export class Outage {
  readonly #world: Pick<World, "log" | "monotonic">;
  #lastLine: number | undefined;

  constructor(world: Pick<World, "log" | "monotonic">) {
    this.#world = world;
  }

  failed(error: unknown): void {
    const now = this.#world.monotonic();
    if (this.#lastLine !== undefined && now - this.#lastLine < LINE_EVERY_MS) return;
    this.#lastLine = now;
    this.#world.log.warn({ error: messageOf(error) }, "the server cannot be reached; trying again");
  }

  over(): void {
    if (this.#lastLine === undefined) return;
    this.#lastLine = undefined;
    this.#world.log.info({}, "the server is reached again");
  }
}
