import type { Config } from "../config/config.ts";
import { EngineError } from "../errors/errors.ts";
import { isTerminal } from "../executions/execution.ts";
import type { ExecutionRow } from "../executions/execution-row.ts";
import {
  type FindKept,
  type KeptSignal,
  NO_SIGNALS,
  signalsDropped,
  withSignal,
} from "../executions/kept-signals.ts";
import type { NewEvent } from "../log/event.ts";
import { type Encoded, encode, peek } from "../values/value.ts";
import type { Append } from "./change.ts";
import { Draft } from "./draft.ts";
import { answerWait } from "./wait-rules.ts";

/** How much an execution may have of what others send it. */
type SignalLimits = Readonly<
  Pick<Config["executions"], "max_kept_signals" | "max_kept_signal_bytes" | "max_events">
>;

/** A signal on its way to an execution; `by` is who sent it, null when nobody is known. */
export interface Signal {
  readonly name: string;
  readonly payload: Encoded;
  readonly by: string | null;
  readonly now: number;
  readonly limits: SignalLimits;
}

/** A signal, the outcome of the call that takes it, and the resuming that follows. */
const MOST_EVENTS = 3;

/**
 * Decides on a signal (EXE-53): it goes to the call that has waited longest under its name, or is
 * kept until one begins to wait. Either way it is consumed once.
 */
export function decideSignal(row: ExecutionRow, signal: Signal): Append | EngineError {
  const { name, payload, by, now, limits } = signal;
  const { state, execution_id } = row;
  if (isTerminal(state) || state === "CANCELLING") {
    const message = `execution ${execution_id} is ${state} and takes no signals`;
    const code = isTerminal(state) ? "execution_finished" : "conflict";
    return new EngineError(code, message, { details: { state } });
  }
  if (row.head + MOST_EVENTS > limits.max_events) return logIsFull(row, limits);
  const draft = new Draft(row, now);
  const value = encode({ name, payload: peek(payload) }, "value");
  draft.write({ type: "WORKFLOW_SIGNALED", value, meta: { by } });
  const wait = row.waits.find((open) => open.kind === "signal" && open.name === name);
  if (wait) answerWait(draft, wait, { cause: "signal", output: payload, by });
  else {
    draft.keepSignal({ seq: draft.row.head, name, payload });
    const refusal = tooMany(draft.row, limits);
    if (refusal) return refusal;
  }
  return draft.done();
}

function tooMany({ execution_id, signals }: ExecutionRow, limits: SignalLimits) {
  const { count, bytes } = signals;
  const { max_kept_signals, max_kept_signal_bytes } = limits;
  if (count <= max_kept_signals && bytes <= max_kept_signal_bytes) return undefined;
  const what =
    count > max_kept_signals
      ? `${max_kept_signals} signals (executions.max_kept_signals)`
      : `${max_kept_signal_bytes} bytes of signals (executions.max_kept_signal_bytes)`;
  const message = `execution ${execution_id} keeps at most ${what} that no call has taken, and with this one it would have ${count} of ${bytes} bytes; send it again once some were taken`;
  return new EngineError("too_many_signals", message, {
    details: { max_kept_signals, max_kept_signal_bytes },
  });
}

function logIsFull({ execution_id, head }: ExecutionRow, { max_events }: SignalLimits) {
  const message = `the log of execution ${execution_id} has ${head} events and may have ${max_events} (executions.max_events): it takes no more signals; start another execution for what follows`;
  return new EngineError("too_many_signals", message, { details: { head, max_events } });
}

/** Gives signals that came early to calls that have just begun to wait. */
export function consumeSignals(draft: Draft, events: readonly NewEvent[], find: FindKept): void {
  for (const { type, kind, source_id } of events) {
    if (type !== "TASK_STARTED" || kind !== "signal" || draft.row.signals.count === 0) continue;
    const wait = draft.row.waits.find((open) => open.task_call_id === source_id);
    const early = wait && draft.takeSignal(wait.name, find);
    if (early) answerWait(draft, wait, { cause: "signal", output: early.payload });
  }
}

/** What a log says at its end of signals that no call has consumed; undefined when there are none. */
export function droppedSignals(log: readonly NewEvent[]): string | undefined {
  return signalsDropped(unconsumedSignals(log).reduce(withSignal, NO_SIGNALS));
}

/**
 * Signals of a log that no call has consumed, in arrival order.
 *
 * @returns With the place of their events in what was given, the first being 1.
 */
export function unconsumedSignals(log: readonly NewEvent[]): KeptSignal[] {
  const names = new Map<string, string>();
  const left: KeptSignal[] = [];
  for (const [i, { type, kind, source_id, value }] of log.entries()) {
    if (type === "WORKFLOW_SIGNALED") {
      const { name, payload } = peek(value) as { name: string; payload?: unknown };
      left.push({ seq: i + 1, name, payload: encode(payload, "payload") });
    } else if (kind === "signal" && type === "TASK_STARTED") {
      names.set(source_id, (peek(value) as { name: string }).name);
    } else if (kind === "signal" && type === "TASK_COMPLETED") {
      // Of a call that timed out there is none: it would have consumed it.
      const first = left.findIndex(({ name }) => name === names.get(source_id));
      if (first >= 0) left.splice(first, 1);
    }
  }
  return left;
}
