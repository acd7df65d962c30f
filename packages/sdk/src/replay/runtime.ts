import { type CallKind, engineFailure, store } from "@engine/contract";
import { taskError } from "../task-error.ts";
import {
  Call,
  type CombinatorSpec,
  Group,
  type Runtime,
  type Scope,
  type TaskDefinition,
  type ValueSpec,
} from "./call.ts";
import { CallIds } from "./call-ids.ts";
import { type Core, cancelled, scopeWithin } from "./core.ts";
import { nondeterminism, recordedLabel, recordedRef } from "./divergence.ts";
import { toFailure } from "./failure.ts";
import type { RecordedCall } from "./journal.ts";
import { storeOr } from "./stored.ts";
import { TaskAttempts } from "./task-attempts.ts";

/** What a call takes at least: its start, its outcome, and the end of the execution after it. */
const CALL_EVENTS = 3;

/** A call that has an outcome of its own: a user's task, a pause, a recorded value. */
interface LeafSpec {
  readonly name: string;
  readonly kind: CallKind;
  /** What tells it apart from a call of the same name, for the divergence check. */
  readonly label: string | null;
  /** The value of its TASK_STARTED, as stored text; null when it could not be stored. */
  readonly started: string | null;
  /** Carries it out for the first time, or again when the log has no outcome. */
  readonly start: (call: Call) => void;
}

interface Made {
  readonly id: string;
  readonly recorded: RecordedCall | undefined;
}

type Asked = Pick<LeafSpec, "name" | "kind" | "label" | "started">;

/** Carries out the calls that user code makes: finds them in the log, or begins them. */
export class CallRuntime implements Runtime {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  task(scope: Scope, task: TaskDefinition, input: unknown): Promise<unknown> {
    const core = this.#core;
    const { name } = task;
    const maxBytes = core.options.limits.max_value_bytes;
    const of = { maxBytes, task_call_id: null, attempts: 1 };
    const { stored, failure } = storeOr(input, "input", of);
    const start = (call: Call) => {
      if (failure) return core.fail(call, { ...failure, task_call_id: call.id });
      new TaskAttempts(core, { call, task, input: stored })
        .run()
        .catch((error: unknown) => core.fail(call, toFailure(error, { task_call_id: call.id })));
    };
    const started = stored?.text ?? null;
    return this.#leaf(scope, { name, kind: null, label: null, started, start });
  }

  pause(scope: Scope, name: string, output: unknown): Promise<unknown> {
    const core = this.#core;
    const { stored, failure } = storeOr({ name, output: output ?? null }, "pause", {
      maxBytes: core.options.limits.max_value_bytes,
      task_call_id: null,
      attempts: 1,
    });
    const start = (call: Call) => {
      if (failure) return core.fail(call, { ...failure, task_call_id: call.id });
      call.pauseText = stored.text;
      const isOpen = call.recorded?.steps.some((event) => event.type === "TASK_PAUSED");
      if (!isOpen) core.emit(call, "TASK_PAUSED", stored.text);
      core.wait(call);
    };
    const started = stored?.text ?? null;
    return this.#leaf(scope, { name: "pause", kind: "pause", label: name, started, start });
  }

  recordedValue(scope: Scope, { kind, started, take }: ValueSpec): Promise<unknown> {
    const core = this.#core;
    const start = (call: Call) => core.complete(call, store(take(core.options.host), "output"));
    const text = store(started, "input").text;
    return this.#leaf(scope, { name: kind, kind, label: null, started: text, start });
  }

