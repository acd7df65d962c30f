import { Backoff } from "../backoff.ts";
import { type Log, type SetTimer, within } from "../world.ts";
import type { Runner, RunnerEvents } from "./runner.ts";

/** V8 cannot interrupt every loop, so a thread may withstand. */
const END_MS = 5000;

export interface SharedRunnersOptions {
  readonly size: number;
  readonly setTimer: SetTimer;
  readonly random: () => number;
  readonly log: Log;
  readonly died: RunnerEvents["died"];
  create(died: RunnerEvents["died"]): Runner;
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

  /** The program of a runner, perhaps one of these, is loaded. */
  ready(runner: Runner): void {
    if (this.#runners.has(runner)) this.#backoff.reset();
  }

  /** Ends a runner that is beyond help; another one takes its place. */
  replace(runner: Runner): void {
    if (!this.#runners.delete(runner)) return;
    void this.#end(runner);
    this.#add();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#runners].map((runner) => this.#end(runner)));
  }

  async #end(runner: Runner): Promise<void> {
    const { setTimer, log } = this.#options;
    if (await within(setTimer, END_MS, runner.close())) return;
    log.error(
      {},
      "a runner thread does not end: its code cannot be interrupted, and keeps a processor busy until the worker itself is killed",
    );
  }

  #add(): void {
    if (this.#closed) return;
    this.#runners.add(this.#options.create((runner, why) => this.#died(runner, why)));
  }

  #died(runner: Runner, why: string): void {
    const { died, setTimer } = this.#options;
    this.#runners.delete(runner);
    if (this.#closed) return;
    if (runner.isReady) this.#add();
    // The runner did not even start: something is wrong with the installation, so do not spin.
    else setTimer(() => this.#add(), this.#backoff.next());
    died(runner, why);
  }
}
