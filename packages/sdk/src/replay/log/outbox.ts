import {
  type Event,
  type EventType,
  envelopeText,
  formatEventTime,
  isOutcome,
  isTerminal,
  parseEventTime,
  type State,
  type Wait,
} from "@engine/contract";
import type { CheckpointReply, Delta, ExecutionPort, Host } from "../port.ts";
import type { Releases } from "./releases.ts";
import type { RunAhead } from "./run-ahead.ts";

/**
 * An event on its way into the log. One without a type is no event: it only says that the execution
 * is parked, and comes last.
 */
export interface Entry {
  readonly type: EventType | undefined;
  readonly source_id: string;
  /** The event as JSON text up to its value, and that value. */
  readonly head: string;
  readonly value: string;
  /** What the value only stands for (SEC-8). */
  readonly hidden?: string | undefined;
  readonly time: string;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** The value is too large for the log and goes elsewhere before the event does (EXE-49). */
  readonly isLarge: boolean;
  /** The state the execution is in after this event, if the event changes it. */
  readonly state?: State | undefined;
  /** Of a parked execution: the waits that no event has told of. */
  readonly waiting?: readonly Wait[] | undefined;
  /** Called with its number once the event is durable, in the order of the log. */
  readonly onDurable?: ((seq: number) => void) | undefined;
  /** An outcome that the code has received, though it is not durable yet. */
  readonly isAhead?: boolean | undefined;
  /** Of a `call`'s start: its routing input as JSON text, which is no part of the event. */
  readonly routing?: string | undefined;
}

/** How long a TASK_STARTED may wait for company, so that a slow task is visible while it runs. */
const LINGER_MS = 5;

interface OutboxOptions {
  readonly host: Host;
  readonly port: ExecutionPort;
  readonly releases: Releases;
  readonly ahead: RunAhead;
  readonly head: number;
  readonly time: number;
  /** Events the server wrote meanwhile. */
  readonly onForeign: (events: readonly Event[]) => void;
  readonly state: State;
  /** The WORKFLOW_RESUMED of a copy that goes on under a new claim; `events` gave it that claim. */
  readonly resumed: (time: string, events: readonly Event[]) => Entry;
  readonly onStale: () => void;
  /** Events of ours that are durable now, as they are in the log. */
  readonly onRecorded: (texts: readonly string[]) => void;
  /** Everything sent so far is durable and nothing is on its way. */
  readonly onSettled: () => void;
}

