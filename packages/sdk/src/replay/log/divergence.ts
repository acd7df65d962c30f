import { type Event, engineFailure, type Failure, peek } from "@engine/contract";
import { parentOf } from "../calls/call-ids.ts";
import type { CallRef, RunOptions } from "../port.ts";
import type { Journal, RecordedCall } from "./journal.ts";

export interface Divergence {
  /** Position among the calls of the same parent, from 0. */
  readonly position: number;
  /** What the log holds there. */
  readonly expected: CallRef | null;
  /** What the code did there. */
  readonly found: CallRef | null;
  /** Where in the code, when it made a call. */
  readonly at?: string | undefined;
  readonly of: { readonly journal: Journal; readonly options: RunOptions };
}

export function recordedRef(call: RecordedCall): CallRef {
  return { task_call_id: call.id, name: call.name, label: recordedLabel(call) };
}

/** Of which field of a built-in's TASK_STARTED the label is taken (EXE-28). */
const LABELS: Readonly<Record<string, string>> = {
  pause: "name",
  signal: "name",
  graph: "name",
  call: "workflow",
  get_config: "key",
};

/** What tells two calls of one built-in apart beyond its name. */
function recordedLabel(call: RecordedCall): string | null {
  const field = call.kind === null ? undefined : LABELS[call.kind];
  if (field === undefined) return null;
  const { value, meta } = call.started;
  // What it was given could not be stored; logs from before the label was kept have none.
  if (value === null) return (meta?.["label"] as string | undefined) ?? null;
  return String((peek(value) as Readonly<Record<string, unknown>>)[field]);
}

/** Whether a record is of a call with that label. */
export function hasLabel(call: RecordedCall, label: string | null): boolean {
  const recorded = recordedLabel(call);
  return recorded === label || (recorded === null && call.started.value === null);
}

/** The log holds a call that the code did not make. */
export function notMade(call: RecordedCall, of: Divergence["of"]): Divergence {
  const siblings = of.journal.childrenOf(parentOf(call.id));
  return { position: siblings.indexOf(call), expected: recordedRef(call), found: null, of };
}

/** Why an execution cannot go on: the code does not do what the log says it did (EXE-28, I8). */
export function nondeterminism({ position, expected, found, at, of }: Divergence): Failure {
  const { journal, options } = of;
  const hint = hintFor(expected, found);
  const recorded = journal.started?.meta as
    | { version?: number; bundle?: string }
    | null
    | undefined;
  const { version: running_version, bundle: running_bundle } = options.info;
  const recorded_version = recorded?.version ?? running_version;
  const recorded_bundle = recorded?.bundle ?? null;
  const { started } = (expected && journal.calls.get(expected.task_call_id)) || {};
  const message = [
    `replay diverged at position ${position}: the code does not do what the log says it did`,
    `  expected  ${padded(show(expected))}  ${started ? eventPlace(started) : "the log ends before"}`,
    `  found     ${padded(found ? show(found) : "no such call")}  ${at ?? (found ? "" : "the code went on without it")}`,
    `  recorded  version ${recorded_version ?? "-"}, bundle ${short(recorded_bundle)}`,
    `  running   version ${running_version ?? "-"}, bundle ${short(running_bundle)}`,
    hint,
  ].map((line) => line.trimEnd());
  const details = {
    position,
    expected,
    found,
    at: at ?? null,
    recorded_version,
    running_version,
    recorded_bundle,
    running_bundle,
    hint,
  };
  return engineFailure("NondeterminismError", message.join("\n"), { details });
}

function show(call: CallRef | null): string {
  if (!call) return "no call";
  return call.label === null ? call.task_call_id : `${call.task_call_id} ("${call.label}")`;
}

function padded(text: string): string {
  return text.padEnd(28);
}

function eventPlace({ seq, time }: Event): string {
  return `event ${seq}, ${time}`;
}

function short(hash: string | null): string {
  return hash === null ? "-" : hash.slice(0, 12);
}

function hintFor(expected: CallRef | null, found: CallRef | null): string {
  if (!found) {
    return "A call was removed, or a branch depends on something that is not recorded: a global, an outside read. Move such reads into a task; for a change of code register a new version and let running executions finish on theirs.";
  }
  if (expected && expected.name === found.name) {
    return "The same call got another label: keep the names of pauses, signals, children and graphs stable for running executions.";
  }
  return "Calls were added, removed, renamed or reordered in code that executions still run, or a branch depends on something that is not recorded. Keep the order of calls, or register a new version and let running executions finish on theirs.";
}
