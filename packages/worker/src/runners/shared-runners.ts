import { Backoff } from "../backoff.ts";
import { type World, within } from "../world.ts";
import type { Runner } from "./runner.ts";

/** V8 cannot interrupt every loop, so a thread may withstand. */
const END_MS = 5000;

export interface SharedRunnersOptions extends Pick<World, "setTimer" | "random" | "log"> {
  readonly size: number;
  create(): Runner;
  /** Whether the runner does not answer: others get new work first. */
  isSilent(runner: Runner): boolean;
}

/** Keeps a number of runners alive and spreads executions over them. */
export class SharedRunners {
  readonly #options: SharedRunnersOptions;
  readonly #backoff: Backoff;
  readonly #runners = new Set<Runner>();
  #closed = false;

  constructor(options: SharedRunnersOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    for (let i = 0; i < options.size; i++) this.#add();
  }

  /** The least loaded runner; undefined while none is alive. */
  pick(): Runner | undefined {
    const { isSilent } = this.#options;
    let best: Runner | undefined;
    for (const runner of this.#runners) {
      if (!best || isSilent(best) > isSilent(runner)) best = runner;
      else if (runner.load < best.load && isSilent(runner) === isSilent(best)) best = runner;
    }
    return best;
  }

  /** The program of one of these is loaded. */
  ready(): void {
    this.#backoff.reset();
  }

  /** One of these is beyond help; another one takes its place. */
  end(runner: Runner): void {
    this.#runners.delete(runner);
    void this.#close(runner);
    this.#add();
  }

  /** One of these has ended by itself. */
  died(runner: Runner): void {
    this.#runners.delete(runner);
    if (runner.isReady) this.#add();
    // The runner did not even start: something is wrong with the installation, so do not spin.
    else this.#options.setTimer(() => this.#add(), this.#backoff.next());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#runners].map((runner) => this.#close(runner)));
  }

  async #close(runner: Runner): Promise<void> {
    const { setTimer, log } = this.#options;
    if (await within(setTimer, END_MS, runner.close())) return;
    log.error(
      {},
      "a runner thread does not end: its code cannot be interrupted, and keeps a processor busy until the worker itself is killed",
    );
  }

  #add(): void {
    if (!this.#closed) this.#runners.add(this.#options.create());
  }
}
