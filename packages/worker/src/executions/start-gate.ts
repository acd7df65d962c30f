import type { Runner } from "../runners/runner.ts";

/**
 * Whether bodies of tasks may start here. While the server is not heard, an execution may already be
 * another worker's (WRK-8); a worker that will leave soon starts nothing it might not see the end of
 * (WRK-12). Bodies that run are not touched.
 */
export class StartGate {
  /** The runners that have something to do. */
  readonly #runners: () => Iterable<Runner>;
  /** Those that were told to hold. */
  readonly #held: Set<Runner> = new Set();
  #isHeard = false;
  #isLeaving = false;

  constructor(runners: () => Iterable<Runner>) {
    this.#runners = runners;
  }

  /** From now on an execution that has nothing left to do but to start tasks may go. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  setHeard(isHeard: boolean): void {
    if (isHeard === this.#isHeard) return;
    this.#isHeard = isHeard;
    if (this.#isLeaving) return;
    if (isHeard) this.#release();
    else this.#hold();
  }

  /** Nothing starts any more. Executions that have stalled already say so again. */
  leave(): void {
    this.#isLeaving = true;
    this.#hold();
  }

  /** A runner has ended. */
  forget(runner: Runner): void {
    this.#held.delete(runner);
  }

  #hold(): void {
    for (const runner of this.#runners()) {
      this.#held.add(runner);
      runner.post([{ kind: "hold", on: true }]);
    }
  }

  #release(): void {
    for (const runner of this.#held) runner.post([{ kind: "hold", on: false }]);
    this.#held.clear();
  }
}
