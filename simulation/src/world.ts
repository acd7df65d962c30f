import { type Happening, Happenings } from "./happenings.ts";
import type { Random } from "./random.ts";
import type { Trace } from "./trace.ts";

/** Turns of the real event loop that follow every happening at least. */
const TURNS = 2;
/** More than anything that ends needs: somebody goes round in circles without time passing. */
const MOST_TURNS = 100_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Virtual time and what is going to happen in it. One thing happens at a time, and all that follows
 * from it without waiting runs before the next: so the seed alone decides the order.
 */
export class World {
  /** True time, in milliseconds since 1970. */
  now: number = Date.UTC(2030, 0, 1);
  /** Work under way that needs no virtual time: it is waited for. */
  busy = 0;
  steps = 0;
  readonly trace: Trace;
  readonly #random: Random;
  readonly #happenings = new Happenings();

  constructor({ random, trace }: { readonly random: Random; readonly trace: Trace }) {
    this.#random = random;
    this.trace = trace;
  }

  /** Lets something happen after that many milliseconds; the answer calls it off. */
  after(ms: number, run: () => void): () => void {
    const at = this.now + ms;
    const happening: Happening = { at, order: this.#random.next(), run, isCalledOff: false };
    this.#happenings.add(happening);
    return () => {
      happening.isCalledOff = true;
    };
  }

  /** Counts as work under way until it settles. */
  async during<Value>(work: Promise<Value>): Promise<Value> {
    this.busy++;
    try {
      return await work;
    } finally {
      this.busy--;
    }
  }

  /** Lets things happen until `isOver`, asked between them. False: nothing is left to happen. */
  async run(isOver: () => boolean): Promise<boolean> {
    await this.#settle();
    while (!isOver()) {
      const next = this.#happenings.take();
      if (!next) return false;
      this.now = Math.max(this.now, next.at);
      this.trace.now = this.now;
      this.steps++;
      next.run();
      await this.#settle();
    }
    return true;
  }

  async #settle(): Promise<void> {
    let turns = 0;
    do {
      await turn();
      if (++turns > MOST_TURNS)
        throw new Error("something goes round in circles, and no time passes");
    } while (this.busy > 0 || turns < TURNS);
  }
}
