/**
 * The vocabulary of the replay core: a {@link Call}, the {@link Scope} it is made in, the
 * {@link CallGroup} it is given up with, and the {@link Runtime} that carries it out. They name each
 * other, which is why they share a file.
 */
import type { CallKind, Failure, StoredReference } from "@engine/contract";
import type { OutputStorage, TaskContext, TaskOptions } from "../../options.ts";
import type { RecordedCall } from "../log/journal.ts";
import type { Host } from "../port.ts";
import type { BodyRoom } from "../tasks/body-room.ts";
import type { CallIds } from "./call-ids.ts";

/** A call whose outcome follows from its branches, which run again on every replay. */
export interface CombinatorSpec {
  readonly kind: "parallel" | "map" | "pipeline" | "graph";
  /** The name of a graph; nothing for other combinators. */
  readonly label?: string;
  readonly started: string;
  /** Runs the branches inside `scope`; its result or first failure becomes the call's. */
  readonly run: (scope: Scope) => Promise<unknown>;
}

export interface ValueSpec {
  readonly kind: "now" | "random" | "uuid";
  readonly started: unknown;
  readonly take: (host: Host) => unknown;
}

export interface PauseSpec {
  readonly name: string;
  readonly output: unknown;
  /** Milliseconds since 1970, or from now. */
  readonly until?: number | undefined;
  readonly after?: number | undefined;
  /** Id of the execution whose end ends the pause. */
  readonly onComplete?: string | undefined;
}

/** Milliseconds since 1970, or from now on. */
export type SleepSpec = { readonly until: number } | { readonly ms: number };

/** A child to start. */
export interface ChildSpec {
  /** `<namespace>/<name>`. */
  readonly workflow: string;
  readonly input: unknown;
  readonly version: number | undefined;
  readonly wait: boolean;
  readonly detach: boolean;
  readonly name: string | undefined;
  /** As the code gives it, unchecked. */
  readonly routingInput: unknown;
  /** Set where the output of the target lies in a storage of its own. */
  readonly outputStorage: OutputStorage | undefined;
}

/**
 * A durable timer; returns what cancels it.
 *
 * @param onCancel Runs in place of `then` when a cancel of the execution ends the timer.
 */
export type BodyTimer = (
  scope: Scope,
  then: () => void,
  ms: number,
  onCancel?: (error: unknown) => void,
) => () => void;

/** The world as the workflow's own code sees it (EXE-31): equal on every replay. */
export interface BodyWorld {
  /** Milliseconds since 1970: the time of the newest event the body has received. */
  now(): number;
  /** From 0 up to 1, seeded. */
  random(): number;
  /**
   * Without one timers are the machine's own: code that runs aside of the body has nothing to record
   * a sleep in.
   */
  readonly timer?: BodyTimer | undefined;
  /** The log is being replayed: what the body prints was printed before. */
  readonly isReplaying: boolean;
  /** For the worker's own log; once per execution and key. */
  warn(key: string, message: string): void;
}

/** A user's task as the core runs it. */
export interface TaskDefinition {
  readonly name: string;
  readonly options: TaskOptions<unknown, unknown>;
  readonly fn: (input: unknown, ctx: TaskContext) => unknown;
}

/** What the authoring functions ask of the execution they are called in. */
export interface Runtime {
  task(scope: Scope, task: TaskDefinition, input: unknown): Promise<unknown>;
  pause(scope: Scope, spec: PauseSpec): Promise<unknown>;
  sleep(scope: Scope, spec: SleepSpec): Promise<unknown>;
  /** @param timeout Milliseconds; undefined waits for ever. */
  signal(scope: Scope, name: string, timeout: number | undefined): Promise<unknown>;
  child(scope: Scope, spec: ChildSpec): Promise<unknown>;
  config(scope: Scope, key: string): Promise<unknown>;
  readonly world: BodyWorld;
  /** A value of the real world, taken once and recorded: `now`, `random`, `uuid`. */
  recordedValue(scope: Scope, spec: ValueSpec): Promise<unknown>;
  combinator(scope: Scope, spec: CombinatorSpec): Promise<unknown>;
  progress(scope: Scope, value: unknown): void;
  /** The path of a local socket; throws where task code may not use it. */
  serviceSocket(name: string): string;
  /** Runs user code so that the calls it makes are found to be made in this scope. */
  inScope<T>(scope: Scope, body: () => T): T;
}

/** Where in an execution a piece of user code runs; travels with it across awaits. */
export interface Scope {
  readonly runtime: Runtime;
  /** The enclosing call; undefined in the workflow's own body. */
  readonly parent: Call | undefined;
  readonly ids: CallIds;
  readonly group: CallGroup;
  /** Inside a user's task: the code need not be deterministic (EXE-30). */
  readonly inTask: boolean;
  /** What clock, randomness and timers are here; undefined: the real ones. */
  readonly world: BodyWorld | undefined;
  /** Code that may not make calls, in words: the input schema of a task, say. */
  readonly aside?: string | undefined;
  /** The nearest enclosing user task, which progress values are said to come from. */
  readonly task: Call | undefined;
  /** Takes the calls of a body that runs again after a cancel. */
  readonly reach?: Reaching | undefined;
}

