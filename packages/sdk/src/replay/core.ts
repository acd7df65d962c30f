import {
  decode,
  droppedSignals,
  EngineError,
  type Event,
  type EventType,
  engineFailure,
  type Failure,
  isOutcome,
  parseEventTime,
  referenceOf,
  type Stored,
  store,
  type TerminalState,
  type Wait,
} from "@engine/contract";
import { taskError } from "../task-error.ts";
import { Alarms } from "./alarms.ts";
import { type Call, CallGroup } from "./calls/call.ts";
import type { Cancel, Replay, Standing } from "./copy-state.ts";
import { Cancellation } from "./endings/cancellation.ts";
import { cancelled } from "./endings/failure.ts";
import { metaOf } from "./endings/failure-stacks.ts";
import { Failures } from "./endings/failures.ts";
import { GivingUp } from "./endings/giving-up.ts";
import { fetchOutput } from "./fetch-output.ts";
import { nondeterminism, notMade } from "./log/divergence.ts";
import { headOf, parkedEntry, resumedEntry, STORED_NULL } from "./log/event-entry.ts";
import { BY_COPIES, isCancel, mayLieElsewhere } from "./log/event-kinds.ts";
import { GrowingLog } from "./log/growing-log.ts";
import { Journal, restEndedBy } from "./log/journal.ts";
import { type Entry, Outbox } from "./log/outbox.ts";
import { PushedEvents } from "./log/pushed-events.ts";
import { Releases } from "./log/releases.ts";
import { type Overtaken, RunAhead } from "./log/run-ahead.ts";
import { shownInstead } from "./log/shown-instead.ts";
import { outside } from "./outside.ts";
import { Parking } from "./parking.ts";
import type { CallRef, Ended, RunOptions, TaskRights } from "./port.ts";
import { Progress } from "./progress.ts";
import { GrantedTasks } from "./tasks/granted-tasks.ts";

/** How an event is sent. Its time is by default the clock's. */
export type Sending = Partial<
  Pick<Entry, "onDurable" | "isAhead" | "state" | "waiting" | "time" | "meta" | "routing">
>;

/**
 * The heart of one running copy of an execution: the log it replays, the events it adds, and the
 * order in which outcomes reach the code. What calls do is in `runtime.ts` and the files of the
 * single kinds; when to stop running and wait, in `parking.ts`.
 */
export class Core {
  readonly options: RunOptions;
  readonly timeout_ms: number | null;
  readonly journal: Journal;
  /** What the code's first look at the clock shows, as an event's time. */
  readonly clock: string;
  readonly log: GrowingLog;
  readonly releases: Releases;
  readonly ahead: RunAhead;
  readonly outbox: Outbox;
  readonly progress: Progress;
  readonly alarms: Alarms;
  readonly failures: Failures;
  readonly parking: Parking;
  readonly granted: GrantedTasks;
  readonly root: CallGroup = new CallGroup(undefined);
  /** Calls whose outcome has not reached the code, by id; recorded outcomes find theirs here. */
  readonly calls: Map<string, Call> = new Map();
  readonly givingUp: GivingUp = new GivingUp(this);
  /** The body has returned or thrown: no call starts any more. */
  isBodyOver = false;
  /** The first call the log does not have. */
  firstNew: CallRef | undefined;

  /** Of this life: a copy that is woken begins another one. */
  #end: PromiseWithResolvers<Ended> = Promise.withResolvers();
  readonly #workflowHead: string;
  #replay: Replay = "ahead";
  #standing: Standing = "going";
  #cancel: Cancel = { at: "none" };
  /** Recorded outcomes that have not been handed to the code. */
  #outcomesLeft: number;
  #onLive: (() => void)[] = [];
  #onOver: () => void = () => {};
  readonly #pushed: PushedEvents;
  readonly #onOvertaken: (by: Overtaken) => void;

