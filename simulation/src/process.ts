import { Clock, type ClockOptions } from "./clock.ts";
import type { Arrival, World } from "./world.ts";

export interface ProcessOptions extends ClockOptions {
  readonly name: string;
  readonly id: string;
}

/**
 * One life of a server, a worker or a client. What it asked for happens to it only while it lives, and
 * while it stands still it has to wait.
 */
export class Process {
  readonly name: string;
  /** Of this life. */
  readonly id: string;
  readonly time: Clock;
  isAlive = true;
  #stillUntil = 0;
  /** What waits until it goes on, in order. */
  #waiting: (() => void)[] = [];
  #isGoingOn = false;
  readonly #world: World;

  constructor(world: World, { name, id, random, pace }: ProcessOptions) {
    this.name = name;
    this.id = id;
    this.time = new Clock(world, { random, pace });
    this.#world = world;
  }

  readonly clock = (): number => this.time.read();

  /** Runs on while it stands still, and nobody sets it. */
  readonly monotonic = (): number => this.time.readElapsed();

  /** As timers of Node are: never at once. */
  readonly setTimer = (run: () => void, ms: number): (() => void) =>
    this.after(this.time.ahead + Math.max(1, ms) / this.time.rate, run);

  get isStill(): boolean {
    return this.#stillUntil > this.#world.now;
  }

  /** Lets something happen to it. */
  after(ms: number, run: () => void): () => void {
    return this.#after({ ms, isMessage: false, run });
  }

  /** Lets a message arrive. */
  hear(ms: number, run: () => void): () => void {
    return this.#after({ ms, isMessage: true, run });
  }

  #after({ ms, isMessage, run }: Arrival): () => void {
    let isCalledOff = false;
    const arrive = () => {
      if (this.isAlive && !isCalledOff) run();
    };
    const happens = () => {
      if (!this.isStill && this.#waiting.length === 0) {
        arrive();
        return;
      }
      this.#waiting.push(arrive);
      this.#goOnSoon();
    };
    const callOff = this.#world.afterTo(this, { ms, isMessage, run: happens });
    return () => {
      isCalledOff = true;
      callOff();
    };
  }

  standStill(ms: number): void {
    const until = this.#world.now + ms;
    if (until <= this.#stillUntil) return;
    this.#stillUntil = until;
    this.#world.after(ms, () => {
      if (this.#stillUntil === until) this.goOn();
    });
  }

  goOn(): void {
    this.#stillUntil = 0;
    this.#goOnSoon();
  }

  kill(): void {
    this.isAlive = false;
    this.#waiting = [];
  }

  /** What has waited happens one by one, in order. */
  #goOnSoon(): void {
    if (this.#isGoingOn || this.isStill || this.#waiting.length === 0) return;
    this.#isGoingOn = true;
    this.#world.after(0, () => {
      this.#isGoingOn = false;
      if (!this.isStill) this.#waiting.shift()?.();
      this.#goOnSoon();
    });
  }
}
