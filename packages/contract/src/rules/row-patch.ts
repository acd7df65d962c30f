import type { Failure } from "../errors/failure.ts";
import { isTerminal, type State } from "../executions/execution.ts";
import {
  type ExecutionPatch,
  type ExecutionRow,
  isParked,
  type OpenWait,
} from "../executions/execution-row.ts";
import { isOutcome, type NewEvent } from "../log/event.ts";
import type { CallStart, PauseStart, SignalStart, SleepStart } from "../log/wait-starts.ts";
import { parseEventTime, parseInstant } from "../values/time.ts";
import { type Encoded, encode, peek } from "../values/value.ts";
import { nextState } from "./transition.ts";

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
    const { type } = event;
    state = nextState(state, type) ?? state;
    last_time = Math.max(last_time, parseEventTime(event.time));
    if (type === "WORKFLOW_STARTED") started_at = now;
    else if (type === "WORKFLOW_RESUMING") resuming = true;
    else if (type === "WORKFLOW_RESUMED") resuming = false;
    else if (type === "WORKFLOW_COMPLETED") output = event.value;
    else if (type === "WORKFLOW_FAILED") failure = event.value as unknown as Failure;
    else {
      const opened = openedBy(event);
      if (opened) waits = [...waits, opened];
      else if (waits.length && isOutcome(type)) {
        waits = waits.filter((wait) => wait.task_call_id !== event.source_id);
      }
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

/** The wait that an event opens, if it opens one. */
function openedBy(event: NewEvent): OpenWait | undefined {
  if (event.type === "TASK_PAUSED") return openedPause(event);
  if (event.type !== "TASK_STARTED" || event.kind === null) return undefined;
  // Nothing could be stored of it: the call fails, and waits for nothing.
  if (event.value === null) return undefined;
  const of = { task_call_id: event.source_id, output: null, since: parseEventTime(event.time) };
  switch (event.kind) {
    case "sleep": {
      // A short one is ended by the copy that runs it.
      if (event.meta?.["inline"] === true) return undefined;
      const { until } = peek(event.value) as SleepStart;
      return { kind: "sleep", name: event.name, ...of, until: parseInstant(until) };
    }
    case "signal": {
      const { name, until } = peek(event.value) as SignalStart;
      return { kind: "signal", name, ...of, ...(until && { until: parseInstant(until) }) };
    }
    case "call": {
      const { workflow } = peek(event.value) as CallStart;
      return { kind: "child", name: workflow, ...of };
    }
    default:
      return undefined;
  }
}

function openedPause(event: NewEvent): OpenWait {
  const { name, output, until, on_complete } = peek(event.value) as PauseStart;
  return {
    kind: "pause",
    task_call_id: event.source_id,
    name,
    output: output === undefined ? null : encode(output, "output"),
    since: parseEventTime(event.time),
    ...(until !== undefined && { until: parseInstant(until) }),
    ...(on_complete !== undefined && { execution_id: on_complete }),
  };
}

/** The earliest instant at which the engine has to look at an execution (`wake_at`). */
export function wakeAt(row: ExecutionRow): number | null {
  const { state, session, waits, cancelling, timeout_ms, started_at, not_before, park_by } = row;
  if (isTerminal(state)) return null;
  if (state === "CANCELLING") {
    return session === null && cancelling ? Math.min(cancelling.by, not_before ?? Infinity) : null;
  }
  let earliest =
    timeout_ms !== null && started_at !== null ? started_at + timeout_ms : Number.POSITIVE_INFINITY;
  if (session === null) earliest = Math.min(earliest, not_before ?? Infinity, park_by ?? Infinity);
  // A worker that runs the execution, or is about to, times its waits itself (decision 0019).
  for (const { until } of isParked(row) ? waits : []) {
    if (until !== undefined && until < earliest) earliest = until;
  }
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}
