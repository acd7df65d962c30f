import {
  decode,
  type Event,
  type ExecutionRow,
  type Failure,
  formatInstant,
  isTerminal,
  type State,
} from "@engine/contract";

/** How an execution stands: what `run` resolves with (EXE-10, EXE-11). */
export interface RunResult<Output = unknown> {
  readonly executionId: string;
  readonly name: string;
  readonly namespace: string;
  readonly version: number | null;
  readonly label: string | null;
  readonly state: State;
  readonly input: unknown;
  /** Null unless COMPLETED. */
  readonly output: Output | null;
  readonly failure: Failure | null;
  readonly waiting: readonly {
    kind: string;
    name: string;
    task_call_id: string;
    output: unknown;
    /** When the engine ends it by itself, ISO 8601; null = only somebody else can. */
    until: string | null;
    /** Of a child its id. */
    execution_id: string | null;
  }[];
  readonly parentId: string | null;
  readonly events: readonly Event[];
  readonly finished: boolean;
  readonly succeeded: boolean;
  readonly failed: boolean;
  readonly paused: boolean;
  readonly cancelled: boolean;
  /** The same in the words of the wire: snake_case. */
  toJSON(): Record<string, unknown>;
}

/** What a run resolves with, of a row and its whole log as they stand. */
export function runResult<Output>(row: ExecutionRow, events: readonly Event[]): RunResult<Output> {
  const { state } = row;
  const waiting = row.waits.map((wait) => {
    const { kind, name, task_call_id, output, until, execution_id = null } = wait;
    const ends = until === undefined ? null : formatInstant(until);
    return { kind, name, task_call_id, output: decode(output), until: ends, execution_id };
  });
  return {
    executionId: row.execution_id,
    name: row.workflow,
    namespace: row.namespace,
    version: row.version,
    label: row.name,
    state,
    input: decode(row.input),
    output: state === "COMPLETED" ? (decode(row.output) as Output) : null,
    failure: row.failure,
    waiting,
    parentId: row.parent_id,
    events,
    finished: isTerminal(state),
    succeeded: state === "COMPLETED",
    failed: state === "FAILED",
    paused: state === "PAUSED",
    cancelled: state === "CANCELLED",
    toJSON() {
      const { executionId, parentId, toJSON: _, ...rest } = this;
      const created_at = formatInstant(row.created_at);
      return { execution_id: executionId, parent_id: parentId, ...rest, created_at };
    },
  };
}
