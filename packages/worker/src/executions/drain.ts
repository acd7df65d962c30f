import { draining } from "../failpoints.ts";
import { type World, within } from "../world.ts";
import type { Copies } from "./copy.ts";

export interface DrainOptions extends Pick<World, "setTimer" | "monotonic"> {
  readonly copies: Copies;
  /** Nothing new is taken. Called once. */
  begin(): void;
  /** Half of the time is over: an execution that would start a task goes to another worker instead. */
  startNothing(): void;
  /** The time is over: executions that are left are aborted and go to other workers. */
  releaseAll(): void;
}

/** Lets what runs come to an end before a worker leaves, for as long as there is time (WRK-12). */
export class Drain {
  readonly #options: DrainOptions;
  #halfAt: number = Number.POSITIVE_INFINITY;
  #endAt: number = Number.POSITIVE_INFINITY;
  #sooner: PromiseWithResolvers<void> = Promise.withResolvers();
  #over: Promise<void> | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /**
   * Begins, or makes one that is under way end sooner, never later. Settles when the time is over or
   * nothing is held any more.
   */
  within(ms: number): Promise<void> {
    const now = this.#options.monotonic();
    this.#halfAt = Math.min(this.#halfAt, now + ms / 2);
    this.#endAt = Math.min(this.#endAt, now + ms);
    this.#sooner.resolve();
    this.#sooner = Promise.withResolvers();
    this.#over ??= this.#run();
    return this.#over;
  }

  async #run(): Promise<void> {
    const { begin, startNothing, releaseAll } = this.#options;
    begin();
    if (draining.hasSubscribers) draining.publish({ of: [] });
    if (!(await this.#emptyBy(() => this.#halfAt))) startNothing();
    if (!(await this.#emptyBy(() => this.#endAt))) releaseAll();
  }

  /** Whether nothing is held any more when that time has come. */
  async #emptyBy(time: () => number): Promise<boolean> {
    const { copies, setTimer, monotonic } = this.#options;
    for (;;) {
      if (copies.size === 0) return true;
      const left = time() - monotonic();
      if (left <= 0) return false;
      await within(setTimer, left, Promise.race([copies.empty(), this.#sooner.promise]));
    }
  }
}
