import { EngineError, store, withoutMessage } from "@engine/contract";
import type { OutputStorage } from "../options.ts";
import { taskError } from "../task-error.ts";
import { asideOf } from "./calls/aside.ts";
import {
  type BodyTimer,
  type BodyWorld,
  Call,
  CallGroup,
  type ChildSpec,
  type CombinatorSpec,
  type PauseSpec,
  type Runtime,
  type Scope,
  type SleepSpec,
  scopeWithin,
  type TaskDefinition,
  type ValueSpec,
} from "./calls/call.ts";
import { CallIds } from "./calls/call-ids.ts";
import { compareInput, identify } from "./calls/call-matching.ts";
import {
  type Begun,
  childSpec,
  configSpec,
  type LeafSpec,
  pauseSpec,
  signalSpec,
  sleepSpec,
} from "./calls/waits.ts";
import type { Core, Sending } from "./core.ts";
import { cancelled, toFailure } from "./endings/failure.ts";
import { changed, keepOrigin, metaOf } from "./endings/failure-stacks.ts";
import { STORED_NULL } from "./log/event-entry.ts";
import { isFull, warnOfLength } from "./log/history-limit.ts";
import { storeOr } from "./stored.ts";
import { socketPath } from "./tasks/service-socket.ts";
import { TaskAttempts } from "./tasks/task-attempts.ts";
import type { Declared } from "./tasks/task-provisions.ts";
import { TaskUnwinding } from "./tasks/task-unwinding.ts";
import { World } from "./world.ts";

/** What a call takes at least: its start, its outcome, and the end of the execution after it. */
const CALL_EVENTS = 3;

/** Carries out the calls that user code makes: finds them in the log, or begins them. */
export class CallRuntime implements Runtime {
  readonly world: BodyWorld;
  readonly #core: Core;
  readonly #declared: Declared;
  /** The functions of the tasks called so far, by name. */
  readonly #tasks: Map<string, TaskDefinition["fn"]> = new Map();
  /** Names of pauses whose outcome the code has not received. */
  readonly #pauses: Set<string> = new Set();

  /** @param declared Secrets and configs that count as declared by every task. */
  constructor(core: Core, declared: Declared) {
    this.#core = core;
    this.#declared = declared;
    this.world = new World(core, {
      seed: core.options.info.seed,
      now: () => core.log.time,
      timer: this.#timer,
    });
  }

