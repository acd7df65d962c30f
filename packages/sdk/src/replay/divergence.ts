import { decode, engineFailure, type Failure } from "@engine/contract";
import type { RecordedCall } from "./journal.ts";

/** A call as a divergence names it. */
export interface CallRef {
  readonly task_call_id: string;
  readonly name: string;
  readonly label: string | null;
}

export interface Divergence {
  /** Position among the calls of the same parent, from 0. */
  readonly position: number;
  /** What the log holds there. */
  readonly expected: CallRef | null;
  /** What the code did there. */
  readonly found: CallRef | null;
}

export function recordedRef(call: RecordedCall): CallRef {
  return { task_call_id: call.id, name: call.name, label: recordedLabel(call) };
}

/** What tells two calls of one built-in apart beyond its name: a pause's name (EXE-28). */
export function recordedLabel(call: RecordedCall): string | null {
  if (call.kind !== "pause") return null;
  return (decode(call.started.value) as { name: string }).name;
}

/** Why an execution cannot go on: the code does not do what the log says it did (EXE-28, I8). */
export function nondeterminism({ position, expected, found }: Divergence): Failure {
  const hint = hintFor(expected, found);
  return engineFailure(
    "NondeterminismError",
    `replay diverged at position ${position}: the log has ${show(expected)}, the code ${found ? `made ${show(found)}` : "made no such call"}. ${hint}`,
    { details: { position, expected, found, hint } },
  );
}

function show(call: CallRef | null): string {
  if (!call) return "no call";
  return call.label === null ? call.task_call_id : `${call.task_call_id} ("${call.label}")`;
}

function hintFor(expected: CallRef | null, found: CallRef | null): string {
  if (!found) {
    return "A call was removed, or a branch depends on something that is not recorded: a clock, randomness, a global, an outside read. Move such reads into a task.";
  }
  if (expected && expected.name === found.name) {
    return "The same call got another label; keep names of pauses stable for running executions.";
  }
  return "Calls were added, removed, renamed or reordered in code that executions still run, or a branch depends on something that is not recorded. Keep the order of calls, or register a new version and let running executions finish on theirs.";
}