  #leaf(scope: Scope, spec: LeafSpec): Promise<unknown> {
    const core = this.#core;
    if (this.#isOver(scope)) return this.#refused(scope, spec.name);
    const made = this.#identify(scope, spec);
    if (!made) return forever();
    const call = new Call(made.id, { ...spec, scope, recorded: made.recorded });
    const { recorded } = call;
    if (recorded) this.#compareInput(call, recorded, spec.started);
    scope.group.enter(call);
    core.calls.set(call.id, call);
    if (recorded?.outcome) {
      // Inside a task there is no recorded order to keep: the outcome is simply there.
      if (scope.inTask) core.replayNested(call, recorded.outcome);
      return call.promise;
    }
    core.whenLive(() => this.#begin(call, spec));
    return call.promise;
  }

  combinator(scope: Scope, spec: CombinatorSpec): Promise<unknown> {
    const core = this.#core;
    if (this.#isOver(scope)) return this.#refused(scope, spec.name);
    const made = this.#identify(scope, { ...spec, label: null });
    if (!made) return forever();
    const call = new Call(made.id, { ...spec, scope, recorded: made.recorded });
    const isKnown = call.recorded?.outcome !== undefined;
    core.combinators.add(call);
    if (!call.recorded) core.whenLive(() => core.emit(call, "TASK_STARTED", spec.started));

    const group = new Group(scope.group);
    const branches = scopeWithin(call, { ids: new CallIds(call.id), group });
    const close = () => {
      group.close();
      core.combinators.delete(call);
    };
    const conclude = (type: "TASK_COMPLETED" | "TASK_FAILED", value: string): boolean => {
      if (call.isConcluded) return false;
      call.isConcluded = true;
      close();
      // Not waited for: it follows from outcomes that are durable already.
      if (!isKnown) core.whenLive(() => core.emit(call, type, value));
      return true;
    };
    const fail = (error: unknown) => {
      const failure = toFailure(error, { task_call_id: call.id });
      if (conclude("TASK_FAILED", JSON.stringify(failure))) call.reject(taskError(failure));
    };
    spec.run(branches).then(
      (result) => {
        const { stored, failure } = storeOr(result, "output", this.#limits(call));
        if (failure) fail(taskError(failure));
        else if (conclude("TASK_COMPLETED", stored.text)) call.resolve(stored.value);
      },
      (error: unknown) => {
        core.abandon(group, () => fail(error));
      },
    );
    return call.promise;
  }

  progress({ task }: Scope, value: unknown): void {
    if (task && !task.isConcluded && !this.#core.isStopped) this.#core.progress.send(task, value);
  }

  #begin(call: Call, spec: LeafSpec): void {
    const core = this.#core;
    if (call.isConcluded || core.isDoomed || core.isStopped) return;
    if (core.outbox.length + CALL_EVENTS > core.options.limits.max_events) {
      const message = `the log has reached ${core.outbox.length} events, the most an execution may have; split the work into child executions`;
      core.doom(engineFailure("HistoryLimitError", message));
      return;
    }
    if (!call.recorded) core.emit(call, "TASK_STARTED", spec.started ?? "null");
    // It was open when a sibling failed or the body ended, before the copy that ran it was lost.
    if (call.scope.group.isAborted) core.cancel(call);
    else spec.start(call);
  }

  #isOver(scope: Scope): boolean {
    const core = this.#core;
    return core.isBodyOver || core.isDoomed || core.isStopped || scope.group.isAborted;
  }

  /** Branches of a failed sibling learn that they are given up; everything else is over for good. */
  #refused(scope: Scope, name: string): Promise<never> {
    if (this.#core.isBodyOver || scope.inTask || !scope.group.isAborted) return forever();
    const refused = Promise.reject(cancelled({ id: name, name }));
    refused.catch(() => {});
    return refused;
  }

  #limits(call: Call) {
    const maxBytes = this.#core.options.limits.max_value_bytes;
    return { maxBytes, task_call_id: call.id, attempts: 1 };
  }

  inScope<T>(scope: Scope, body: () => T): T {
    return this.#core.options.host.runInScope(scope, body);
  }

  /** The call's id and its record. Undefined: the log has another call here, and all is over. */
  #identify(scope: Scope, asked: Asked): Made | undefined {
    return scope.inTask ? this.#identifyInTask(scope, asked) : this.#identifyInBody(scope, asked);
  }

  #identifyInBody({ ids }: Scope, asked: Asked): Made | undefined {
    const { journal } = this.#core;
    const { position } = ids;
    const id = ids.next(asked.name);
    const recorded = journal.childrenOf(ids.parent_id)[position];
    if (!recorded) return { id, recorded };
    recorded.asked = true;
    const label = recordedLabel(recorded);
    if (recorded.id === id && recorded.kind === asked.kind && label === asked.label) {
      return { id, recorded };
    }
    const found = { task_call_id: id, name: asked.name, label: asked.label };
    this.#core.doom(nondeterminism({ position, expected: recordedRef(recorded), found }));
    return undefined;
  }

  /** In a task, a record serves only the same call with the same input (EXE-30). */
  #identifyInTask({ ids }: Scope, asked: Asked): Made {
    const { journal } = this.#core;
    for (;;) {
      const id = ids.next(asked.name);
      const recorded = journal.calls.get(id);
      if (!recorded) return { id, recorded };
      const isSame = JSON.stringify(recorded.started.value) === (asked.started ?? "null");
      if (isSame && recorded.kind === asked.kind && !recorded.asked) {
        recorded.asked = true;
        return { id, recorded };
      }
    }
  }

  #compareInput(call: Call, recorded: RecordedCall, started: string | null): void {
    const { journal } = this.#core;
    if (call.kind !== null || call.scope.inTask || journal.warned.has(call.id)) return;
    if (JSON.stringify(recorded.started.value) === (started ?? "null")) return;
    journal.warned.add(call.id);
    const message = `${call.id} was called with another argument than the log has; the recorded outcome is used`;
    const { text } = store({ code: "argument_changed", message, task_call_id: call.id }, "value");
    this.#core.whenLive(() => this.#core.emit(undefined, "WORKFLOW_WARNING", text));
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
