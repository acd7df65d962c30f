import { delay, type World } from "../world.ts";
import type { MachineTrouble } from "./machine-trouble.ts";

const RETRY_MS = 2_000;

export interface ReadinessOptions extends Pick<World, "setTimer" | "life"> {
  onChange(isReady: boolean, trouble: MachineTrouble): void;
}

/**
 * Whether executions can begin here. Once the machine has not let one, the same is tried again and
 * again, and the worker takes nothing before it works.
 */
export class Readiness {
  readonly #options: ReadinessOptions;
  #trouble: MachineTrouble | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#trouble === undefined;
  }

  /** Of several troubles at a time the first is the one whose cure is tried. */
  troubled(trouble: MachineTrouble): void {
    if (this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onChange(false, trouble);
    void this.#untilOver(trouble);
  }

  async #untilOver(trouble: MachineTrouble): Promise<void> {
    const { setTimer, life, onChange } = this.#options;
    for (;;) {
      await delay(setTimer, RETRY_MS, life);
      if (life.aborted) return;
      const isOver = trouble.tryAgain().then(
        () => true,
        () => false,
      );
      if (await isOver) break;
    }
    this.#trouble = undefined;
    onChange(true, trouble);
  }
}
