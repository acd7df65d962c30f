import {
  decode,
  type Event,
  type EventType,
  engineFailure,
  type Failure,
  isOutcome,
  parseEventTime,
  type Stored,
} from "@engine/contract";
import { taskError } from "../task-error.ts";
import { type Call, Group, type Scope } from "./call.ts";
import { nondeterminism, recordedRef } from "./divergence.ts";
import { Journal } from "./journal.ts";
import { type Entry, Outbox } from "./outbox.ts";
import type { Ended, RunOptions } from "./port.ts";
import { Progress } from "./progress.ts";
import { Releases } from "./releases.ts";
import { STORED_NULL } from "./stored.ts";

/** How an event is sent. */
export interface Sending {
  /** Somebody waits for it; otherwise it may linger for company. */
  readonly isUrgent?: boolean;
  readonly onDurable?: (seq: number) => void;
  readonly state?: Entry["state"];
  readonly meta?: Readonly<Record<string, unknown>>;
}

/**
 * The heart of one running copy of an execution: the log it replays, the events it adds, the order
 * in which outcomes reach the code, and the moment when nothing is left to do but wait. What calls
 * do is in `runtime.ts` and the files of the single kinds.
 */
export class Core {
  readonly options: RunOptions;
  readonly journal: Journal;
  readonly releases: Releases;
  readonly outbox: Outbox;
  readonly progress: Progress;
  readonly root: Group = new Group(undefined);
  /** Calls whose outcome has not reached the code, by id; recorded outcomes find theirs here. */
  readonly calls: Map<string, Call> = new Map();
  /** Combinators without an outcome. */
  readonly combinators: Set<Call> = new Set();
  readonly ended: Promise<Ended>;
  /** The body has returned or thrown: no call starts any more. */
  isBodyOver = false;
  /** The execution fails whatever its code still does. */
  isDoomed = false;
  /** Bodies of tasks that run, and graces that pass: while there are any, nothing is parked. */
  active = 0;

  readonly #resolveEnded: (ended: Ended) => void;
  readonly #workflowHead: string;
  readonly #log: (Event | string)[];
  #received = 0;
  #isLive = false;
  #isStopped = false;
  #onLive: (() => void)[] = [];
  #onOver: () => void = () => {};
  #waits: Set<Call> = new Set();
  #pushed: { base_seq: number; events: readonly Event[] }[] = [];

