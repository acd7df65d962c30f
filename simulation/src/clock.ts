import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** A clock is right by so much when nobody has touched it. */
const MOST_OFFSET_MS = 15;
/** And runs too fast or too slow by so much of the time that passes. */
const MOST_DRIFT = 0.000_2;
/** So far its owner may get in one go, however often it looks at the time. */
const MOST_AHEAD_MS = 100;

export interface ClockOptions {
  readonly random: Random;
  /** Milliseconds that pass at the most from one reading to the next. */
  readonly pace: number;
}

/**
 * The clock of one participant. Time passes while its owner works: every reading is a little later
 * than the one before. Its owner is then further than the world, which catches up; what happens to it
 * meanwhile happens at its own time, and what it says leaves then. Time that stood still between two
 * readings would hide what is read twice.
 */
export class Clock {
  /** By how much somebody has set it wrong. */
  skew = 0;
  /** Of its own time for each millisecond of true time. */
  readonly rate: number;
  readonly #world: World;
  readonly #random: Random;
  readonly #pace: number;
  readonly #offset: number;
  readonly #began: number;
  #reached = Number.NEGATIVE_INFINITY;

  constructor(world: World, { random, pace }: ClockOptions) {
    this.#world = world;
    this.#random = random;
    this.#pace = pace;
    this.#began = world.now;
    const isRight = pace === 0;
    this.#offset = isRight ? 0 : random.between(-MOST_OFFSET_MS, MOST_OFFSET_MS);
    this.rate = isRight ? 1 : 1 + random.between(-MOST_DRIFT, MOST_DRIFT);
  }

  /** Milliseconds since 1970, by this clock. */
  read(): number {
    this.#pass();
    return this.peek();
  }

  /** What it shows, without anybody taking the time to look. */
  peek(): number {
    const elapsed = (this.reached - this.#began) * this.rate;
    return Math.floor(this.#began + this.#offset + elapsed + this.skew);
  }

  /** Milliseconds since it began to run: nobody sets these. */
  readElapsed(): number {
    this.#pass();
    return this.peekElapsed();
  }

  /** The same without anybody taking the time to look. */
  peekElapsed(): number {
    return (this.reached - this.#began) * this.rate;
  }

  /** The true moment up to which its owner has got. */
  get reached(): number {
    return Math.max(this.#world.now, this.#reached);
  }

  /** By how much its owner is further than the world. */
  get ahead(): number {
    return this.reached - this.#world.now;
  }

  #pass(): void {
    if (this.#pace === 0) return;
    const left = 1 - this.ahead / MOST_AHEAD_MS;
    this.#reached = this.reached + this.#random.between(0, this.#pace) * left;
  }
}