/**
 * What an execution has to say and the log does not hold yet. One delta is in flight at a time;
 * whatever arrives meanwhile rides the next. Outcomes go at the end of the current turn, so that
 * all outcomes of a turn share a commit; starts ride along, or go after 5 ms (CKP-6).
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #queue: Entry[] = [];
  #inFlight: Entry[] | undefined;
  #state: State;
  #head: number;
  #lastMs: number;
  #lastTime = "";
  /**
   * What waits is about to be sent: `due` at the end of this turn, or, since code that runs ahead has
   * more to say, once it has said it (`after code`).
   */
  #flush: "none" | "due" | "after code" = "none";
  #cancelLinger: (() => void) | undefined;
  #isStopped = false;
  #hasForgotten = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#head = options.head;
    this.#lastMs = options.time;
    this.#lastTime = formatEventTime(options.time);
  }

  get head(): number {
    return this.#head;
  }

  /** Events written so far and events waiting: the length the log is about to have. */
  get length(): number {
    const isEvent = ({ type }: Entry) => type !== undefined;
    const sending = this.#inFlight?.filter(isEvent).length ?? 0;
    return this.#head + sending + this.#queue.filter(isEvent).length;
  }

  get isSending(): boolean {
    return this.#inFlight !== undefined;
  }

  /** The end of the execution is on its way. */
  get isEnding(): boolean {
    const last = this.#queue.at(-1) ?? this.#inFlight?.at(-1);
    return last?.state !== undefined && isTerminal(last.state);
  }

  /** Whether somebody waits for an event that is not durable yet. */
  get isAwaited(): boolean {
    return this.#inFlight !== undefined || this.#queue.some(isAwaited);
  }

  /** What is not durable yet, as text. */
  get unsent(): readonly string[] {
    return [...(this.#inFlight ?? []), ...this.#queue].map(textOf);
  }

  /** Whether what is not durable yet will read in the log as it does here. */
  get isFinal(): boolean {
    const isLarge = (entry: Entry) => entry.isLarge;
    return !this.isParking && !this.#queue.some(isLarge) && !this.#inFlight?.some(isLarge);
  }

  /** A message that nothing is left to do but wait is on its way: once it is durable this copy ends. */
  get isParking(): boolean {
    return isParking(this.#inFlight?.at(-1));
  }

  /** Takes back the message that nothing is left to do but wait. False: it has been sent. */
  unpark(): boolean {
    if (this.isParking) return false;
    if (isParking(this.#queue.at(-1))) this.#queue.pop();
    return true;
  }

  /** Events were dropped that no log will hold: the code knows more than a replay would. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** The `time` for an event written now: the clock, never before the previous event (EXE-23). */
  time(): string {
    const now = this.#options.host.now();
    if (now <= this.#lastMs) return this.#lastTime;
    this.#lastMs = now;
    this.#lastTime = formatEventTime(now);
    return this.#lastTime;
  }

  /** Adds an event, which goes at the end of the turn if somebody waits for it, or may linger. */
  add(entry: Entry): void {
    const { ahead } = this.#options;
    if (this.#isStopped || ahead.isOvertaken) {
      this.#hasForgotten = true;
      return;
    }
    if (entry.isAhead) ahead.begin();
    // The code went on after all, on something the engine knows nothing of: no reason to pause.
    if (isParking(this.#queue.at(-1))) this.#queue.pop();
    const last = this.#queue.at(-1);
    // An event added late must not stand behind the end, nor the end be earlier in time (EXE-23).
    if (last?.state && isTerminal(last.state)) {
      this.#queue.splice(-1, 1, entry, notBefore(last, entry.time));
    } else this.#queue.push(entry);
    if (isAwaited(entry)) this.flush();
    else this.#linger();
  }

  /** Sends the queue, once the current turn has added everything it has to say. */
  flush(): void {
    if (this.#flush !== "none" || this.#inFlight) return;
    this.#flush = "due";
    this.#options.host.drain(() => {
      const { ahead, releases } = this.#options;
      if (ahead.isAhead && !releases.isIdle) this.#flush = "after code";
      else this.#sendDue();
    });
  }

  /** The code has received all outcomes there are, and has said what follows from them. */
  released(): void {
    if (this.#flush === "after code") this.#sendDue();
  }

  #sendDue(): void {
    this.#flush = "none";
    this.#send();
  }

  stop(): void {
    this.#isStopped = true;
    this.#hasForgotten ||= this.#queue.length > 0;
    this.#queue = [];
    this.#clearLinger();
  }

  /** A parked copy goes on with the events that woke it. */
  restart(events: readonly Event[]): void {
    this.#isStopped = false;
    this.#state = "RUNNING";
    this.#merge(events);
  }

  /**
   * Takes note of events the server appended and pushed, as far as they are new. Called while nothing
   * is on its way, and for events that follow what is known.
   */
  append(base_seq: number, events: readonly Event[]): void {
    this.#merge(events.slice(this.#head - base_seq));
    // They may have left nothing to send: nobody else would look what follows from that.
    if (this.#queue.length === 0) this.#options.onSettled();
  }

  /**
   * What the server wrote wins over what was not sent yet: no pause if it brought the input, no
   * second outcome of a call. A claim renewed under a running copy is answered by saying so.
   */
  #merge(foreign: readonly Event[]): void {
    const last = foreign.at(-1);
    if (!last) return;
    if (this.#options.ahead.isAhead) this.#keepUntilAhead();
    this.#head += foreign.length;
    const ms = parseEventTime(last.time);
    if (ms > this.#lastMs) [this.#lastMs, this.#lastTime] = [ms, last.time];
    const settled = new Set(foreign.filter((e) => isOutcome(e.type)).map((e) => e.source_id));
    this.#queue = this.#queue.filter((entry) => {
      const { type, source_id } = entry;
      const ends = type !== undefined && (isOutcome(type) || type === "TASK_RESUMED");
      return !isParking(entry) && !(ends && settled.has(source_id));
    });
    // Events queued here come behind the foreign ones in the log, whose time never goes back.
    this.#queue = this.#queue.map((entry) => notBefore(entry, last.time));
    if (foreign.some(({ type }) => type === "WORKFLOW_CANCELLING")) this.#state = "CANCELLING";
    if (foreign.some(({ type }) => type === "WORKFLOW_CLAIMED")) this.#resumeFirst(foreign);
    this.#options.onForeign(foreign);
  }

  #keepUntilAhead(): void {
    this.#queue = this.#options.ahead.overtake(this.#queue);
    if (this.#flush === "after code") this.#flush = "none";
    this.flush();
  }

  #resumeFirst(foreign: readonly Event[]): void {
    const first = this.#queue[0]?.type;
    if (first === "WORKFLOW_STARTED" || first === "WORKFLOW_RESUMED") return;
    const resumed = this.#options.resumed(this.time(), foreign);
    this.#queue = [resumed, ...this.#queue.map((entry) => notBefore(entry, resumed.time))];
    this.flush();
  }

  #send(): void {
    if (this.#inFlight || this.#isStopped || this.#queue.length === 0) return;
    this.#clearLinger();
    const batch = this.#queue;
    this.#queue = [];
    this.#inFlight = batch;
    if (!batch.some((entry) => entry.isLarge)) {
      this.#checkpoint(batch, batch.map(textOf));
      return;
    }
    Promise.all(batch.map((entry) => this.#keptElsewhere(entry))).then(
      (texts) => this.#checkpoint(batch, texts),
      (error: unknown) => this.#failed("a large value could not be stored", error),
    );
  }

  async #keptElsewhere(entry: Entry): Promise<string> {
    if (!entry.isLarge) return textOf(entry);
    const { value, hidden } = entry;
    const { services } = this.#options.port;
    if (hidden === undefined) {
      return textOf({ ...entry, value: envelopeText(await services.saveValue(value)) });
    }
    return textOf({ ...entry, hidden: envelopeText(await services.saveValue(hidden, true)) });
  }

  #checkpoint(batch: Entry[], texts: readonly string[]): void {
    if (this.#isStopped) return;
    const events = texts.filter((text) => text !== "");
    const waiting = batch.at(-1)?.waiting;
    const state = batch.findLast((entry) => entry.state)?.state ?? this.#state;
    const delta: Delta = {
      base_seq: this.#head,
      // A cancelled execution stays so until its end.
      state: this.#state === "CANCELLING" && !isTerminal(state) ? "CANCELLING" : state,
      events: `[${events.join(",")}]`,
      ...(waiting && { waiting }),
      ...routingOf(batch),
    };
    this.#options.port.checkpoint(delta).then(
      (reply) => this.#onReply(batch, texts, delta.state, reply),
      (error: unknown) => this.#failed("a checkpoint could not be sent", error),
    );
  }

  #failed(message: string, error: unknown): void {
    this.#options.host.log("error", message, { error: String(error) });
    this.#onStale();
  }

  #onReply(
    batch: readonly Entry[],
    texts: readonly string[],
    state: State,
    reply: CheckpointReply,
  ): void {
    if (this.#isStopped) return;
    switch (reply.kind) {
      case "stale":
        this.#onStale();
        return;
      case "accepted":
        this.#inFlight = undefined;
        this.#state = state;
        this.#confirm(batch, texts);
        break;
      case "conflict": {
        this.#inFlight = undefined;
        const n = reply.acknowledged - this.#head;
        const known = batch.slice(0, n);
        this.#state = known.findLast((entry) => entry.state)?.state ?? this.#state;
        this.#confirm(known, texts.slice(0, n));
        this.#queue = [...batch.slice(n), ...this.#queue];
        this.#merge(reply.events);
        break;
      }
    }
    if (this.#queue.length) this.#continue();
    else this.#options.onSettled();
  }

  /** Starts alone may go on lingering; anything awaited goes as soon as the turn is over. */
  #continue(): void {
    if (this.#queue.some(isAwaited)) this.flush();
    else this.#linger();
  }

  #confirm(entries: readonly Entry[], texts: readonly string[]): void {
    this.#options.onRecorded(texts.filter((text) => text !== ""));
    for (const { type, onDurable } of entries) {
      const seq = type ? ++this.#head : this.#head;
      if (onDurable) this.#options.releases.push(() => onDurable(seq));
    }
    this.#options.ahead.confirm(entries.filter(({ isAhead }) => isAhead).length);
  }

  #onStale(): void {
    this.stop();
    this.#inFlight = undefined;
    this.#options.onStale();
  }

  /** A timer that finds a delta in flight sends nothing, and must not keep the next timer away. */
  #linger(): void {
    this.#cancelLinger ??= this.#options.host.setTimer(() => {
      this.#cancelLinger = undefined;
      this.#send();
    }, LINGER_MS);
  }

  #clearLinger(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
  }
}