  constructor(options: RunOptions) {
    this.options = options;
    this.#log = [...options.history];
    this.journal = new Journal(options.history);
    this.releases = new Releases(options.host, () => this.#onReleased());
    this.progress = new Progress(options);
    const last = options.history.at(-1);
    this.outbox = new Outbox({
      host: options.host,
      port: options.port,
      releases: this.releases,
      head: last?.seq ?? 0,
      time: last ? parseEventTime(last.time) : options.host.now(),
      onForeign: (events) => this.#onForeign(events),
      resumed: (time) => {
        const type = "WORKFLOW_RESUMED";
        const meta = { cause: "recover" };
        const text = eventText({ type, head: this.#workflowHead, value: STORED_NULL, time, meta });
        return { type, source_id: options.info.execution_id, text };
      },
      onStale: () => this.stop("stale"),
      onRecorded: (entries) => {
        for (const { text } of entries) this.#log.push(text);
        // The first thing a copy records is that it runs.
        this.progress.begin();
      },
      onSettled: () => this.#onSent(),
    });
    const { execution_id, workflow } = options.info;
    this.#workflowHead = `"source_id":${JSON.stringify(execution_id)},"name":${JSON.stringify(workflow)},"kind":null`;
    const { promise, resolve } = Promise.withResolvers<Ended>();
    this.ended = promise;
    this.#resolveEnded = resolve;
  }

  /** The log up to the newest outcome the code has received: equal on every replay (EXE-11). */
  get eventsReceived(): readonly Event[] {
    return this.#log
      .slice(0, this.#received)
      .map((e, i) => (typeof e === "string" ? { ...(JSON.parse(e) as Event), seq: i + 1 } : e));
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Releases everything the log holds, in order; then the execution is live. Called once, right
   * after the body was started.
   */
  replay(): void {
    if (this.journal.calls.size === 0) {
      this.#goLive();
      return;
    }
    // Even a log without outcomes has recorded calls to compare, once the code has come to rest.
    this.releases.push(() => {});
    for (const event of this.journal.outcomes) this.releases.push(() => this.#replayOutcome(event));
  }

  /** Runs `then` when the log has been replayed: what it starts is new. */
  whenLive(then: () => void): void {
    if (this.#isLive) then();
    else this.#onLive.push(then);
  }

  /** The body is over: `then` runs when the log is replayed and all that followed was written. */
  bodyIsOver(then: () => void): void {
    this.isBodyOver = true;
    if (this.#isLive) then();
    else this.#onOver = then;
  }

  emit(call: Call | undefined, type: EventType, value: string, sending: Sending = {}): void {
    const head = call?.eventHead ?? this.#workflowHead;
    const time = this.outbox.time();
    const text = eventText({ type, head, value, time, meta: sending.meta });
    const source_id = call?.id ?? this.options.info.execution_id;
    const { state, onDurable, isUrgent = onDurable !== undefined } = sending;
    this.outbox.add({ type, source_id, text, state, onDurable }, isUrgent);
  }

  /** Writes a call's outcome and hands it to the code once it is durable. */
  conclude(
    call: Call,
    outcome: { type: EventType; value: string; settle: () => void; meta?: Sending["meta"] },
  ): void {
    if (call.isConcluded) return;
    this.#conclude(call);
    const { type, value, settle, meta } = outcome;
    const onDurable = (seq: number) => this.settle(call, settle, seq);
    this.emit(call, type, value, { onDurable, ...(meta && { meta }) });
  }

  complete(call: Call, output: Stored, meta?: Sending["meta"]): void {
    const settle = () => call.resolve(output.value);
    this.conclude(call, { type: "TASK_COMPLETED", value: output.text, settle, meta });
  }

  fail(call: Call, failure: Failure, meta?: Sending["meta"]): void {
    const value = JSON.stringify(failure);
    const settle = () => call.reject(taskError(failure));
    this.conclude(call, { type: "TASK_FAILED", value, settle, meta });
  }

  /** Gives an open call up (EXE-33, EXE-46). */
  cancel(call: Call): void {
    // Once the body is over nobody is left to catch a rejection: the promise stays as it is.
    const settle = () => {
      if (!this.isBodyOver) call.reject(cancelled(call));
    };
    this.conclude(call, { type: "TASK_CANCELLED", value: STORED_NULL, settle });
  }

  /** The outcome reaches the code. */
  settle(call: Call, settle: () => void, seq: number): void {
    if (this.isDoomed || this.#isStopped) return;
    this.#received = Math.max(this.#received, seq);
    this.calls.delete(call.id);
    call.onAbort = undefined;
    settle();
    call.scope.group.leave(call);
  }

  /** A body of the user's begins to run for this call. */
  enterBody(call: Call): void {
    call.isRunning = true;
    this.active++;
  }

  /** Registers a wait for the outside world. */
  wait(call: Call): void {
    call.isWait = true;
    this.#waits.add(call);
    for (let c = call.scope.parent; c; c = c.scope.parent) {
      if (c.isRunning && c.openWaits++ === 0) this.active--;
    }
    this.#parkSoon();
  }

  /** Ends the copy's execution as failed, whatever its code still does. */
  doom(failure: Failure): void {
    if (this.isDoomed || this.#isStopped) return;
    this.isDoomed = true;
    this.releases.clear();
    this.root.abort();
    this.terminate("WORKFLOW_FAILED", JSON.stringify(failure));
  }

  terminate(type: "WORKFLOW_COMPLETED" | "WORKFLOW_FAILED", value: string): void {
    this.emit(undefined, type, value, {
      state: type === "WORKFLOW_COMPLETED" ? "COMPLETED" : "FAILED",
      onDurable: () => this.#end("terminal"),
    });
  }

  stop(reason: string): void {
    if (this.#isStopped) return;
    this.options.host.log("debug", "a copy of an execution stops", {
      execution_id: this.options.info.execution_id,
      reason,
    });
    this.#isStopped = true;
    this.root.abort();
    this.#end("stopped");
  }

  deliver(base_seq: number, events: readonly Event[]): void {
    if (this.#isStopped) return;
    // A delta is under way: either its answer brings these events, or they follow it.
    if (this.outbox.isSending) this.#pushed.push({ base_seq, events });
    else this.outbox.append(base_seq, events);
  }

  /**
   * Gives up every open call of a group: bodies are told, waits end at once, whoever is still open
   * after the grace is recorded as cancelled. `then` runs when none is open any more.
   */
  abandon(group: Group, then: () => void): void {
    const finish = () => {
      this.releases.afterTurn(() => {
        this.closeCombinators(group);
        then();
      });
    };
    group.abort();
    group.whenEmpty(finish);
    this.whenLive(() => {
      for (const call of [...group.open]) if (call.isWait) this.cancel(call);
      if (![...group.open].some((call) => !call.isConcluded)) return;
      this.active++;
      let isPassing = true;
      const cancelTimer = this.options.host.setTimer(() => {
        done();
        // Innermost first: the call made last is the deepest one still open.
        for (const call of [...group.open].reverse()) this.cancel(call);
      }, this.options.limits.sibling_grace * 1000);
      const done = () => {
        if (!isPassing) return;
        isPassing = false;
        this.active--;
        this.#parkSoon();
      };
      group.whenEmpty(() => {
        cancelTimer();
        done();
        finish();
      });
    });
  }

  /** Ends combinators of a group whose branches never came to an end. */
  closeCombinators(group: Group): void {
    for (const call of [...this.combinators].reverse()) {
      if (!call.scope.group.isBelow(group)) continue;
      call.isConcluded = true;
      this.combinators.delete(call);
      if (!call.recorded?.outcome) this.emit(call, "TASK_CANCELLED", STORED_NULL);
      if (!this.isBodyOver) call.reject(cancelled(call));
    }
  }

  /** An outcome recorded inside a task: no order binds it, so the call settles at once. */
  replayNested(call: Call, event: Event): void {
    call.isConcluded = true;
    this.settle(call, () => settleWith(call, event), event.seq);
  }

  #replayOutcome(event: Event): void {
    if (this.isDoomed) return;
    const call = this.calls.get(event.source_id);
    if (!call) {
      this.#diverge(event.source_id);
      return;
    }
    call.isConcluded = true;
    this.settle(call, () => settleWith(call, event), event.seq);
  }

  #diverge(id: string): void {
    const call = this.journal.calls.get(id);
    if (!call) return;
    const slash = id.lastIndexOf("/");
    const siblings = this.journal.childrenOf(slash < 0 ? null : id.slice(0, slash));
    const position = siblings.indexOf(call);
    this.doom(nondeterminism({ position, expected: recordedRef(call), found: null }));
  }

  #onReleased(): void {
    if (!this.#isLive) this.#goLive();
    else this.#considerParking();
  }

  #goLive(): void {
    if (this.isDoomed || this.#isStopped) return;
    const unasked = this.journal.findUnasked();
    if (unasked) {
      this.#diverge(unasked.id);
      return;
    }
    this.#isLive = true;
    const pending = this.#onLive;
    this.#onLive = [];
    for (const then of pending) then();
    this.#onOver();
    this.#parkSoon();
  }

  #onSent(): void {
    const pushed = this.#pushed;
    this.#pushed = [];
    for (const { base_seq, events } of pushed) this.deliver(base_seq, events);
    this.#parkSoon();
  }

  /** Events the server wrote: outcomes of waits. Everything else concerns the server alone. */
  #onForeign(events: readonly Event[]): void {
    for (const event of events) {
      this.#log.push(event);
      if (!isOutcome(event.type)) continue;
      const call = this.calls.get(event.source_id);
      if (!call) continue;
      this.#conclude(call);
      this.releases.push(() => this.settle(call, () => settleWith(call, event), event.seq));
    }
  }

  #conclude(call: Call): void {
    if (call.isConcluded) return;
    call.isConcluded = true;
    if (call.isRunning) {
      call.isRunning = false;
      this.active--;
    }
    if (!this.#waits.delete(call)) return;
    for (let c = call.scope.parent; c; c = c.scope.parent) {
      if (c.isRunning && --c.openWaits === 0) this.active++;
    }
  }

  /** Looks whether to park once the code has done all it can do by itself. */
  #parkSoon(): void {
    if (this.#waits.size) this.options.host.drain(() => this.#considerParking());
  }

  /** Parks when only the outside world can bring the execution further. */
  #considerParking(): void {
    const isBusy =
      !this.#isLive ||
      this.isBodyOver ||
      this.isDoomed ||
      this.#isStopped ||
      this.active > 0 ||
      !this.releases.isIdle ||
      this.outbox.isAwaited;
    const [oldest] = this.#waits;
    if (isBusy || !oldest) return;
    this.emit(undefined, "WORKFLOW_PAUSED", oldest.pauseText ?? STORED_NULL, {
      state: "PAUSED",
      onDurable: () => this.#end("paused"),
    });
  }

  #end(ended: Ended): void {
    this.#isStopped = true;
    this.releases.stop();
    this.outbox.stop();
    this.#resolveEnded(ended);
  }
}

function eventText(of: {
  type: EventType;
  head: string;
  value: string;
  time: string;
  meta: Sending["meta"] | undefined;
}): string {
  const meta = of.meta ? JSON.stringify(of.meta) : "null";
  return `{"type":"${of.type}",${of.head},"value":${of.value},"time":"${of.time}","meta":${meta}}`;
}

function settleWith(call: Call, event: Event): void {
  if (event.type === "TASK_COMPLETED") call.resolve(decode(event.value));
  else if (event.type === "TASK_FAILED") call.reject(taskError(event.value as unknown as Failure));
  else call.reject(cancelled(call));
}

export function cancelled(call: Pick<Call, "id" | "name">): Error {
  return taskError(
    engineFailure("CancelledError", `${call.id} was given up`, { task_call_id: call.id }),
  );
}

/** The scope of a call's branches or body. */
export function scopeWithin(
  call: Call,
  over: Partial<Scope> & Pick<Scope, "ids" | "group">,
): Scope {
  return { ...call.scope, parent: call, ...over };
}
