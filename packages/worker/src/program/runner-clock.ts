import type { World } from "../world.ts";

/**
 * What a runner takes for the time: the server's, which goes on by the machine's clock that nobody
 * sets. So sleeps and the times of events are right on a machine whose own clock is wrong, or is set
 * meanwhile (decision 0029).
 */
export class RunnerClock {
  readonly #machine: Pick<World, "clock" | "monotonic">;
  #serverAtZero: number | undefined;

  /** @param machine The clocks of this machine. */
  constructor(machine: Pick<World, "clock" | "monotonic">) {
    this.#machine = machine;
  }

  /** What the server's clock showed when the machine's was 0; undefined before it was measured. */
  get serverAtZero(): number | undefined {
    return this.#serverAtZero;
  }

  set(serverAtZero: number): void {
    this.#serverAtZero = serverAtZero;
  }

  readonly now = (): number => {
    const { clock, monotonic } = this.#machine;
    if (this.#serverAtZero === undefined) return clock();
    return Math.floor(this.#serverAtZero + monotonic());
  };
}
