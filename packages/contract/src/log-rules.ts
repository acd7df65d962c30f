/**
 * What happens to an execution when somebody adds to its log, as pure decisions over its row. Every
 * store reads the row, asks here, and writes the answer in the same transaction; the local run and
 * the test engine ask the same functions.
 */
import { EngineError } from "./errors.ts";
import { type Event, isOutcome, type NewEvent } from "./event.ts";
import { isTerminal, type State } from "./execution.ts";
import type { ExecutionPatch, ExecutionRow, OpenWait } from "./execution-row.ts";
import type { Failure } from "./failure.ts";
import { formatEventTime, parseEventTime } from "./time.ts";
import { nextState, stateAfter } from "./transition.ts";
import { decode, type Encoded, encode } from "./value.ts";
import type { Checkpoint } from "./worker.ts";

export interface Append {
  readonly kind: "append";
  /** Events to write; the first becomes `head + 1`. */
  readonly events: readonly NewEvent[];
  readonly patch: ExecutionPatch;
}

export type CheckpointVerdict =
  | Append
  /** Everything sent is recorded already: nothing to write, answer with this `seq`. */
  | { readonly kind: "repeat"; readonly seq: number }
  | { readonly kind: "refuse"; readonly error: EngineError };

export interface CheckpointSender {
  /** Id of the sender's session. */
  readonly session: string;
  /** The server's clock. */
  readonly now: number;
}

/**
 * Decides on a checkpoint (CKP-1 to CKP-4, EXE-18).
 *
 * @param recorded The log above `base_seq`; only looked at when `base_seq` lies below the head.
 */
export function decideCheckpoint(
  row: ExecutionRow,
  item: Checkpoint,
  sender: CheckpointSender,
  recorded: readonly Event[],
): CheckpointVerdict {
  const owns = row.session === sender.session && row.generation === item.generation;
  const owned = row.last_session === sender.session && row.generation === item.generation;
  if (!owns && !owned) return refuse(stale(row));
  if (item.base_seq > row.head) {
    if (!owns) return refuse(stale(row));
    return refuse(
      new EngineError("seq_gap", `the log ends at ${row.head}, before base_seq ${item.base_seq}`, {
        details: { head: row.head },
      }),
    );
  }

  const known = leadingRepeat(item.events, item.base_seq < row.head ? recorded : []);
  const repeats = known === item.events.length && (known > 0 || owns);
  if (repeats && !(owns && item.base_seq + known === row.head && parks(item))) {
    return { kind: "repeat", seq: item.base_seq + known };
  }
  if (!owns) return refuse(stale(row));
  if (item.base_seq + known < row.head) return refuse(conflict(row, item, known, recorded));

  const events = item.events.slice(known);
  const state = stateAfter(row.state, events);
  if (state !== item.state || !WORKER_STATES.includes(state)) {
    return refuse(
      new EngineError(
        "invalid_input",
        `state ${item.state} does not follow from ${row.state} by the events sent`,
        {
          details: { issues: [{ path: "state", message: `expected ${expectedState(state)}` }] },
        },
      ),
    );
  }
  const patch = patchOf(row, events, sender.now);
  const unowns = isTerminal(state) || state === "PAUSED" || parks(item);
  return { kind: "append", events, patch: unowns ? { ...patch, ...unowned(row) } : patch };
}

/** The states a worker may leave an execution in; the others come about on the server (CKP-1). */
const WORKER_STATES: readonly State[] = [
  "RUNNING",
  "PAUSED",
  "CANCELLING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
];

function expectedState(state: State | undefined): string {
  return state && WORKER_STATES.includes(state) ? state : "events that are legal there";
}

function parks(item: Checkpoint): boolean {
  return item.waiting !== undefined && item.state === "RUNNING";
}

/** How many of the sent events the log holds already, in the same order from the same place. */
function leadingRepeat(sent: readonly NewEvent[], recorded: readonly Event[]): number {
  let n = 0;
  for (; n < sent.length && n < recorded.length; n++) {
    const [a, b] = [sent[n], recorded[n]];
    if (a?.type !== b?.type || a?.source_id !== b?.source_id || a?.time !== b?.time) break;
  }
  return n;
}

function refuse(error: EngineError): CheckpointVerdict {
  return { kind: "refuse", error };
}

/** The answer to a writer that is not the owner: a worker drops its copy on it. */
export function stale(
  row: Pick<ExecutionRow, "execution_id" | "state" | "generation">,
): EngineError {
  return new EngineError(
    "stale_claim",
    `execution ${row.execution_id} is not owned by this session at that generation`,
    { details: { state: row.state, generation: row.generation } },
  );
}

