/**
 * Whether bodies of tasks may start here. While the server is not heard, an execution may already be
 * another worker's (WRK-8); a worker that will leave soon starts nothing it might not see the end of
 * (WRK-12). Bodies that run are not touched.
 */
export class StartGate {
  /** Tells the runners to hold, or to go on. */
  readonly #hold: (on: boolean) => void;
  #isHeard = false;
  #isLeaving = false;

  constructor(hold: (on: boolean) => void) {
    this.#hold = hold;
  }

  /** From now on an execution that has nothing left to do but to start tasks may go. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  setHeard(isHeard: boolean): void {
    if (isHeard === this.#isHeard) return;
    this.#isHeard = isHeard;
    if (!this.#isLeaving) this.#hold(!isHeard);
  }

  /** Nothing starts any more. Executions that have stalled already say so again. */
  leave(): void {
    this.#isLeaving = true;
    this.#hold(true);
  }
}
