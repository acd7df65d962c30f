import type { TaskContext } from "../options.ts";
import type { Call, Runtime, Scope, TaskDefinition } from "../replay/calls/call.ts";
import { currentScope } from "../replay/calls/scope.ts";
import type { Host } from "../replay/port.ts";
import { TaskTimeoutError } from "../task-error.ts";
import type { StandIns } from "./stand-ins.ts";
import { Stillness } from "./stillness.ts";
import { MOMENT_MS, type VirtualClock } from "./virtual-clock.ts";

export interface CopyHostOptions {
  readonly base: Host;
  readonly clock: VirtualClock;
  readonly standIns: StandIns;
  /** Called whenever the copy does something. */
  readonly onMove: () => void;
}

/** A function of the user's that has not returned. */
interface Body {
  readonly call: Call | undefined;
  readonly ctx: TaskContext;
}

/**
 * The world of one copy of an execution. It runs stand-ins for tasks, and knows whether the copy is
 * busy by itself or can only go on when time passes.
 */
export class CopyHost {
  readonly host: Host;
  readonly #options: CopyHostOptions;
  readonly #bodies: Set<Body> = new Set();
  /** Calls that bodies wait for, by the task they were made in. */
  readonly #nested: Map<Call, number> = new Map();
  readonly #timers: Set<() => void> = new Set();
  readonly #definitions: WeakMap<TaskDefinition, TaskDefinition> = new WeakMap();
  readonly #stillness: Stillness = new Stillness({
    hasTurns: () => this.hasTurns,
    isRunning: () => this.isRunning,
  });
  #runtime: Runtime | undefined;
  #turns = 0;
  #isClosed = false;

  constructor(options: CopyHostOptions) {
    this.#options = options;
    const { base } = options;
    this.host = {
      ...base,
      now: () => options.clock.now,
      setTimer: (then, ms) => this.#setTimer(then, ms),
      drain: (then) => this.#drain(then),
      runInScope: (scope, body) => base.runInScope(scope && this.#observed(scope as Scope), body),
    };
  }

  /** The core has asked for another turn: it goes on by itself. */
  get hasTurns(): boolean {
    return !this.#isClosed && this.#turns > 0;
  }

  /** Functions of the user's have not returned, waiting for calls of theirs or not. */
  get hasBodies(): boolean {
    return this.#openBodies().length > 0;
  }

  /** Functions of the user's run. One whose attempt is over by its timeout counts no more. */
  get isRunning(): boolean {
    return this.#openBodies().some(({ call }) => !call || !this.#nested.get(call));
  }

  /** The copy has lost its execution or given it back: what it still does concerns nobody. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #setTimer(then: () => void, ms: number): () => void {
    if (this.#isClosed) return () => {};
    const { base, clock } = this.#options;
    this.#moved();
    const isPast = () => this.#stillness.reached({ patience_ms: MOMENT_MS });
    // Outside any scope: what the core does by itself must not look like user code's doing.
    const cancel = base.runInScope(undefined, () => clock.setTimer(then, ms, isPast));
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  #drain(then: () => void): void {
    this.#turns++;
    this.#options.base.drain(() => {
      this.#turns--;
      if (!this.#isClosed) this.#moved();
      then();
    });
  }

  #moved(): void {
    this.#stillness.moved();
    this.#options.onMove();
  }

  #openBodies(): Body[] {
    if (this.#isClosed) return [];
    return [...this.#bodies].filter(
      ({ call, ctx }) => !call?.isConcluded && !(ctx.signal.reason instanceof TaskTimeoutError),
    );
  }

  /** All scopes of a copy descend from that of its body, and take its runtime along. */
  #observed(scope: Scope): Scope {
    this.#runtime ??= this.#observing(scope.runtime);
    return scope.runtime === this.#runtime ? scope : { ...scope, runtime: this.#runtime };
  }

  #observing(runtime: Runtime): Runtime {
    const nested = (scope: Scope, answer: Promise<unknown>) => this.#waiting(scope, answer);
    return {
      world: runtime.world,
      task: (scope, task, input) =>
        nested(scope, runtime.task(scope, this.#definition(task), input)),
      pause: (scope, spec) => nested(scope, runtime.pause(scope, spec)),
      sleep: (scope, spec) => nested(scope, runtime.sleep(scope, spec)),
      signal: (scope, name, timeout) => nested(scope, runtime.signal(scope, name, timeout)),
      child: (scope, spec) => nested(scope, runtime.child(scope, spec)),
      config: (scope, key) => nested(scope, runtime.config(scope, key)),
      recordedValue: (scope, spec) => nested(scope, runtime.recordedValue(scope, spec)),
      // Its branches may run code of their own; the calls they make are what is waited for.
      combinator: (scope, spec) => runtime.combinator(scope, spec),
      progress: (scope, value) => runtime.progress(scope, value),
      serviceSocket: (name) => runtime.serviceSocket(name),
      inScope: (scope, body) => runtime.inScope(scope, body),
    };
  }

  #definition(task: TaskDefinition): TaskDefinition {
    const { standIns } = this.#options;
    const known = this.#definitions.get(task);
    const definition = known ?? standIns.definition(task, (ctx, run) => this.#run(ctx, run));
    this.#definitions.set(task, definition);
    return definition;
  }

  #run(ctx: TaskContext, run: () => unknown): unknown {
    const body: Body = { call: currentScope()?.task, ctx };
    this.#bodies.add(body);
    this.#moved();
    const over = () => {
      this.#bodies.delete(body);
      this.#moved();
    };
    return (async () => run())().finally(over);
  }

  /** While a call made inside a task is open, the task's function waits rather than runs. */
  #waiting({ task }: Scope, answer: Promise<unknown>): Promise<unknown> {
    if (!task) return answer;
    this.#nested.set(task, (this.#nested.get(task) ?? 0) + 1);
    const over = () => this.#nested.set(task, (this.#nested.get(task) ?? 1) - 1);
    answer.then(over, over);
    return answer;
  }
}
