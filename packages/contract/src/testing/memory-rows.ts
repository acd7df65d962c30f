import type { ExecutionRow } from "../executions/execution-row.ts";
import type { KeptSignalLists } from "../executions/kept-signal-lists.ts";
import type { CallResolution, NewExecution } from "../executions/new-execution.ts";
import type { Event, NewEvent } from "../log/event.ts";
import type { EventType } from "../log/event-values.ts";
import { callStarts } from "../rules/call-rules.ts";
import type { Change } from "../rules/change.ts";
import { decideClaim } from "../rules/lifecycle-rules.ts";
import { type CheckpointVerdict, decideCheckpoint } from "../rules/log-rules.ts";
import { MemoryExecutions } from "../rules/memory-executions.ts";
import { formatEventTime } from "../values/time.ts";
import type { Encoded } from "../values/value.ts";
import type { Checkpoint } from "../workers/checkpoint.ts";

/** Executions in memory for tests of the rules, with what such a test says most often as a default. */
export class MemoryRows {
  now = 10_000;
  readonly #executions = new MemoryExecutions();

  get rows(): ReadonlyMap<string, ExecutionRow> {
    return this.#executions.rows;
  }

  get signals(): KeptSignalLists {
    return this.#executions.signals;
  }

  row(id = "e1"): ExecutionRow {
    return this.#executions.row(id);
  }

  log(id = "e1"): readonly Event[] {
    return this.#executions.log(id);
  }

  types(id = "e1"): EventType[] {
    return this.log(id).map(({ type }) => type);
  }

  create(over: Partial<NewExecution> = {}): ExecutionRow {
    const fresh = this.fresh(over);
    this.#executions.create(fresh);
    return this.row(fresh.execution_id);
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
    if (verdict.kind === "append") this.#executions.change(id, verdict);
    return verdict;
  }

  /** Carries out a decision, which must not be a refusal. */
  change(decide: (row: ExecutionRow) => Change | Error | undefined, id = "e1"): void {
    const change = decide(this.row(id));
    if (change instanceof Error) throw change;
    if (change) this.#executions.change(id, change);
  }
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