  task(scope: Scope, task: TaskDefinition, input: unknown): Promise<unknown> {
    const core = this.#core;
    const { name, options } = task;
    this.#refuseSecond(task);
    const { traceOf } = core.failures;
    const { stored, failure } = storeOr(core, input, "input", { traceOf });
    // What a schema of the task takes for the present: equal on a replay.
    const clock = core.log.time;
    const of = (call: Call) => {
      return { call, task, input: stored ?? NO_INPUT, declared: this.#declared, clock };
    };
    const start = (call: Call) => {
      if (failure) return core.fail(call, changed(failure, { task_call_id: call.id }));
      new TaskAttempts(core, of(call)).run().catch((error) => {
        const broken = core.failures.from(error, { task_call_id: call.id });
        core.fail(call, options.sensitive ? changed(broken, withoutMessage(broken)) : broken);
      });
    };
    const { rollback, outputStorage } = options;
    const spec: LeafSpec = { name, kind: null, label: null, started: stored?.text ?? null, start };
    return this.#leaf(scope, spec, (call) => {
      if (options.sensitive) hide(call);
      if (rollback && stored) call.unwind = () => new TaskUnwinding(core, of(call)).run();
      if (call.recorded?.children.length)
        call.reach = () => new TaskUnwinding(core, of(call)).reach();
      if (typeof outputStorage === "object") call.retrieve = this.#retriever(scope, outputStorage);
    });
  }

  /** Reads an outcome back from a storage of the user's. */
  #retriever(scope: Scope, storage: OutputStorage): NonNullable<Call["retrieve"]> {
    const aside = asideOf(scope, "an outputStorage");
    return async (reference) => this.inScope(aside, () => storage.retrieve(reference));
  }

  pause(scope: Scope, spec: PauseSpec): Promise<unknown> {
    const { name } = spec;
    if (this.#pauses.has(name)) {
      throw new TypeError(
        `pause "${name}" is open already: a resume could not tell the two apart; give this one another name, or await the first before`,
      );
    }
    this.#pauses.add(name);
    const answer = this.#leaf(scope, pauseSpec(this.#core, spec));
    const closed = () => this.#pauses.delete(name);
    answer.then(closed, closed);
    return answer;
  }

  sleep(scope: Scope, spec: SleepSpec): Promise<unknown> {
    return this.#leaf(scope, sleepSpec(this.#core, spec));
  }

  signal(scope: Scope, name: string, timeout: number | undefined): Promise<unknown> {
    return this.#leaf(scope, signalSpec(this.#core, name, timeout));
  }

  child(scope: Scope, spec: ChildSpec): Promise<unknown> {
    const { outputStorage } = spec;
    return this.#leaf(scope, childSpec(this.#core, spec), (call) => {
      if (outputStorage) call.retrieve = this.#retriever(scope, outputStorage);
    });
  }

  config(scope: Scope, key: string): Promise<unknown> {
    return this.#leaf(scope, configSpec(this.#core, key));
  }

  recordedValue(scope: Scope, { kind, started, take }: ValueSpec): Promise<unknown> {
    const core = this.#core;
    const start = (call: Call) => core.complete(call, store(take(core.options.host), "output"));
    const text = store(started, "input").text;
    return this.#leaf(scope, { name: kind, kind, label: null, started: text, start });
  }

  /** A timer of the body's is a sleep whose end runs a function (EXE-31). */
  readonly #timer: BodyTimer = (scope, then, ms, onCancel) => {
    const core = this.#core;
    let made: Call | undefined;
    const slept = this.#leaf(scope, sleepSpec(core, { ms }), (call) => {
      made = call;
    });
    slept.then(
      () => {
        if (!made?.isGivenUp) this.inScope(scope, then);
      },
      (error: unknown) => {
        if (made?.isGivenUp) return;
        if (onCancel) this.inScope(scope, () => onCancel(error));
        // Nothing can tell code that waits for a callback: it goes no further.
        else core.cancellation?.lostTimer();
      },
    );
    return () => {
      const call = made;
      if (!call || call.isGivenUp) return;
      call.isGivenUp = true;
      // While the log is replayed the outcome of the sleep may be on the way; then that counts.
      core.whenLive(() => {
        if (call.isBegun) core.givingUp.cancel(call);
      });
    };
  };

  #leaf(scope: Scope, spec: LeafSpec, prepare?: (call: Call) => void): Promise<unknown> {
    const core = this.#core;
    if (this.#isOver(scope)) return this.#refused(scope, spec.name);
    const made = identify(core, scope, spec);
    if (!made) return forever();
    const call = new Call(made.id, { ...spec, scope, recorded: made.recorded });
    prepare?.(call);
    if (scope.reach) return scope.reach.arrive(call);
    compareInput(core, call, spec.started);
    scope.group.enter(call);
    core.calls.set(call.id, call);
    const { outcome } = call.recorded ?? {};
    if (outcome) {
      // Inside a task there is no recorded order to keep: the outcome is simply there.
      if (scope.inTask) core.replayNested(call, outcome);
      return call.promise;
    }
    core.whenLive(() => this.#begin(call, spec));
    return call.promise;
  }

  combinator(scope: Scope, spec: CombinatorSpec): Promise<unknown> {
    const core = this.#core;
    const { kind, label = null, started } = spec;
    if (this.#isOver(scope)) return this.#refused(scope, kind);
    const made = identify(core, scope, { name: kind, kind, label, started });
    if (!made) return forever();
    const call = new Call(made.id, { name: kind, kind, scope, recorded: made.recorded });
    const isKnown = call.recorded?.outcome !== undefined;
    core.givingUp.combinators.add(call);
    call.isBegun = call.recorded !== undefined;
    core.whenLive(() => {
      // A combinator that is made while a cancel unwinds never begins.
      if (call.isBegun || core.isCancelled || isFull(core, CALL_EVENTS)) return;
      call.isBegun = true;
      core.emit(call, "TASK_STARTED", started);
    });

    const group = new CallGroup(scope.group);
    const branches = scopeWithin(call, { ids: new CallIds(call.id), group });
    const conclude = (
      type: "TASK_COMPLETED" | "TASK_FAILED",
      value: string,
      metaOfOutcome: () => Sending["meta"] = () => undefined,
    ): boolean => {
      if (call.isConcluded) return false;
      call.isConcluded = true;
      core.givingUp.combinators.delete(call);
      // Not waited for: the outcome follows from outcomes that are durable already.
      if (!isKnown) {
        core.whenLive(() => {
          if (call.isBegun) core.emit(call, type, value, { meta: metaOfOutcome() });
        });
      }
      return true;
    };
    const fail = (error: unknown) => {
      // The failure is made anew in every pass, so it names no line; the log has its stack beside it.
      const failure = toFailure(error, { task_call_id: call.id });
      const traced = () => metaOf(core.failures.from(error));
      if (!conclude("TASK_FAILED", JSON.stringify(failure), traced)) return;
      call.reject(keepOrigin(taskError(failure), error));
    };
    spec.run(branches).then(
      (result) => {
        const { stored, failure } = storeOr(core, result, "output", { task_call_id: call.id });
        if (failure) fail(taskError(failure));
        else if (conclude("TASK_COMPLETED", stored.text)) call.resolve(stored.value);
      },
      (error: unknown) => {
        core.givingUp.abandon(group, () => fail(error));
      },
    );
    return call.promise;
  }

  progress({ task }: Scope, value: unknown): void {
    if (task && !task.isConcluded && !this.#core.isStopped) this.#core.progress.send(task, value);
  }

  serviceSocket(name: string): string {
    return socketPath(this.#core.options.port.localServices?.(), name);
  }

  #begin(call: Call, spec: LeafSpec): void {
    const core = this.#core;
    if (call.isConcluded || core.isDoomed || core.isStopped) return;
    const isHeard = core.cancellation !== undefined || core.isBodyOver;
    if (core.isCancelled && !isHeard && !call.recorded) {
      // The code must not hear of the cancel before its turn: no replay would tell it so early.
      core.releases.push(() => this.#begin(call, spec));
      return;
    }
    if (core.isCancelled && !call.recorded) {
      // A call made while the cancel was on its way never began, so there is nothing to record.
      core.givingUp.refuse(call);
      return;
    }
    if (isFull(core, CALL_EVENTS)) return;
    warnOfLength(core);
    call.isBegun = true;
    if (!call.recorded) {
      const begun = spec.begin?.() ?? { value: spec.started ?? STORED_NULL };
      const { value, meta } = begun;
      // A start that its own commit may answer is waited for before anything is parked.
      const onDurable = spec.begun && (() => spec.begun?.(call, begun));
      core.emit(call, "TASK_STARTED", value, { meta, onDurable, routing: spec.routing });
      this.#start(call, spec, begun);
    } else if (call.scope.group.isAborted || core.cancellation || core.isBodyOver) {
      // The call was open when a sibling failed, the body ended or a cancel came, before the copy that
      // ran it was lost.
      core.givingUp.cancel(call);
    } else {
      const { value, meta } = call.recorded.started;
      // Only calls that depend on when they begin look at what their start said.
      const begun = { value: spec.begin ? JSON.stringify(value) : STORED_NULL, meta: meta ?? {} };
      this.#start(call, spec, begun);
      spec.begun?.(call, begun);
    }
    if (call.isGivenUp) core.givingUp.cancel(call);
  }

  /** Runs the engine's work for a call outside of the scope of the code that made the call. */
  #start(call: Call, spec: LeafSpec, begun: Begun): void {
    this.#core.options.host.runInScope(undefined, () => spec.start(call, begun));
  }

  #isOver(scope: Scope): boolean {
    const core = this.#core;
    const isGivenUp = scope.reach ? scope.reach.isOver : scope.group.isAborted;
    return core.isBodyOver || core.isDoomed || core.isStopped || isGivenUp;
  }

  /** Branches of a failed sibling learn that they are given up; other promises never settle. */
  #refused(scope: Scope, name: string): Promise<never> {
    const { isBodyOver, isDoomed, isStopped } = this.#core;
    // A copy that is over must not make its code believe that a sibling failed: it would go on.
    if (isBodyOver || isDoomed || isStopped || !scope.group.isAborted) return forever();
    const refused = Promise.reject(cancelled({ id: name }));
    refused.catch(() => {});
    return refused;
  }

  /** Ids count by name, so that two tasks of one name would take each other's results. */
  #refuseSecond({ name, fn }: TaskDefinition): void {
    const known = this.#tasks.get(name);
    if (known === undefined) this.#tasks.set(name, fn);
    else if (known !== fn && known.toString() !== fn.toString()) {
      throw new EngineError(
        "invalid_definition",
        `two tasks are named ${name} and run different functions: the log tells calls apart by name; rename one of them`,
      );
    }
  }

  inScope<T>(scope: Scope, body: () => T): T {
    return this.#core.options.host.runInScope(scope, body);
  }
}

const NO_INPUT = { text: STORED_NULL, value: null };

function forever(): Promise<never> {
  return new Promise(() => {});
}

/** What a sensitive task gives is in the results of the combinators around it, too. */
function hide(task: Call): void {
  task.isSensitive = true;
  const { parent } = task.scope;
  for (let above = parent; above && above.kind !== null; above = above.scope.parent) {
    above.isSensitive = true;
  }
}
