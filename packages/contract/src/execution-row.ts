import type { State, Wait } from "./execution.ts";
import type { Failure } from "./failure.ts";
import type { Encoded } from "./value.ts";

/** An open wait of an execution: kept on its row, so that a resume need not read the log. */
export interface OpenWait {
  readonly kind: Wait["kind"];
  readonly task_call_id: string;
  readonly name: string;
  /** What the pause shows to whoever resumes it. */
  readonly output: Encoded;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/**
 * An execution as every store keeps it. Instants are milliseconds since 1970. The row is what
 * decides: ownership, generation and head are read and written in the transaction of each change.
 */
export interface ExecutionRow {
  readonly execution_id: string;
  readonly namespace: string;
  readonly workflow: string;
  /** Null for a local run, which no server dispatches. */
  readonly version: number | null;
  /** Hash of the bundle it is pinned to; null for a local run. */
  readonly module_hash: string | null;
  /** An operator's label. */
  readonly name: string | null;
  readonly state: State;
  readonly input: Encoded;
  /** The workflow's output once COMPLETED, else null. */
  readonly output: Encoded;
  readonly failure: Failure | null;
  /** Worker that owns it now; null while it is queued, parked, paused or ended. */
  readonly worker: string | null;
  /** Id of the owner's session (for a local run, of its process). Null = unowned. */
  readonly session: string | null;
  /** Owner before the present one: preferred on resume, and still allowed to repeat itself. */
  readonly last_worker: string | null;
  readonly last_session: string | null;
  /** Grows by one with every assignment and fences every earlier owner. */
  readonly generation: number;
  /** `seq` of the newest event. */
  readonly head: number;
  /** `time` of the newest event. */
  readonly last_time: number;
  /** A WORKFLOW_RESUMING has not been followed by a WORKFLOW_RESUMED yet. */
  readonly resuming: boolean;
  readonly waits: readonly OpenWait[];
  readonly priority: number;
  /** When it last became runnable; orders the queue. */
  readonly queued_at: number;
  readonly parent_id: string | null;
  readonly parent_call_id: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly updated_at: number;
}

/** The columns a change of an execution may write. */
export type ExecutionPatch = Partial<
  Pick<
    ExecutionRow,
    | "state"
    | "output"
    | "failure"
    | "worker"
    | "session"
    | "last_worker"
    | "last_session"
    | "generation"
    | "head"
    | "last_time"
    | "resuming"
    | "waits"
    | "queued_at"
    | "started_at"
    | "finished_at"
    | "updated_at"
  >
>;

/** Whether it waits with nobody running it, in a state a dispatcher looks at. */
export function isQueued(row: Pick<ExecutionRow, "state" | "session" | "version">): boolean {
  return row.session === null && row.version !== null && isRunnable(row.state);
}

function isRunnable(state: State): boolean {
  return state === "CREATED" || state === "RESUMING" || state === "CANCELLING";
}
