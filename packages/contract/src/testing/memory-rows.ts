import type { ExecutionRow } from "../executions/execution-row.ts";
import { KeptSignalLists } from "../executions/kept-signal-lists.ts";
import type { CallResolution, NewExecution } from "../executions/new-execution.ts";
import type { Event, NewEvent } from "../log/event.ts";
import type { EventType } from "../log/event-values.ts";
import { callStarts } from "../rules/call-rules.ts";
import type { Change, Effect } from "../rules/change.ts";
import { createdExecution, decideClaim } from "../rules/lifecycle-rules.ts";
import { type CheckpointVerdict, decideCheckpoint } from "../rules/log-rules.ts";
import { formatEventTime } from "../values/time.ts";
import type { Encoded } from "../values/value.ts";
import type { Checkpoint } from "../workers/checkpoint.ts";

/** Executions as a store keeps them, for tests of the rules: rows, logs, effects applied in order. */
export class MemoryRows {
  now = 10_000;
  readonly rows = new Map<string, ExecutionRow>();
  readonly logs = new Map<string, Event[]>();
  readonly signals = new KeptSignalLists();

  row(id = "e1"): ExecutionRow {
    const row = this.rows.get(id);
    if (!row) throw new Error(`no row ${id}`);
    return row;
  }

  log(id = "e1"): readonly Event[] {
    return this.logs.get(id) ?? [];
  }

  types(id = "e1"): EventType[] {
    return this.log(id).map(({ type }) => type);
  }

  create(over: Partial<NewExecution> = {}): ExecutionRow {
    const { row, events, effects, signals } = createdExecution(this.fresh(over));
    this.rows.set(row.execution_id, row);
    this.logs.set(row.execution_id, numbered(events, 0));
    this.signals.follow(row.execution_id, signals);
    this.#apply(effects ?? []);
    return this.row(row.execution_id);
  }

  fresh(over: Partial<NewExecution> = {}): NewExecution {
    return {
      execution_id: "e1",
      namespace: "shop",
      workflow: "checkout",
      version: 1,
      module_hash: "h",
      input: null,
      trigger: { kind: "api" },
      by: null,
      seed: "seed",
      now: this.now,
      ...over,
    };
  }

  /** Claimed by session s1 and started: head 3, generation 1. */
  running(over: Partial<NewExecution> = {}): ExecutionRow {
    const { execution_id } = this.create(over);
    this.claim(execution_id);
    this.send("RUNNING", [event("WORKFLOW_STARTED", execution_id)], { id: execution_id });
    return this.row(execution_id);
  }

  claim(id = "e1"): void {
    this.change((row) => decideClaim(row, { worker: "w1", session: "s1", now: this.now }), id);
  }

  /** What the owner sends, at the head of the log. */
  send(
    state: Checkpoint["state"],
    events: readonly NewEvent[],
    of: {
      id?: string;
      waiting?: Checkpoint["waiting"];
      calls?: Record<string, CallResolution>;
    } = {},
  ): CheckpointVerdict {
    const { id = "e1", waiting, calls = {} } = of;
    const row = this.row(id);
    const item: Checkpoint = {
      generation: row.generation,
      base_seq: row.head,
      state,
      events: [...events],
      ...(waiting && { waiting }),
    };
    const findKept = this.signals.finderOf(id);
    const sender = { session: "s1", now: this.now, cancel_timeout_ms: 1_000, findKept };
    const resolved = callStarts(events).flatMap(({ task_call_id }) => {
      const resolution = calls[task_call_id];
      return resolution ? [[task_call_id, resolution] as const] : [];
    });
    const verdict = decideCheckpoint(row, item, { ...sender, calls: new Map(resolved) }, []);
    if (verdict.kind === "append") this.#write(row, verdict);
    return verdict;
  }

  /** Carries out a decision, which must not be a refusal. */
  change(decide: (row: ExecutionRow) => Change | Error | undefined, id = "e1"): void {
    const row = this.row(id);
    const change = decide(row);
    if (change instanceof Error) throw change;
    if (change) this.#write(row, change);
  }

  #write(row: ExecutionRow, { events, patch, effects = [], signals }: Change): void {
    const id = row.execution_id;
    this.signals.follow(id, signals);
    this.logs.get(id)?.push(...numbered(events, row.head));
    const after = { ...row, ...patch };
    if (after.head !== this.log(id).length) throw new Error(`head ${after.head} is not the log's`);
    this.rows.set(id, after);
    this.#apply(effects);
  }

  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "create") this.create(effect.fresh);
      else if (effect.kind === "change") {
        const row = this.rows.get(effect.execution_id);
        const change = effect.decide(row);
        if (row && change) this.#write(row, change);
        else this.#apply(change?.effects ?? []);
      } else {
        for (const { execution_id, parent_id } of [...this.rows.values()]) {
          if (parent_id === effect.parent_id) this.change(effect.decide, execution_id);
        }
      }
    }
  }
}

function numbered(events: readonly NewEvent[], head: number): Event[] {
  return events.map((event, i) => ({ ...event, seq: head + 1 + i }));
}

let time = 10_000;

/** An event as an owner would send it; a call's name and kind are read off its id. */
export function event(
  type: EventType,
  source_id: string,
  value: Encoded = null,
  over: Partial<NewEvent> = {},
): NewEvent {
  time += 1;
  const name = source_id.slice(source_id.lastIndexOf("/") + 1).split("~")[0] ?? source_id;
  const kind = WAITS.has(name) ? (name as NewEvent["kind"]) : null;
  return { type, source_id, name, kind, value, time: formatEventTime(time), meta: null, ...over };
}

const WAITS: ReadonlySet<string> = new Set(["pause", "sleep", "signal", "call"]);

/** The events of a wait that begins. */
export const opens = {
  pause: (id: string, name: string, more: Record<string, Encoded> = {}): NewEvent[] => [
    event("TASK_STARTED", id, { name, output: null }),
    event("TASK_PAUSED", id, { name, output: null, ...more }),
  ],
  sleep: (id: string, until: string, over: Partial<NewEvent> = {}): NewEvent[] => [
    event("TASK_STARTED", id, { until }, over),
  ],
  signal: (id: string, name: string, until?: string): NewEvent[] => [
    event("TASK_STARTED", id, { name, ...(until !== undefined && { until }) }),
  ],
  call: (id: string, over: Record<string, Encoded> = {}): NewEvent[] => {
    const start = { workflow: "shop/ship", input: 1, wait: true, detach: false, ...over };
    return [event("TASK_STARTED", id, start)];
  },
};