function conflict(
  row: ExecutionRow,
  item: Checkpoint,
  known: number,
  recorded: readonly Event[],
): EngineError {
  const acknowledged = item.base_seq + known;
  return new EngineError("seq_conflict", `the log has grown to ${row.head} meanwhile`, {
    details: { head: row.head, acknowledged, events: recorded.slice(known) },
  });
}

/** The patch that gives an execution's slot back and remembers who had it. */
export function unowned(row: ExecutionRow): ExecutionPatch {
  return { worker: null, session: null, last_worker: row.worker, last_session: row.session };
}

/** What appended events change on the row: state, head, waits, instants, output, failure. */
export function patchOf(
  row: ExecutionRow,
  events: readonly NewEvent[],
  now: number,
): ExecutionPatch {
  let state: State = row.state;
  let { resuming, started_at, finished_at, last_time } = row;
  let waits: readonly OpenWait[] = row.waits;
  let output: Encoded = row.output;
  let failure: Failure | null = row.failure;
  for (const event of events) {
    state = nextState(state, event.type) ?? state;
    last_time = Math.max(last_time, parseEventTime(event.time));
    const { type } = event;
    if (type === "WORKFLOW_STARTED") started_at = now;
    else if (type === "WORKFLOW_RESUMING") resuming = true;
    else if (type === "WORKFLOW_RESUMED") resuming = false;
    else if (type === "WORKFLOW_COMPLETED") output = event.value;
    else if (type === "WORKFLOW_FAILED") failure = event.value as unknown as Failure;
    else if (type === "TASK_PAUSED") waits = [...waits, openPause(event)];
    else if (waits.length && (isOutcome(type) || type === "TASK_RESUMED")) {
      waits = waits.filter((wait) => wait.task_call_id !== event.source_id);
    }
  }
  if (isTerminal(state)) [finished_at, waits] = [now, []];
  return {
    state,
    head: row.head + events.length,
    last_time,
    resuming,
    waits,
    output,
    failure,
    started_at,
    finished_at,
    updated_at: now,
  };
}

function openPause(event: NewEvent): OpenWait {
  const { name, output } = decode(event.value) as { name: string; output?: unknown };
  return {
    kind: "pause",
    task_call_id: event.source_id,
    name,
    output: output === undefined ? null : encode(output, "output"),
    since: parseEventTime(event.time),
  };
}

export interface Resume {
  readonly input: Encoded;
  /** Name or `task_call_id` of the pause; needed when several are open. */
  readonly pause?: string | undefined;
  readonly by: string | null;
  /** The server's clock. */
  readonly now: number;
}

/** Decides on a resume (EXE-52, EXE-82). An owned execution goes on; its owner is told. */
export function decideResume(row: ExecutionRow, resume: Resume): Append | EngineError {
  const { state } = row;
  if (isTerminal(state)) {
    return new EngineError(
      "execution_finished",
      `execution ${row.execution_id} is ${state} and cannot be resumed`,
      { details: { state } },
    );
  }
  const open = row.waits.filter((wait) => wait.kind === "pause");
  const named = resume.pause
    ? open.filter((w) => w.name === resume.pause || w.task_call_id === resume.pause)
    : open;
  const [wait, ...others] = named;
  if (!wait || state === "CANCELLING") {
    const which = resume.pause ? ` pause "${resume.pause}" open` : " open pause";
    return new EngineError(
      "not_paused",
      `execution ${row.execution_id} is ${state} and has no${which}`,
      { details: { state, pauses: open.map(pauseRef) } },
    );
  }
  if (others.length) {
    return new EngineError(
      "ambiguous_pause",
      `execution ${row.execution_id} has ${named.length} open pauses; name one with "pause"`,
      { details: { pauses: named.map(pauseRef) } },
    );
  }

  const time = formatEventTime(Math.max(resume.now, row.last_time));
  const call = { source_id: wait.task_call_id, name: "pause", kind: "pause" as const, time };
  const value = { name: wait.name, input: decode(resume.input), cause: "resume" };
  const events: NewEvent[] = [
    { ...call, type: "TASK_RESUMED", value: encode(value, "value"), meta: null },
    { ...call, type: "TASK_COMPLETED", value: resume.input, meta: null },
  ];
  const parked = row.session === null && (state === "PAUSED" || state === "RUNNING");
  if (parked) {
    events.push({
      type: "WORKFLOW_RESUMING",
      source_id: row.execution_id,
      name: row.workflow,
      kind: null,
      value: resume.input,
      time,
      meta: { cause: "resume", task_call_id: wait.task_call_id, by: resume.by },
    });
  }
  const patch = patchOf(row, events, resume.now);
  return { kind: "append", events, patch: parked ? { ...patch, queued_at: resume.now } : patch };
}

function pauseRef({ name, task_call_id }: OpenWait): { name: string; task_call_id: string } {
  return { name, task_call_id };
}
