import type { World } from "../world.ts";

export interface SilenceOptions extends Pick<World, "setTimer" | "monotonic"> {
  readonly longestMs: number;
}

/**
 * Tells when nothing has been heard for too long, by a clock that runs on while the process is
 * stopped: what was waiting to be read when it goes on comes too late (WRK-8).
 */
export class Silence {
  /** Settles when nothing was heard for too long; not any more once it was ended. */
  readonly tooLong: Promise<void>;
  readonly #options: SilenceOptions;
  readonly #over: () => void;
  #since: number;
  #isTooLong = false;
  #cancel: () => void = () => {};

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#since = options.monotonic();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tooLong = promise;
    this.#over = resolve;
    this.#look();
  }

  /** Something was heard. False: too late. */
  heard(): boolean {
    if (this.#left() <= 0) this.#end();
    else this.#since = this.#options.monotonic();
    return !this.#isTooLong;
  }

  end(): void {
    this.#cancel();
  }

  #look(): void {
    const left = this.#left();
    if (left <= 0) this.#end();
    else this.#cancel = this.#options.setTimer(() => this.#look(), Math.ceil(left));
  }

  #end(): void {
    this.#isTooLong = true;
    this.#cancel();
    this.#over();
  }

  #left(): number {
    const { longestMs, monotonic } = this.#options;
    return longestMs - (monotonic() - this.#since);
  }
}
