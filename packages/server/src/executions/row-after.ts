/**
 * An execution as it was after each of its events. One commit can hold several of them (creation and
 * claim; start, tasks and completion), but a stream tells each state with the record of its moment.
 */
import {
  type Event,
  type ExecutionRow,
  isTerminal,
  NO_SIGNALS,
  patchOf,
  unowned,
} from "@engine/contract";
import type { Changed, LoggedEvent } from "@engine/store";

/** The row as it was before its first event. */
export function rowBefore(row: ExecutionRow): ExecutionRow {
  return {
    ...row,
    state: "CREATED",
    output: null,
    failure: null,
    worker: null,
    session: null,
    last_worker: null,
    last_session: null,
    generation: 0,
    head: 0,
    resuming: false,
    waits: [],
    signals: NO_SIGNALS,
    watchers: [],
    wake_at: null,
    cancelling: null,
    started_at: null,
    finished_at: null,
    updated_at: row.created_at,
  };
}

/**
 * A fresh execution as its creation left it. The claim may be part of the same commit, but an accepted
 * start is told as CREATED, or a fork as RESUMING, whether or not a worker was free (EXE-81).
 */
export function rowAsCreated({ row, events, existing }: Changed): ExecutionRow {
  if (existing || row.generation !== 1 || events.at(-1)?.type !== "WORKFLOW_CLAIMED") return row;
  const state = row.resuming ? "RESUMING" : "CREATED";
  const before = { generation: row.generation - 1, head: row.head - 1 };
  return { ...row, state, worker: null, session: null, ...before };
}

/** The row after one more event, as far as the log says. */
export function rowAfter(row: ExecutionRow, { event, recorded_at }: LoggedEvent): ExecutionRow {
  const next = { ...row, ...patchOf(row, [event], recorded_at) };
  if (event.type === "WORKFLOW_CLAIMED") return { ...next, ...claimOf(event) };
  if (next.state === "PAUSED" || isTerminal(next.state)) return { ...next, ...unowned(next) };
  return next;
}

function claimOf(event: Event): Pick<ExecutionRow, "worker" | "generation"> {
  return event.value as { worker: string; generation: number };
}
