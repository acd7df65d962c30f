/**
 * What happens to an execution when somebody adds to its log, as pure decisions over its row. Every
 * store reads the row, asks here, and writes the answer in the same transaction; the local run and
 * the test engine ask the same functions.
 */

import { EngineError } from "../errors/errors.ts";
import { isTerminal, State } from "../executions/execution.ts";
import type { ExecutionPatch, ExecutionRow, OpenWait } from "../executions/execution-row.ts";
import type { FindKept } from "../executions/kept-signals.ts";
import type { CallResolutions } from "../executions/new-execution.ts";
import { type Event, isOutcome, type NewEvent } from "../log/event.ts";
import { parseInstant } from "../values/time.ts";
import { type Encoded, isSameJson } from "../values/value.ts";
import type { Checkpoint } from "../workers/checkpoint.ts";
import { startCalls } from "./call-rules.ts";
import type { Append } from "./change.ts";
import { Draft } from "./draft.ts";
import { cancelChildOf, concluded, finished, watch } from "./ending-rules.ts";
import { consumeSignals } from "./signal-rules.ts";
import { stateAfter } from "./transition.ts";
import { answerWait } from "./wait-rules.ts";

/** What becomes of a checkpoint. Nothing of a refused checkpoint is written. */
export type CheckpointVerdict =
  | Append
  /** Everything sent is recorded already: nothing to write, answer with this `seq`. */
  | { readonly kind: "repeat"; readonly seq: number }
  | { readonly kind: "refuse"; readonly error: EngineError };

/** Who sends a checkpoint, with what its decision depends on. */
export interface CheckpointSender {
  /** Id of the sender's session. */
  readonly session: string;
  /** The server's clock. */
  readonly now: number;
  /** What the `call`s among the events start. */
  readonly calls: CallResolutions;
  /** Milliseconds a worker has to unwind a child that is cancelled with its call. */
  readonly cancel_timeout_ms: number;
  /** Looks kept signals up; only asked where the row says that there are some. */
  readonly findKept: FindKept;
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
    const message = `the log ends at ${row.head}, before base_seq ${item.base_seq}`;
    return refuse(new EngineError("seq_gap", message, { details: { head: row.head } }));
  }

  const known = leadingRepeat(item.events, item.base_seq < row.head ? recorded : []);
  const repeats = known === item.events.length && (known > 0 || owns || parks(item));
  // Parking adds no event: a park that is not done yet is news even if the log holds every event.
  if (repeats && !(owns && parks(item))) {
    return { kind: "repeat", seq: item.base_seq + known };
  }
  if (!owns) return refuse(stale(row));
  if (item.base_seq + known < row.head) return refuse(conflict(row, item, known, recorded));

  const events = item.events.slice(known);
  const state = stateAfter(row.state, events);
  const isOfWorkers = state !== undefined && WORKER_STATES.includes(state);
  if (!isOfWorkers || state !== item.state) {
    const message = `state ${item.state} does not follow from ${row.state} by the events sent`;
    const expected = isOfWorkers ? state : "events that are legal there";
    const issues = [{ path: "state", message: `expected ${expected}` }];
    return refuse(new EngineError("invalid_input", message, { details: { issues } }));
  }
  const draft = new Draft(row, sender.now).append(events);
  if (row.outcome_generation !== row.generation && events.some(({ type }) => isOutcome(type))) {
    // An outcome was recorded after the last loss: losses before it no longer count (LIV-5).
    draft.set({ outcome_generation: row.generation });
    if (row.losses.length > 0) draft.set({ losses: [] });
  }
  if (isTerminal(state) || state === "PAUSED" || parks(item)) draft.set(unowned(row));
  if (item.waiting) {
    const told = draft.row.waits.filter(({ kind }) => kind !== "retry");
    draft.set({ waits: [...told, ...retryWaits(item, sender.now)] });
  }
  openWaits(draft, events, sender);
  giveUpChildren(draft, events, sender);
  return concluded(draft, sender.cancel_timeout_ms);
}

/** Retry delays of a parked execution: the only waits that no event opens. */
function retryWaits({ waiting = [] }: Checkpoint, since: number): OpenWait[] {
  return waiting
    .filter(({ kind }) => kind === "retry")
    .map(({ task_call_id, name, until }) => ({
      kind: "retry",
      task_call_id,
      name,
      output: null,
      since,
      ...(until !== undefined && { until: parseInstant(until) }),
    }));
}

