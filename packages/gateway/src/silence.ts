import type { GatewayTiming } from "./timing.ts";

export interface SilenceOptions {
  /** 0 = for ever. */
  readonly ms: number;
  readonly timing: GatewayTiming;
  readonly onSilent: () => void;
}

/**
 * Tells when something that is waited for has been silent for too long. What is not waited for, as
 * while the other side is slow, is never silent. One timer serves any number of pieces.
 */
export class Silence {
  readonly #options: SilenceOptions;
  /** Since when it is waited for. */
  #since: number | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  /** It is waited for, from now on. */
  watch(): void {
    this.#since = this.#options.timing.now();
    if (!this.#cancel && this.#options.ms > 0) this.#arm(this.#options.ms);
  }

  /** It is not waited for. */
  rest(): void {
    this.#since = undefined;
  }

  end(): void {
    this.#since = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(ms: number): void {
    this.#cancel = this.#options.timing.setTimer(() => this.#look(), ms);
  }

  #look(): void {
    this.#cancel = undefined;
    if (this.#since === undefined) return;
    const left = this.#since + this.#options.ms - this.#options.timing.now();
    if (left > 0) this.#arm(left);
    else this.#options.onSilent();
  }
}
