import { type Happening, Happenings } from "./happenings.ts";
import type { Random } from "./random.ts";
import type { Trace } from "./trace.ts";

/** Turns of the real event loop that follow every happening at least, before the world is at rest. */
const TURNS = 2;
/** More than anything that ends needs: somebody goes round in circles without time passing. */
const MOST_TURNS = 100_000;
/** What follows from one happening takes some turns; the next may come between any two of these. */
const MOST_EARLY_TURNS = 12;
/** A message that is that near may as well have come by now. */
const NEAR_MS = 3;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Microtasks alone, as they run between two events that the operating system tells at once. */
const microtasks = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

interface WorldOptions {
  readonly random: Random;
  readonly trace: Trace;
  /** How likely something happens before all that follows from the happening before it is done. */
  readonly early: number;
}

/** What comes to a process. */
export interface Arrival {
  readonly ms: number;
  readonly isMessage: boolean;
  readonly run: () => void;
}

/** Work of the real world, which takes its time: nothing else goes on meanwhile. */
interface OutsideWork {
  readonly begin: () => Promise<void>;
}

/**
 * Virtual time and what is going to happen in it. One thing happens at a time. What follows from it
 * without waiting runs in turns of the real event loop, in an order that is the same each time; the
 * next happening comes when that is over, or between two drawn turns of it. So the seed alone decides
 * the order.
 */
export class World {
  /** True time, in milliseconds since 1970. */
  now: number = Date.UTC(2030, 0, 1);
  /** Work under way that needs no virtual time: it is waited for. */
  busy = 0;
  steps = 0;
  readonly trace: Trace;
  readonly #random: Random;
  readonly #turns: Random;
  readonly #early: number;
  readonly #happenings = new Happenings();
  #outside: OutsideWork[] = [];

  constructor({ random, trace, early }: WorldOptions) {
    this.#random = random;
    this.#turns = random.fork("turns");
    this.#early = early;
    this.trace = trace;
  }

  /** Lets something happen after that many milliseconds; the answer calls it off. */
  after(ms: number, run: () => void): () => void {
    return this.#add({ at: this.now + ms, run });
  }

  /** The same to somebody; one that is a message might as well take less time. */
  afterTo(to: object, { ms, isMessage, run }: Arrival): () => void {
    return this.#add({ at: this.now + ms, run, to, isMessage });
  }

  #add(what: Omit<Happening, "order" | "isCalledOff">): () => void {
    const happening: Happening = { ...what, order: this.#random.next(), isCalledOff: false };
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

  /**
   * Does work of the real world, such as that of a database: when everything else is at rest, one
   * after the other, while virtual time waits. So it does not matter how long it takes.
   */
  outside<Value>(work: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#outside.push({ begin: () => work().then(resolve, reject) });
    });
  }

  /** Lets things happen until `isOver`, asked between them. False: nothing is left to happen. */
  async run(isOver: () => boolean): Promise<boolean> {
    await this.#settle();
    let last: Happening | undefined;
    while (!isOver()) {
      const near = last && this.#nearTo(last);
      const next = near ?? this.#happenings.take();
      if (!next) return false;
      if (!near) this.now = Math.max(this.now, next.at);
      this.trace.now = this.now;
      this.steps++;
      next.run();
      last = (await this.#passTurns()) ? next : undefined;
    }
    await this.#settle();
    return true;
  }

  /** Of those to whom something has just happened, and who may be at it: what else is on its way there. */
  #nearTo({ to }: Happening): Happening | undefined {
    if (to === undefined || !this.#turns.chance(0.5)) return undefined;
    return this.#happenings.takeMessage(to, this.now + NEAR_MS);
  }

  /** Some of the turns that the last happening needs, or all of them. @returns Whether some are left. */
  async #passTurns(): Promise<boolean> {
    const isEarly = this.#turns.chance(this.#early);
    const turns = isEarly ? this.#turns.below(MOST_EARLY_TURNS) : 0;
    if (isEarly && this.#outside.length === 0) {
      await microtasks();
      for (let passed = 0; passed < turns; passed++) await turn();
      // Of the real world's work nobody knows how many turns it takes.
      if (this.#outside.length === 0) return true;
    }
    await this.#settle();
    return false;
  }

  async #settle(): Promise<void> {
    let turns = 0;
    for (;;) {
      await turn();
      if (++turns > MOST_TURNS)
        throw new Error("something goes round in circles, and no time passes");
      if (this.busy > 0 || turns < TURNS) continue;
      const next = this.#outside.shift();
      if (!next) return;
      await next.begin();
      turns = 0;
    }
  }
}
