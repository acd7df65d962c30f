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
  /** What has to wait keeps its order. */
  #waiting = 0;
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
    let callOff = () => {};
    const arrive = () => {
      if (!this.isAlive) return;
      if (!this.isStill) run();
      else {
        const order = 0.001 * ++this.#waiting;
        callOff = this.#world.after(this.#stillUntil - this.#world.now + order, arrive);
      }
    };
    callOff = this.#world.after(ms, arrive);
    return () => callOff();
  }

  standStill(ms: number): void {
    this.#waiting = 0;
    this.#stillUntil = Math.max(this.#stillUntil, this.#world.now + ms);
  }

  goOn(): void {
    this.#stillUntil = 0;
  }

  kill(): void {
    this.isAlive = false;
  }
}
