import { AsyncLocalStorage } from "node:async_hooks";
import { currentTimedBody, type TimedBody } from "./body.ts";
import type { AnyFunction } from "./replace.ts";

/** Timers of one execution that its code knows by number. */
interface Numbered {
  last: number;
  readonly timers: Map<number, DurableTimer>;
}

// Far above the numbers Node gives its own timers, and the same on every replay.
const FIRST_NUMBER = 2 ** 40;
const numbered = new WeakMap<object, Numbered>();

/** What `setTimeout` and `setInterval` return in a body; takes the place of Node's `Timeout`. */
export class DurableTimer {
  readonly #body: TimedBody;
  readonly #ms: number;
  readonly #repeats: boolean;
  readonly #run: () => void;
  #cancel: (() => void) | undefined;
  #isCleared = false;
  #isRef = true;
  #number: number | undefined;

  constructor(
    body: TimedBody,
    of: { callback: AnyFunction; args: readonly unknown[]; ms: number; repeats: boolean },
  ) {
    this.#body = body;
    this.#ms = of.ms;
    this.#repeats = of.repeats;
    // The callback finds every async context it was set in, not only the engine's.
    this.#run = AsyncLocalStorage.bind(() => this.#fire(of.callback, of.args));
    this.#arm();
  }

  /** The timer of the body with this number. */
  static numbered(body: TimedBody, number: number): DurableTimer | undefined {
    return numbered.get(body.scope.runtime)?.timers.get(number);
  }

  /** Only remembered, for code that asks: no timer of an execution keeps a process alive. */
  ref(): this {
    this.#isRef = true;
    return this;
  }

  unref(): this {
    this.#isRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#isRef;
  }

  /** Starts over: the open sleep is cancelled and a new one begins. */
  refresh(): this {
    if (this.#isCleared) return this;
    if (currentTimedBody()?.scope.runtime !== this.#body.scope.runtime) {
      throw new TypeError(
        "refresh() of a timer that a workflow body made was called outside that body, where a replay would not call it again; refresh it in the body",
      );
    }
    this.#cancel?.();
    this.#arm();
    return this;
  }

  close(): this {
    if (this.#isCleared) return this;
    this.#isCleared = true;
    this.#forget();
    this.#cancel?.();
    this.#cancel = undefined;
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.toPrimitive](): number {
    if (this.#number !== undefined) return this.#number;
    const { runtime } = this.#body.scope;
    const known = numbered.get(runtime) ?? { last: FIRST_NUMBER, timers: new Map() };
    numbered.set(runtime, known);
    this.#number = ++known.last;
    if (!this.#isCleared) known.timers.set(this.#number, this);
    return this.#number;
  }

  #arm(): void {
    const { timer, scope } = this.#body;
    this.#cancel = timer(scope, this.#run, this.#ms);
  }

  #fire(callback: AnyFunction, args: readonly unknown[]): void {
    // The timer was cleared between the end of its sleep and now.
    if (this.#isCleared) return;
    this.#cancel = undefined;
    try {
      Reflect.apply(callback, this, args);
    } finally {
      // Unless the callback cleared or refreshed it. A callback that threw is no reason to stop.
      if (this.#repeats && !this.#isCleared && this.#cancel === undefined) this.#arm();
      else if (!this.#repeats && this.#cancel === undefined) this.#forget();
    }
  }

  #forget(): void {
    if (this.#number === undefined) return;
    numbered.get(this.#body.scope.runtime)?.timers.delete(this.#number);
  }
}
