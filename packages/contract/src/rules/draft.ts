import {
  type ExecutionPatch,
  type ExecutionRow,
  isQueued,
  patched,
} from "../executions/execution-row.ts";
import {
  type FindKept,
  type KeptSignal,
  mayHold,
  NO_SIGNALS,
  type SignalStep,
  withoutSignal,
  withSignal,
} from "../executions/kept-signals.ts";
import type { NewEvent } from "../log/event.ts";
import { formatEventTime } from "../values/time.ts";
import type { Append, Effect } from "./change.ts";
import { patchOf, wakeAt } from "./row-patch.ts";

type Written = Pick<NewEvent, "type"> & Partial<NewEvent>;

/**
 * A change in the making: what was added so far, and the row as it would be then, so that the next
 * step of the decision sees it.
 */
export class Draft {
  readonly now: number;
  readonly before: ExecutionRow;
  readonly #events: NewEvent[] = [];
  readonly #effects: Effect[] = [];
  readonly #signals: SignalStep[] = [];
  readonly #patch: ExecutionPatch = {};
  #row: ExecutionRow;

  constructor(row: ExecutionRow, now: number) {
    this.before = row;
    this.#row = row;
    this.now = now;
  }

  /** The row with everything so far. */
  get row(): ExecutionRow {
    return this.#row;
  }

  /** Events of the execution's owner, as they are. */
  append(events: readonly NewEvent[]): this {
    if (events.length === 0) return this;
    const patch = patchOf(this.#row, events, this.now);
    for (const event of events) this.#events.push(event);
    return this.set(patch);
  }

  /** An event that the engine writes itself; of the execution unless it names a call. */
  write(event: Written): this {
    const { row } = this;
    const time = formatEventTime(Math.max(this.now, row.last_time));
    const { source_id = row.execution_id, name = row.workflow, kind = null } = event;
    const { type, value = null, meta = null } = event;
    return this.append([{ type, source_id, name, kind, value, time, meta }]);
  }

  set(patch: ExecutionPatch): this {
    Object.assign(this.#patch, patch);
    this.#row = patched(this.#row, patch);
    return this;
  }

  effect(...effects: readonly Effect[]): this {
    this.#effects.push(...effects);
    return this;
  }

  /** Keeps a signal for the next call that waits for one of its name. */
  keepSignal(signal: KeptSignal): this {
    this.#signals.push({ kind: "keep", signal });
    return this.set({ signals: withSignal(this.#row.signals, signal) });
  }

  /** Takes the oldest signal of a name, if one is kept. */
  takeSignal(name: string, find: FindKept): KeptSignal | undefined {
    if (!mayHold(this.#row.signals, name)) return undefined;
    const signal = this.#oldest(name, find);
    if (!signal) return undefined;
    this.#signals.push({ kind: "take", signal: { seq: signal.seq, name } });
    this.set({ signals: withoutSignal(this.#row.signals, signal) });
    return signal;
  }

  dropSignals(): this {
    if (this.#row.signals.count === 0) return this;
    this.#signals.push({ kind: "drop" });
    return this.set({ signals: NO_SIGNALS });
  }

  done(): Append {
    const park_by = this.#parkBy();
    if (park_by !== this.row.park_by) this.set({ park_by });
    const patch = { ...this.#patch, wake_at: wakeAt(this.row) };
    const [effects, signals] = [this.#effects, this.#signals];
    return {
      kind: "append",
      events: this.#events,
      patch,
      ...(effects.length && { effects }),
      ...(signals.length && { signals }),
    };
  }

  /** Signals of this change are newer than any that is stored. */
  #oldest(name: string, find: FindKept): KeptSignal | undefined {
    let taken = 0;
    for (const step of this.#signals) {
      if (step.kind === "take" && step.signal.name === name) taken = step.signal.seq;
    }
    const stored = find(name, taken);
    if (stored) return stored;
    for (const step of this.#signals) {
      if (step.kind !== "keep") continue;
      if (step.signal.name === name && step.signal.seq > taken) return step.signal;
    }
    return undefined;
  }

  /** Each wait for a worker is counted anew; a wait that goes on keeps its end (DSP-8). */
  #parkBy(): number | null {
    const { park_ttl_ms, park_by, state } = this.row;
    if (park_ttl_ms === null || state === "CANCELLING" || !isQueued(this.row)) return null;
    return isQueued(this.before) && park_by !== null ? park_by : this.now + park_ttl_ms;
  }
}
