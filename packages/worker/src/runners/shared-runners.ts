import { Backoff } from "../backoff.ts";
import { type Log, type SetTimer, within } from "../world.ts";
import type { FromRunner } from "./messages.ts";
import type { Runner, RunnerEvents } from "./runner.ts";

/** V8 cannot interrupt every loop, so a thread may withstand. */
const END_MS = 5000;

export interface SharedRunnersOptions {
  readonly size: number;
  readonly setTimer: SetTimer;
  readonly random: () => number;
  readonly log: Log;
  readonly events: RunnerEvents;
  create(events: RunnerEvents): Runner;
  /** It does not answer: others get new work first. */
  isSilent(runner: Runner): boolean;
}

/** Keeps a number of runners alive and spreads executions over them. */
export class SharedRunners {
  readonly #options: SharedRunnersOptions;
  readonly #backoff: Backoff;
  readonly #runners = new Set<Runner>();
  readonly #ready = new Set<Runner>();
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

  /** Ends one that is beyond help; another one takes its place. */
  replace(runner: Runner): void {
    if (!this.#runners.has(runner)) return;
    this.#remove(runner);
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
    const runner = this.#options.create({
      message: (from, message) => this.#message(from, message),
      died: (from, why) => this.#died(from, why),
    });
    this.#runners.add(runner);
  }

  #remove(runner: Runner): boolean {
    this.#runners.delete(runner);
    return this.#ready.delete(runner);
  }

  #message(runner: Runner, message: FromRunner): void {
    if (message.kind === "ready") {
      this.#ready.add(runner);
      this.#backoff.reset();
    }
    this.#options.events.message(runner, message);
  }

  #died(runner: Runner, why: string): void {
    const { events, setTimer } = this.#options;
    const wasReady = this.#remove(runner);
    if (this.#closed) return;
    if (wasReady) this.#add();
    // It did not even start: something is wrong with the installation, so do not spin.
    else setTimer(() => this.#add(), this.#backoff.next());
    events.died(runner, why);
  }
}
