import {
  createdExecution,
  type Encoded,
  type Event,
  type EventType,
  type ExecutionRow,
  encode,
  formatEventTime,
  isBuiltInCall,
  isTerminal,
  type Json,
  type State,
} from "@engine/contract";
import type { Commit, ExecutionAtRest } from "../../evidence.ts";

/** Where the time of every sample begins. */
export const BEGAN = 1_900_000_000_000;
export const SESSION = "session-1";
export const WORKER = "w1";

/** An event in short: its type, its call (else the execution), what it holds. */
export type Line = readonly [
  type: EventType,
  source_id?: string | undefined,
  value?: Json,
  meta?: Event["meta"],
];

/** One commit: when, what state it leaves, who owns the execution then. */
export interface ToldCommit {
  readonly at: number;
  readonly state: State;
  readonly owned: boolean;
  readonly events: readonly Line[];
}

export interface Told {
  readonly execution: ExecutionAtRest;
  readonly commits: readonly Commit[];
}

/** An execution told commit by commit, with the rows that belong to it. */
export function told(
  execution_id: string,
  input: Encoded,
  of: { readonly commits: readonly ToldCommit[]; readonly over?: Partial<ExecutionRow> },
): Told {
  const fresh = createdExecution({
    execution_id,
    namespace: "default",
    workflow: "program",
    version: 1,
    module_hash: "m1",
    input,
    trigger: { kind: "api" },
    by: null,
    seed: "seed",
    now: BEGAN,
  });
  let row: ExecutionRow = { ...fresh.row, ...of.over, head: 0 };
  const log: { event: Event; recorded_at: number }[] = [];
  const commits = of.commits.map(({ at, state, owned, events: lines }, i): Commit => {
    const time = BEGAN + at;
    const events = lines.map((line, n) =>
      eventOf(line, { execution_id, time, seq: row.head + 1 + n }),
    );
    for (const event of events) log.push({ event, recorded_at: time });
    row = { ...row, ...patchOf(row, events, { state, owned, time }) };
    const transaction = i + 1;
    const of = {
      at: time,
      asked_at: time,
      clock: time,
      decided_clock: time,
      server: "s1",
      transaction,
      span: { began: time, settled: time },
    };
    return { ...of, execution_id, row, events };
  });
  return { execution: { row, log }, commits };
}

function patchOf(
  row: ExecutionRow,
  events: readonly Event[],
  { state, owned, time }: { readonly state: State; readonly owned: boolean; readonly time: number },
): Partial<ExecutionRow> {
  const claims = events.filter(({ type }) => type === "WORKFLOW_CLAIMED").length;
  const last = events.at(-1);
  return {
    state,
    head: row.head + events.length,
    generation: row.generation + claims,
    session: owned ? SESSION : null,
    worker: owned ? WORKER : null,
    ...(row.started_at === null && state === "RUNNING" && { started_at: time }),
    ...(isTerminal(state) && { finished_at: time }),
    ...(last?.type === "WORKFLOW_COMPLETED" && { output: last.value }),
    ...(last?.type === "WORKFLOW_FAILED" && { failure: last.value as never }),
  };
}

interface Place {
  readonly execution_id: string;
  readonly time: number;
  readonly seq: number;
}

function eventOf(
  [type, source_id, value = null, meta = null]: Line,
  { execution_id, time, seq }: Place,
): Event {
  const name = source_id?.slice(source_id.lastIndexOf("/") + 1).split("~")[0] ?? "program";
  const kind = source_id !== undefined && isBuiltInCall(name) ? (name as Event["kind"]) : null;
  const at = formatEventTime(time);
  return { seq, type, source_id: source_id ?? execution_id, name, kind, value, time: at, meta };
}

export function claim(generation: number, reason: "start" | "resume" | "recover" | "cancel"): Line {
  const value = { worker: WORKER, generation, reason, attempt: generation, score: null };
  return ["WORKFLOW_CLAIMED", undefined, value];
}

export const UNDEFINED: Encoded = encode(undefined, "value");
