import type { World } from "./world.ts";

/**
 * One life of a server, a worker or a client. What it asked for happens to it only while it lives,
 * and while it stands still it has to wait.
 */
export class Process {
  readonly name: string;
  /** Of this life. */
  readonly id: string;
  isAlive = true;
  /** By how much its clock is wrong. */
  skew = 0;
  #stillUntil = 0;
  /** What waits until it goes on, in order. */
  #waiting: (() => void)[] = [];
  readonly #world: World;
  readonly #began: number;

  constructor(world: World, { name, id }: { readonly name: string; readonly id: string }) {
    this.name = name;
    this.id = id;
    this.#world = world;
    this.#began = world.now;
  }

  readonly clock = (): number => Math.floor(this.#world.now + this.skew);

  /** Runs on while it stands still, and nobody sets it. */
  readonly monotonic = (): number => this.#world.now - this.#began;

  /** As timers of Node are: never at once. */
  readonly setTimer = (run: () => void, ms: number): (() => void) =>
    this.after(Math.max(1, ms), run);

  get isStill(): boolean {
    return this.#stillUntil > this.#world.now;
  }

  /** Lets something happen to it. */
  after(ms: number, run: () => void): () => void {
    let isCalledOff = false;
    const arrive = () => {
      if (!this.isAlive || isCalledOff) return;
      if (this.isStill) this.#waiting.push(arrive);
      else run();
    };
    const callOff = this.#world.after(ms, arrive);
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
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [i, arrive] of waiting.entries()) this.#world.after(0.001 * i, arrive);
  }

  kill(): void {
    this.isAlive = false;
  }
}
