import { Backoff } from "../backoff.ts";
import type { World } from "../world.ts";
import type { Runner } from "./runner.ts";

export interface SingleRunnersOptions extends Pick<World, "setTimer" | "random"> {
  /** Memory of a runner whose workflow asks for no less. */
  readonly memoryMb: number;
  /** Runners that are kept ready. */
  readonly spares: number;
  create(memoryMb: number): Runner;
}

/** A runner for each execution, as a rule a child process, and some that wait for one. */
export class SingleRunners {
  readonly #options: SingleRunnersOptions;
  readonly #backoff: Backoff;
  readonly #spares = new Set<Runner>();
  /** Every runner that was started and has not ended, those on their way out too. */
  readonly #alive = new Set<Runner>();
  /** No runner is started for a while: the last one did not even come up. */
  #isResting = false;
  #closed = false;

  constructor(options: SingleRunnersOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    this.#fill(options.spares);
  }

  /** A runner for one execution; undefined while none can be started. */
  pick(memoryMb: number = Number.POSITIVE_INFINITY): Runner | undefined {
    const limit = Math.min(memoryMb, this.#options.memoryMb);
    // How much a process may use is set when it starts: a limit of its own rules out a spare.
    const spare = limit === this.#options.memoryMb ? this.#readiest() : undefined;
    if (!spare) return this.#isResting ? undefined : this.#start(limit);
    this.#spares.delete(spare);
    // After the execution has begun: starting a process keeps this thread busy for a while.
    this.#options.setTimer(() => this.#fill(this.#options.spares), 0);
    return spare;
  }

  /** The program of one of these is loaded. */
  ready(): void {
    this.#backoff.reset();
  }

  /** The execution of one of these is over or beyond help. */
  end(runner: Runner): void {
    void runner.close().finally(() => this.#alive.delete(runner));
  }

  /** One of these has ended by itself. */
  died(runner: Runner): void {
    const { setTimer, spares } = this.#options;
    this.#spares.delete(runner);
    // Processes that the runner has started are still being ended.
    this.end(runner);
    if (runner.isReady) {
      this.#fill(spares);
      return;
    }
    // The runner did not even start: something is wrong with the installation, so do not spin. The
    // next one, after a while, shows whether that is over.
    this.#isResting = true;
    setTimer(() => {
      this.#isResting = false;
      this.#fill(Math.max(1, spares));
    }, this.#backoff.next());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#alive].map((runner) => runner.close()));
  }

  #readiest(): Runner | undefined {
    const spares = [...this.#spares];
    return spares.find(({ isReady }) => isReady) ?? spares[0];
  }

  #fill(count: number): void {
    while (!this.#closed && !this.#isResting && this.#spares.size < count) {
      this.#spares.add(this.#start(this.#options.memoryMb));
    }
  }

  #start(memoryMb: number): Runner {
    const runner = this.#options.create(memoryMb);
    this.#alive.add(runner);
    return runner;
  }
}