/** What follows at once for waits that events have opened: children, early signals, pauses on an end. */
export function openWaits(
  draft: Draft,
  events: readonly NewEvent[],
  { calls, findKept }: { readonly calls: CallResolutions; readonly findKept: FindKept },
): void {
  startCalls(draft, events, calls);
  consumeSignals(draft, events, findKept);
  followPauses(draft, events);
}

/** Pauses that end with another execution. */
function followPauses(draft: Draft, events: readonly NewEvent[]): void {
  for (const { type, source_id: task_call_id } of events) {
    if (type !== "TASK_PAUSED") continue;
    const wait = draft.row.waits.find((open) => open.task_call_id === task_call_id);
    if (!wait?.execution_id) continue;
    const { execution_id } = draft.row;
    draft.effect(watch(wait.execution_id, { execution_id, task_call_id }, draft.now));
  }
}

/** Children of waiting calls that the worker gave up. */
function giveUpChildren(draft: Draft, events: readonly NewEvent[], sender: CheckpointSender): void {
  for (const { type, kind, source_id } of events) {
    if (type !== "TASK_CANCELLED" || kind !== "call") continue;
    const wait = draft.before.waits.find((open) => open.task_call_id === source_id);
    if (wait?.execution_id) draft.effect(cancelChildOf(wait.execution_id, sender));
  }
}

/** The states a worker may leave an execution in; the others come about on the server (CKP-1). */
const WORKER_STATES: readonly State[] = State.exclude(["CREATED", "CLAIMED", "RESUMING"]).options;

function parks(item: Checkpoint): boolean {
  return item.waiting !== undefined && item.state === "RUNNING";
}

/** How many of the sent events the log holds already, in the same order from the same place. */
function leadingRepeat(sent: readonly NewEvent[], recorded: readonly Event[]): number {
  const firstNew = sent.findIndex((event, i) => !isRepeat(event, recorded[i]));
  return firstNew < 0 ? sent.length : firstNew;
}

/** The end of a wait may be told by its copy and by the server in the same millisecond: values differ. */
function isRepeat(a: NewEvent, b: Event | undefined): boolean {
  return (
    b !== undefined &&
    a.type === b.type &&
    a.source_id === b.source_id &&
    a.time === b.time &&
    isSameJson(a.value, b.value)
  );
}

function refuse(error: EngineError): CheckpointVerdict {
  return { kind: "refuse", error };
}

/** The answer to a writer that is not the owner: a worker drops its copy on it. */
export function stale(
  row: Pick<ExecutionRow, "execution_id" | "state" | "generation">,
): EngineError {
  const { execution_id, state, generation } = row;
  const message = `execution ${execution_id} is not owned by this session at that generation`;
  return new EngineError("stale_claim", message, { details: { state, generation } });
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

/** An answer to a pause. */
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
  if (isTerminal(state)) return finished(row, "cannot be resumed");
  const open = row.waits.filter((wait) => wait.kind === "pause");
  const named = resume.pause
    ? open.filter((w) => w.name === resume.pause || w.task_call_id === resume.pause)
    : open;
  const [wait, ...others] = named;
  if (!wait || state === "CANCELLING") {
    const which = resume.pause ? ` pause "${resume.pause}" open` : " open pause";
    const message = `execution ${row.execution_id} is ${state} and has no${which}`;
    return new EngineError("not_paused", message, {
      details: { state, pauses: open.map(pauseRef) },
    });
  }
  if (others.length) {
    const names = named.map(({ name }) => name).join(", ");
    const message = `execution ${row.execution_id} has ${named.length} open pauses, ${names}; name one with "pause"`;
    return new EngineError("ambiguous_pause", message, {
      details: { pauses: named.map(pauseRef) },
    });
  }

  const draft = new Draft(row, resume.now);
  // Whoever resumes an execution answers for what it does from there on (AUTH-34).
  if (resume.by !== null && resume.by !== row.run_as) draft.set({ run_as: resume.by });
  answerWait(draft, wait, { cause: "resume", output: resume.input, by: resume.by });
  return draft.done();
}

function pauseRef({ name, task_call_id }: OpenWait): { name: string; task_call_id: string } {
  return { name, task_call_id };
}