export interface Reaching {
  /** Every call that was looked for has been made, or the grace is over. */
  readonly isOver: boolean;
  arrive(call: Call): Promise<unknown>;
}

/**
 * Calls that are given up together: those of a workflow's body, of a combinator's branches, of one
 * attempt of a task. A group knows the open calls in it and in the groups below it.
 */
export class CallGroup {
  readonly #parent: CallGroup | undefined;
  readonly open: Set<Call> = new Set();
  #isAborted = false;
  #onEmpty: (() => void) | undefined;

  constructor(parent: CallGroup | undefined) {
    this.#parent = parent;
  }

  get isAborted(): boolean {
    return this.#isAborted || (this.#parent?.isAborted ?? false);
  }

  enter(call: Call): void {
    for (let group: CallGroup | undefined = this; group; group = group.#parent)
      group.open.add(call);
  }

  leave(call: Call): void {
    for (let group: CallGroup | undefined = this; group; group = group.#parent) {
      group.open.delete(call);
      if (group.open.size === 0 && group.#onEmpty) {
        const then = group.#onEmpty;
        group.#onEmpty = undefined;
        then();
      }
    }
  }

  /** From now on no new call starts in here; open ones are told by their signal. */
  abort(): void {
    if (this.isAborted) return;
    this.#isAborted = true;
    for (const call of [...this.open]) call.onAbort?.();
  }

  /** Calls back once no call is open, at once if none is. */
  whenEmpty(then: () => void): void {
    if (this.open.size === 0) then();
    else this.#onEmpty = then;
  }

  /** Whether it is `group` or lies inside it. */
  isBelow(group: CallGroup): boolean {
    for (let g: CallGroup | undefined = this; g; g = g.#parent) if (g === group) return true;
    return false;
  }
}

export interface Undoing {
  readonly result: Promise<{ readonly failure?: Failure | undefined }>;
  /** Tells the rollback that its time is over. */
  stop(failure: Failure): void;
}

/** One invocation of a task or built-in inside an execution. */
export class Call {
  readonly id: string;
  readonly name: string;
  readonly kind: CallKind;
  /** Where it was made. */
  readonly scope: Scope;
  readonly recorded: RecordedCall | undefined;
  /** The part of its events that never changes, as JSON text. */
  readonly eventHead: string;
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The outcome is decided, though perhaps not durable: a later result is ignored. */
  isConcluded = false;
  /**
   * `runs`: a body of the user's runs for it, or a short wait that keeps the slot. `waits`: for the
   * outside world, or for leave to start.
   */
  activity: "none" | "runs" | "waits" = "none";
  /** Of a pause: the value of the WORKFLOW_PAUSED that the pause leads to, as stored text. */
  pauseText: string | undefined;
  /** Waits open beneath it; while there are any, its body counts as waiting too. */
  openWaits = 0;
  /** Since when the body waits with those calls, and how long it had waited before; milliseconds. */
  waitingSince: number | undefined;
  waitedMs = 0;
  /** Called when its body has stopped waiting. */
  onRunsOn: (() => void) | undefined;
  /** Of a task that requests resources: what its function has of them. */
  room: BodyRoom | undefined;
  /** Tells running code that its result is no longer wanted. */
  onAbort: (() => void) | undefined;
  /** The start is in the log or on the way there, and the call has been set going here. */
  isBegun = false;
  /** What it takes and gives is shown to nobody: it is a sensitive task's, or holds that of one (SEC-8). */
  isSensitive = false;
  /** The code gave the call up (a cleared timer); it is recorded as cancelled once it is begun. */
  isGivenUp = false;
  /** Given up here for another reason than a cancel; the TASK_CANCELLED is on its way. */
  isCalledOff = false;
  /** Of a task with a rollback: runs it after a cancel (EXE-42). */
  unwind: (() => Promise<void>) | undefined;
  /** Of a task in which a lost copy made calls: gives up those that were not made again. */
  reach: (() => Promise<void> | undefined) | undefined;
  /** Its rollback has ended in this copy. */
  isRolledBack = false;
  /** The rollback that a failure has begun in this copy. */
  undoing: Undoing | undefined;
  /** Settles when the function that runs for it now has settled. */
  bodySettled: Promise<unknown> | undefined;
  /** Of a task with a storage of its own: what reads an outcome back. */
  retrieve: ((reference: StoredReference) => Promise<unknown>) | undefined;

  constructor(id: string, of: Pick<Call, "name" | "kind" | "scope" | "recorded">) {
    this.id = id;
    this.name = of.name;
    this.kind = of.kind;
    this.scope = of.scope;
    this.recorded = of.recorded;
    this.eventHead = `"source_id":${JSON.stringify(id)},"name":${JSON.stringify(of.name)},"kind":${JSON.stringify(of.kind)}`;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // A body need not await a call that lost a race; its rejection is in the log all the same.
    promise.catch(() => {});
    this.promise = promise;
    this.resolve = resolve;
    this.reject = reject;
  }
}

/** The scope of a call's branches or body. */
export function scopeWithin(
  call: Call,
  over: Partial<Scope> & Pick<Scope, "ids" | "group">,
): Scope {
  return { ...call.scope, parent: call, ...over };
}
