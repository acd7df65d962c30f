import type { Append } from "./change.ts";
import { Draft } from "./draft.ts";
import { EngineError } from "./errors.ts";
import type { NewEvent } from "./event.ts";
import { isTerminal } from "./execution.ts";
import type { BufferedSignal, ExecutionRow } from "./execution-row.ts";
import { type Encoded, encode, peek } from "./value.ts";
import { answerWait } from "./wait-rules.ts";

/** A signal on its way to an execution; `by` is who sent it, null when nobody is known. */
export interface Signal {
  readonly name: string;
  readonly payload: Encoded;
  readonly by: string | null;
  readonly now: number;
}

/**
 * Decides on a signal (EXE-53): it goes to the call that has waited longest under its name, or is
 * kept until one begins to wait. Either way it is consumed once.
 */
export function decideSignal(row: ExecutionRow, signal: Signal): Append | EngineError {
  const { name, payload, by, now } = signal;
  const { state, execution_id } = row;
  if (isTerminal(state) || state === "CANCELLING") {
    const message = `execution ${execution_id} is ${state} and takes no signals`;
    const code = isTerminal(state) ? "execution_finished" : "conflict";
    return new EngineError(code, message, { details: { state } });
  }
  const draft = new Draft(row, now);
  const value = encode({ name, payload: peek(payload) }, "value");
  draft.write({ type: "WORKFLOW_SIGNALED", value, meta: { by } });
  const wait = row.waits.find((open) => open.kind === "signal" && open.name === name);
  if (wait) answerWait(draft, wait, { cause: "signal", output: payload, by });
  else draft.set({ signals: [...row.signals, { name, payload }] });
  return draft.done();
}

/** Gives signals that came early to calls that have just begun to wait. */
export function consumeSignals(draft: Draft, events: readonly NewEvent[]): void {
  for (const { type, kind, source_id } of events) {
    if (type !== "TASK_STARTED" || kind !== "signal" || draft.row.signals.length === 0) continue;
    const wait = draft.row.waits.find((open) => open.task_call_id === source_id);
    const i = draft.row.signals.findIndex(({ name }) => name === wait?.name);
    const early = draft.row.signals[i];
    if (!wait || !early) continue;
    draft.set({ signals: draft.row.signals.toSpliced(i, 1) });
    answerWait(draft, wait, { cause: "signal", output: early.payload });
  }
}

/** Signals of a log that no call has consumed, in arrival order. */
export function unconsumedSignals(log: readonly NewEvent[]): BufferedSignal[] {
  const names = new Map<string, string>();
  const left: BufferedSignal[] = [];
  for (const { type, kind, source_id, value } of log) {
    if (type === "WORKFLOW_SIGNALED") {
      const { name, payload } = peek(value) as { name: string; payload?: unknown };
      left.push({ name, payload: encode(payload, "payload") });
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
