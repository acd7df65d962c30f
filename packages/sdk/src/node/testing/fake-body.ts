import type { BodyWorld, Scope } from "../../replay/calls/call.ts";
import { nodeHost } from "../host.ts";

interface FakeTimer {
  readonly wake: () => void;
  readonly ms: number;
}

/** A body, and a task and a schema in it, with a world that a test moves by hand. */
export class FakeBody {
  now = 1_000_000_000_000;
  isReplaying = false;
  /** Open durable sleeps, in the order they were made. */
  readonly timers: FakeTimer[] = [];
  readonly warnings: { key: string; message: string }[] = [];
  readonly #host = nodeHost();
  readonly #body: Scope;
  readonly #task: Scope;
  readonly #schema: Scope;
  #seed = 1;

  constructor() {
    const body = this;
    const world: BodyWorld = {
      now: () => this.now,
      random: () => this.#random(),
      timer: (scope, then, ms) => this.#timer(scope, then, ms),
      get isReplaying() {
        return body.isReplaying;
      },
      warn: (key, message) => void this.warnings.push({ key, message }),
    };
    const scope = { runtime: {}, inTask: false, world };
    this.#body = scope as unknown as Scope;
    this.#task = { ...this.#body, inTask: true, world: undefined };
    const aside = "the input schema of task pay";
    const untimed: BodyWorld = { ...world, timer: undefined };
    this.#schema = { ...this.#body, inTask: true, world: untimed, aside };
  }

  inBody<T>(run: () => T): T {
    return this.#host.runInScope(this.#body, run);
  }

  inTask<T>(run: () => T): T {
    return this.#host.runInScope(this.#task, run);
  }

  /** Where there are no sleeps: timers are the machine's own. */
  inSchema<T>(run: () => T): T {
    return this.#host.runInScope(this.#schema, run);
  }

  /** The oldest open sleep is over. */
  fire(): void {
    const timer = this.timers.shift();
    if (!timer) throw new Error("no durable timer is open");
    timer.wake();
  }

  /** Begins again with the same seed, as a replay does. */
  reseed(): void {
    this.#seed = 1;
  }

  /** A linear congruential generator: any sequence will do. */
  #random(): number {
    this.#seed = (Math.imul(this.#seed, 1664525) + 1013904223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  #timer(scope: Scope, then: () => void, ms: number): () => void {
    const timer = { wake: () => this.#host.runInScope(scope, then), ms };
    this.timers.push(timer);
    return () => {
      const index = this.timers.indexOf(timer);
      if (index >= 0) this.timers.splice(index, 1);
    };
  }
}