function textOf({ type, head, value, hidden, time, meta }: Entry): string {
  if (!type) return "";
  const beside = hidden === undefined ? "" : `,"hidden":${hidden}`;
  return `${head}${value}${beside},"time":"${time}","meta":${meta ? JSON.stringify(meta) : "null"}}`;
}

function routingOf(batch: readonly Entry[]): Pick<Delta, "routing_inputs"> {
  // Hardly any batch has some, and every batch comes by here.
  if (!batch.some(isRouted)) return NOT_ROUTED;
  const given = batch
    .filter(isRouted)
    .map(({ source_id, routing }) => `${JSON.stringify(source_id)}:${routing}`);
  return { routing_inputs: `{${given.join(",")}}` };
}

const NOT_ROUTED = {};

function isRouted({ routing }: Entry): boolean {
  return routing !== undefined;
}

function isAwaited({ onDurable, isAhead }: Entry): boolean {
  return onDurable !== undefined || isAhead === true;
}

function notBefore(entry: Entry, time: string): Entry {
  if (entry.time >= time) return entry;
  const { type, meta } = entry;
  // The code has read the clock that began with it, and reads the same in every replay.
  if (type === "WORKFLOW_STARTED") return { ...entry, time, meta: { clock: entry.time, ...meta } };
  return { ...entry, time };
}

/** Whether an entry only says that nothing runs any more. */
function isParking(entry: Entry | undefined): boolean {
  return entry !== undefined && (entry.type === undefined || entry.type === "WORKFLOW_PAUSED");
}
