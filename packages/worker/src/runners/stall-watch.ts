import type { World } from "../world.ts";
import type { Runner } from "./runner.ts";

const TICK_MS = 1000;

export interface StallWatchOptions extends Pick<World, "setTimer"> {
  readonly stallWarnMs: number;
  readonly stuckAfterMs: number;
  /** Once for each time a runner falls silent. */
  onStall(runner: Runner, silentMs: number): void;
  onStuck(runner: Runner, silentMs: number): void;
}

/**
 * Notices runners whose code keeps them from answering (RUN-3). Silence is counted in ticks that
 * were sent and not answered: a worker that was stopped, or busy itself, blames no runner for it.
 */
export class StallWatch {
  readonly #options: StallWatchOptions;
  /** Ticks that each runner has not answered. */
  readonly #unanswered = new Map<Runner, number>();
  #cancel: () => void = () => {};

  constructor(options: StallWatchOptions) {
    this.#options = options;
    this.#wait();
  }

  add(runner: Runner): void {
    this.#unanswered.set(runner, 0);
  }

  remove(runner: Runner): void {
    this.#unanswered.delete(runner);
  }

  answered(runner: Runner): void {
    if (this.#unanswered.has(runner)) this.#unanswered.set(runner, 0);
  }

  /** Whether the runner has let a tick pass: others should get new work first. */
  isSilent(runner: Runner): boolean {
    return (this.#unanswered.get(runner) ?? 0) > 1;
  }

  close(): void {
    this.#cancel();
    this.#unanswered.clear();
  }

  #wait(): void {
    this.#cancel = this.#options.setTimer(() => {
      this.#tick();
      this.#wait();
    }, TICK_MS);
  }

  #tick(): void {
    const { stallWarnMs, stuckAfterMs, onStall, onStuck } = this.#options;
    for (const [runner, unanswered] of [...this.#unanswered]) {
      const silentMs = unanswered * TICK_MS;
      if (silentMs >= stuckAfterMs) {
        onStuck(runner, silentMs);
        continue;
      }
      if (silentMs >= stallWarnMs && silentMs - TICK_MS < stallWarnMs) onStall(runner, silentMs);
      this.#unanswered.set(runner, unanswered + 1);
      runner.post([{ kind: "tick" }]);
    }
  }
}