  /** @param timeout_ms The longest the workflow may take, by its definition. */
  constructor(given: RunOptions, timeout_ms: number | null, onOvertaken: (by: Overtaken) => void) {
    this.#onOvertaken = onOvertaken;
    const { info, host, history } = given;
    const options = { ...given, port: outside(given.port, host) };
    this.options = options;
    this.timeout_ms = timeout_ms;
    this.journal = new Journal(history);
    this.failures = new Failures(options);
    this.#outcomesLeft = this.journal.outcomes.length;
    this.releases = new Releases(host, () => this.#onReleased());
    this.progress = new Progress(options);
    this.alarms = new Alarms({ host, unpark: () => this.#unpark() });
    this.granted = new GrantedTasks(info, given.rights);
    this.parking = new Parking({
      host,
      alarms: this.alarms,
      isBusy: () => this.#isBusy,
      isMoving: () => this.#isMoving,
      park: (waiting, pause) => this.#park(waiting, pause),
      stalled: () => options.port.stalled?.(),
      isHeld: given.hold ?? false,
      isSuspended: given.rights?.hold ?? false,
    });
    const last = history.at(-1);
    this.ahead = new RunAhead({
      run: options,
      open: this.root.open,
      unsent: () => this.outbox.length - this.outbox.head,
      isCertain: () => this.#isCertain,
      onOvertaken: () => this.#overtaken(),
    });
    this.outbox = new Outbox({
      host,
      port: options.port,
      releases: this.releases,
      ahead: this.ahead,
      head: last?.seq ?? 0,
      time: last ? parseEventTime(last.time) : host.now(),
      state: this.journal.cancelling ? "CANCELLING" : "RUNNING",
      onForeign: (events) => this.#onForeign(events),
      resumed: (time, events) =>
        resumedEntry({ source: this.#workflowHead, source_id: info.execution_id, time, events }),
      onStale: () => this.stop("stale"),
      onRecorded: (texts) => {
        for (const text of texts) this.log.add(text);
        // The first thing a copy records is that it runs.
        this.progress.begin();
      },
      onSettled: () => this.#onSent(),
    });
    this.#pushed = new PushedEvents(this.outbox, this.ahead);
    const { execution_id, workflow } = info;
    this.#workflowHead = `"source_id":${JSON.stringify(execution_id)},"name":${JSON.stringify(workflow)},"kind":null`;
    this.clock = this.journal.clock ?? this.outbox.time();
    this.log = new GrowingLog(history, parseEventTime(this.clock), () => this.outbox.unsent);
  }

  /** How this life of the copy ends. */
  get ended(): Promise<Ended> {
    return this.#end.promise;
  }

  /** Nothing reaches the code any more, for good or until the copy is woken. */
  get isStopped(): boolean {
    return this.#standing !== "going" && this.#standing !== "doomed";
  }

  /** The execution fails whatever its code still does. */
  get isDoomed(): boolean {
    return this.#standing === "doomed";
  }

  /** The log is replayed: what the code does is new. */
  get isLive(): boolean {
    return this.#replay === "done";
  }

  /** A cancel is in the log: no call begins any more, though the code may not know it yet. */
  get isCancelled(): boolean {
    return this.#cancel.at !== "none";
  }

  /** Set once a cancel has reached the code. */
  get cancellation(): Cancellation | undefined {
    return this.#cancel.at === "code" ? this.#cancel.cancellation : undefined;
  }

  /**
   * The code is being led along a log: what it prints was printed before. After the last outcome it
   * is, until it has made the calls that the copy before had made.
   */
  get isReplaying(): boolean {
    if (this.isLive) return false;
    return this.#outcomesLeft > 0 || this.journal.findUnasked() !== undefined;
  }

  /**
   * Releases everything the log holds, in order; then the execution is live. Called once, right
   * after the body was started.
   */
  replay(): void {
    const { calls, outcomes } = this.journal;
    this.#replay = "begun";
    // A check wants to know of the first call, which code may make some microtasks from now.
    if (calls.size === 0 && outcomes.length === 0 && !this.options.check) {
      this.#goLive();
      return;
    }
    // Even a log without outcomes has recorded calls to compare, once the code has come to rest.
    this.releases.push(() => {});
    for (const event of outcomes) this.releases.push(() => this.#replayOutcome(event));
  }

  /** Runs `then` when the log has been replayed: what it starts is new. */
  whenLive(then: () => void): void {
    if (this.isLive) then();
    else this.#onLive.push(then);
  }

  /** The body is over: `then` runs when the log is replayed and all that followed was written. */
  bodyIsOver(then: () => void): void {
    if (this.cancellation) {
      this.cancellation.bodyIsOver();
      return;
    }
    this.isBodyOver = true;
    if (this.isLive) then();
    else this.#onOver = then;
  }

  emit(call: Call | undefined, type: EventType, value: string, sending: Sending = {}): void {
    const { state, waiting, onDurable, isAhead, meta, routing } = sending;
    const { info, limits, check } = this.options;
    if (check) return;
    if (call && info.transient) {
      // Nothing of it is recorded; the code goes on as if it were (EXE-58).
      if (onDurable) this.releases.push(() => onDurable(this.outbox.head));
      return;
    }
    const isLarge = value.length > limits.inline_value_bytes && mayLieElsewhere(type, value, call);
    const shown = call?.isSensitive ? shownInstead(type, value) : undefined;
    this.outbox.add({
      type,
      source_id: call?.id ?? info.execution_id,
      head: headOf(type, call?.eventHead ?? this.#workflowHead),
      value: shown ?? value,
      hidden: shown === undefined ? undefined : value,
      time: sending.time ?? this.outbox.time(),
      meta,
      isLarge,
      state,
      waiting,
      onDurable,
      isAhead,
      routing,
    });
  }

  warn(code: string, message: string, task_call_id?: string): void {
    const { text } = store({ code, message, ...(task_call_id && { task_call_id }) }, "value");
    this.emit(undefined, "WORKFLOW_WARNING", text);
  }

  /**
   * Writes a call's outcome and hands it to the code: once it is durable, or at once where the code
   * may run ahead of the log (see {@link RunAhead}).
   */
  conclude(
    call: Call,
    outcome: { type: EventType; value: string; settle: () => void; meta?: Sending["meta"] },
  ): void {
    if (call.isConcluded) return;
    this.decide(call);
    const { type, value, settle, meta } = outcome;
    const release = (seq: number) => this.settle(call, settle, seq);
    const isAhead = this.ahead.may(call, value);
    this.emit(call, type, value, isAhead ? { isAhead, meta } : { onDurable: release, meta });
    if (!isAhead) return;
    const seq = this.outbox.length;
    this.releases.pushAtRest(() => release(seq));
  }

  /** Whether it is certain what the log says next, see {@link RunAhead}. */
  get #isCertain(): boolean {
    if (!this.isLive || this.#standing !== "going") return false;
    if (this.isBodyOver || this.isCancelled) return false;
    return this.#pushed.isEmpty && this.outbox.isFinal && !this.progress.isHeldBack;
  }

  /** @param envelope Stands in the log for a value that a storage of the user's keeps. */
  complete(call: Call, output: Stored, meta?: Sending["meta"], envelope?: string): void {
    const settle = () => call.resolve(output.value);
    const value = envelope ?? output.text;
    this.conclude(call, { type: "TASK_COMPLETED", value, settle, meta });
  }

  fail(call: Call, failure: Failure, meta?: Sending["meta"]): void {
    const value = JSON.stringify(failure);
    const settle = () => call.reject(taskError(JSON.parse(value) as Failure));
    this.conclude(call, { type: "TASK_FAILED", value, settle, meta: metaOf(failure, meta) });
  }

  /** The outcome reaches the code. */
  settle(call: Call, settle: () => void, seq: number): void {
    if (this.#standing !== "going") return;
    this.log.receive(seq);
    this.calls.delete(call.id);
    call.onAbort = undefined;
    settle();
    call.scope.group.leave(call);
    this.cancellation?.settled();
  }

  /** Ends the copy's execution as failed, whatever its code still does. */
  doom(failure: Failure): void {
    if (this.#standing !== "going") return;
    this.#standing = "doomed";
    this.releases.clear();
    this.root.abort();
    if (this.options.check) {
      this.options.check.failed(failure);
      this.stop("failed");
      return;
    }
    this.terminateFailed(failure);
  }

  terminateFailed(failure: Failure): void {
    this.failures.ofExecution(failure);
    this.terminate("FAILED", JSON.stringify(failure), metaOf(failure));
  }

  /** Ends the execution in a state, with the event of that name. */
  terminate(state: TerminalState, value: string, meta?: Sending["meta"]): void {
    this.#warnOfSignals(this.log.droppedSignals);
    const onDurable = () => this.#endAs("terminal");
    this.emit(undefined, `WORKFLOW_${state}`, value, { state, onDurable, meta });
  }

  setRights(rights: TaskRights | undefined): void {
    this.granted.rights = rights;
    // A cancel that has reached the code begins no task: what it undoes is undone.
    if (!this.cancellation) this.parking.suspend(rights?.hold ?? false);
  }

  stop(reason: string): void {
    if (this.#standing === "over") return;
    this.options.host.log("debug", "a copy of an execution stops", {
      execution_id: this.options.info.execution_id,
      reason,
    });
    // Calls that wait in this copy go on in another: none of them is to hear that it is given up.
    const wasWaiting = this.#standing === "waiting";
    this.#standing = "over";
    if (!wasWaiting) this.root.abort();
    this.#endAs("stopped");
  }

  deliver(base_seq: number, events: readonly Event[]): void {
    if (this.#standing === "waiting" || this.#standing === "over") return;
    if (!this.cancellation && events.some(isCancel)) this.parking.cancelComes(true);
    this.#pushed.add({ base_seq, events });
  }

  /** A paused or parked copy goes on under a new claim; undefined when it cannot (RUN-4). */
  wake(events: readonly Event[]): Promise<Ended> | undefined {
    const isNext = events.every(({ seq }, i) => seq === this.outbox.head + 1 + i);
    const isForeign = events.every(({ type }) => type !== "TASK_STARTED" && !BY_COPIES.has(type));
    // A body that waits inside a task has timers of its own, which ran on meanwhile.
    const isRunning = [...this.root.open].some(({ activity }) => activity === "runs");
    const isStill = !isRunning && !this.outbox.hasForgotten;
    const isClaimed = events.at(-1)?.type === "WORKFLOW_CLAIMED";
    const isWaiting = this.#standing === "waiting";
    if (!isWaiting || !isNext || !isForeign || !isStill || !isClaimed) return undefined;
    this.#standing = "going";
    this.#end = Promise.withResolvers();
    this.releases.restart();
    this.outbox.restart(events);
    this.alarms.start();
    for (const id of events.flatMap(restEndedBy)) this.parking.endRest(this.calls.get(id));
    // The copy parks again only after the events that woke it have had their effect.
    this.parking.active++;
    this.options.host.drain(() => {
      this.parking.active--;
      this.parking.soon();
    });
    return this.ended;
  }

  /** An outcome recorded inside a task: no order binds it, so the call settles at once. */
  replayNested(call: Call, event: Event): void {
    call.isConcluded = true;
    void this.#settleWith(call, event);
  }

  #replayOutcome(event: Event): undefined | Promise<void> {
    this.#outcomesLeft--;
    if (this.isDoomed) return undefined;
    if (isCancel(event)) {
      this.#beginCancel(event);
      return undefined;
    }
    const call = this.calls.get(event.source_id);
    if (!call) {
      this.#diverge(event.source_id);
      return undefined;
    }
    call.isConcluded = true;
    if (event.type === "TASK_CANCELLED") this.cancellation?.unwind(call);
    return this.#settleWith(call, event);
  }

  /** Settles a call with a recorded outcome; a promise when its value has to be fetched first. */
  #settleWith(call: Call, event: Event): undefined | Promise<void> {
    const { type, value, seq } = event;
    if (type === "TASK_FAILED") {
      this.settle(call, () => call.reject(taskError(decode(value) as Failure)), seq);
    } else if (type !== "TASK_COMPLETED") {
      this.settle(call, () => call.reject(cancelled(call)), seq);
    } else if (referenceOf(value) === undefined) {
      this.settle(call, () => call.resolve(decode(value)), seq);
    } else {
      return fetchOutput(call, value, this.options.port.services).then(
        (output) => this.settle(call, () => call.resolve(output), seq),
        (error: unknown) => this.#missing(call, error),
      );
    }
    return undefined;
  }

  #missing(call: Call, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof EngineError && error.code === "unavailable") {
      this.stop(message);
      return;
    }
    const isTooLarge = error instanceof EngineError && error.code === "payload_too_large";
    const text = `the recorded output of ${call.id} cannot be read: ${message}`;
    const type = isTooLarge ? "ValueTooLargeError" : "StoredValueMissingError";
    this.doom(engineFailure(type, text, { task_call_id: call.id }));
  }

  #diverge(id: string): void {
    const call = this.journal.calls.get(id);
    if (!call) return;
    this.doom(nondeterminism(notMade(call, this)));
  }

  #onReleased(): void {
    this.outbox.released();
    if (!this.isLive) this.#goLive();
    else this.parking.consider();
  }

  #goLive(): void {
    if (this.#standing !== "going") return;
    const unasked = this.journal.findUnasked();
    if (unasked) {
      this.#diverge(unasked.id);
      return;
    }
    const { check } = this.options;
    if (check) {
      check.replayed({ firstNew: this.firstNew, isBodyOver: this.isBodyOver });
      this.stop("replayed");
      return;
    }
    this.#replay = "done";
    const pending = this.#onLive;
    this.#onLive = [];
    for (const then of pending) then();
    this.#onOver();
    this.parking.soon();
  }

  #onSent(): void {
    if (this.#standing === "overtaken") {
      this.#onOvertaken({ history: this.log.durable, pushed: this.#pushed.clear() });
      return;
    }
    if (this.isStopped) {
      this.#pushed.clear();
      return;
    }
    this.#pushed.take();
    // An alarm may have come due while the copy was about to park, which was then called off.
    this.alarms.start();
    this.parking.soon();
  }

  /** Events the server wrote: outcomes of waits, a cancel. Everything else concerns it alone. */
  #onForeign(events: readonly Event[]): void {
    if (this.outbox.isEnding) this.#warnOfSignals(droppedSignals(events));
    for (const event of events) {
      this.log.add(event);
      if (isCancel(event) && this.#replay === "ahead") {
        // As if the log had come with it: the code has not made the calls that stand before it.
        this.journal.addCancel(event);
        this.#outcomesLeft++;
      } else if (isCancel(event)) {
        this.#cancelIsLogged();
        this.parking.cancelComes(true);
        this.releases.push(() => this.#beginCancel(event));
      }
      if (!isOutcome(event.type)) continue;
      const call = this.calls.get(event.source_id);
      if (call) {
        this.decide(call);
        this.releases.push(() => this.#settleWith(call, event));
      } else if (this.journal.addOutcome(event) && !this.isLive) {
        // A call inside a task that runs again finds its outcome when it is made.
        this.#outcomesLeft++;
        // Otherwise `replay` finds it in the journal.
        if (this.#replay === "begun") this.releases.push(() => this.#replayOutcome(event));
      }
    }
  }

  /** The code goes no further; what it has done is still recorded. */
  #overtaken(): void {
    this.#standing = "overtaken";
    this.alarms.stop();
    this.releases.stop();
  }

  /** Signals that no call took are gone with the execution: the log says so (EXE-53). */
  #warnOfSignals(message: string | undefined): void {
    if (message !== undefined) this.warn("signal_dropped", message);
  }

  #beginCancel(event: Event): void {
    if (this.isDoomed || this.#cancel.at === "code") return;
    this.#cancelIsLogged();
    this.parking.cancelComes(false);
    this.parking.suspend(false);
    // A body that had ended before it saw the cancel ends the way it ended (EXE-17 row 15).
    if (this.isBodyOver) return;
    const cancellation = new Cancellation(this, event);
    this.#cancel = { at: "code", cancellation };
    cancellation.begin();
  }

  #cancelIsLogged(): void {
    if (this.#cancel.at === "none") this.#cancel = { at: "log" };
  }

  /** Marks a call whose outcome is decided, though perhaps not durable. */
  decide(call: Call): void {
    if (call.isConcluded) return;
    call.isConcluded = true;
    this.parking.leave(call);
  }

  get #isBusy(): boolean {
    return this.isBodyOver || this.cancellation !== undefined || this.#isMoving;
  }

  get #isMoving(): boolean {
    return (
      !this.isLive || this.#standing !== "going" || !this.releases.isIdle || this.outbox.isAwaited
    );
  }

  #unpark(): boolean {
    if (!this.outbox.unpark()) return false;
    // Whether to wait is looked at again, whatever the alarm does.
    this.parking.soon();
    return true;
  }

  #park(waiting: readonly Wait[], pause: Call | undefined): void {
    if (!pause) {
      const source_id = this.options.info.execution_id;
      const onDurable = () => this.#endAs("parked");
      this.outbox.add(parkedEntry({ source_id, waiting, onDurable }));
      return;
    }
    this.emit(undefined, "WORKFLOW_PAUSED", pause.pauseText ?? STORED_NULL, {
      state: "PAUSED",
      waiting: waiting.length > 0 ? waiting : undefined,
      onDurable: () => this.#endAs("paused"),
    });
  }

  #endAs(ended: Ended): void {
    this.#standing = ended === "paused" || ended === "parked" ? "waiting" : "over";
    this.ahead.end();
    this.alarms.stop();
    this.releases.stop();
    this.outbox.stop();
    this.#end.resolve(ended);
  }
}
