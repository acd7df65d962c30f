import { Backoff } from "./backoff.ts";
import type { FromRunner } from "./messages.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import type { Log, SetTimer } from "./world.ts";

export interface RunnerPoolOptions {
  readonly size: number;
  readonly setTimer: SetTimer;
  readonly random: () => number;
  readonly log: Log;
  readonly events: RunnerEvents;
  create(events: RunnerEvents): Runner;
}

/** Keeps a number of runners alive and spreads executions over them. */
export class RunnerPool {
  readonly #options: RunnerPoolOptions;
  readonly #backoff: Backoff;
  readonly #runners = new Set<Runner>();
  readonly #ready = new Set<Runner>();
  #closed = false;

  constructor(options: RunnerPoolOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    for (let i = 0; i < options.size; i++) this.#add();
  }

  /** The least loaded runner; undefined while none is alive. */
  pick(): Runner | undefined {
    let best: Runner | undefined;
    for (const runner of this.#runners) if (!best || runner.load < best.load) best = runner;
    return best;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#runners].map((runner) => runner.close()));
  }

  #add(): void {
    const runner = this.#options.create({
      message: (from, message) => this.#message(from, message),
      died: (from, why) => this.#died(from, why),
    });
    this.#runners.add(runner);
  }

  #message(runner: Runner, message: FromRunner): void {
    if (message.kind === "ready") {
      this.#ready.add(runner);
      this.#backoff.reset();
    }
    this.#options.events.message(runner, message);
  }

  #died(runner: Runner, why: string): void {
    const { log, events, setTimer } = this.#options;
    this.#runners.delete(runner);
    const wasReady = this.#ready.delete(runner);
    if (this.#closed) return;
    log.error(
      { why, executions: runner.load },
      "a runner thread has died; another one replaces it",
    );
    if (wasReady) this.#add();
    // It did not even start: something is wrong with the installation, so do not spin.
    else setTimer(() => this.#closed || this.#add(), this.#backoff.next());
    events.died(runner, why);
  }
}
