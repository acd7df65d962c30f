import {
  type ExecutionRecord,
  type ExecutionSummary,
  failureOf,
  type RecordedEvent,
} from "@engine/contract";
import { refText } from "../arguments/workflow-ref.ts";
import { ago, elapsed } from "./elapsed.ts";
import { failureLines } from "./failure-text.ts";
import type { Screen } from "./paint.ts";
import { stackView } from "./stack-view.ts";
import { stateMark } from "./state-mark.ts";
import { table, titled } from "./table.ts";
import { valueLine, valueText } from "./value-text.ts";
import { waitText } from "./wait-text.ts";

/** Name of the workflow as a user types it, with the version that runs. */
export function executionTitle({ namespace, workflow, version }: ExecutionSummary): string {
  return `${refText({ namespace, name: workflow })}${version === null ? " (local)" : ` v${version}`}`;
}

/** One execution, everything about it that a person asks for first. */
export function executionView(record: ExecutionRecord, { paint, now }: Screen): string {
  const { execution_id, state, error, pause, started_at, finished_at, worker, name } = record;
  const ran = started_at && finished_at && Date.parse(finished_at) - Date.parse(started_at);
  const head = `${stateMark(state, paint)}  ${paint("strong", executionTitle(record))}`;
  return titled(paint, head, [
    ["id", execution_id],
    ["label", name ?? undefined],
    ["created", `${ago(record.created_at, now)} (${record.created_at})`],
    ["took", typeof ran === "number" ? elapsed(ran) : undefined],
    ["worker", worker ?? undefined],
    ["part of", partOf(record)],
    ["schedule", record.schedule ?? undefined],
    ["started by", record.started_by?.subject],
    ["runs as", record.run_as?.subject],
    ["forked from", forkedFrom(record)],
    ["waits for", waits(record, now)],
    ["shows", pause && pause.value !== null ? valueText(pause.value) : undefined],
    ["input", record.input === null ? undefined : valueText(record.input)],
    ["output", state === "COMPLETED" ? valueText(record.output) : undefined],
    ["why", state === "CANCELLED" ? error?.message : undefined],
    ["error", state === "FAILED" && error ? failureLines(failureOf(error)).join("\n") : undefined],
  ]);
}

function partOf({ parent_id, parent_call_id }: ExecutionRecord): string | undefined {
  return parent_id === null ? undefined : `${parent_id}, its call ${parent_call_id}`;
}

function forkedFrom({ forked_from: from }: ExecutionRecord): string | undefined {
  if (from === null) return undefined;
  return from.seq === 0 ? `${from.execution_id}, anew` : `${from.execution_id}, event ${from.seq}`;
}

/** One line per open wait, the oldest first. */
function waits({ waiting, pause }: ExecutionRecord, now: number): string | undefined {
  const texts = waiting.map((wait) => {
    const text = waitText(wait, now);
    if (wait.task_call_id !== pause?.task_call_id) return text;
    return `${text}, since ${ago(pause.paused_at, now)}`;
  });
  return texts.join("\n") || undefined;
}

/** The same, with the log below when the record brought it (`--detailed`). */
export function detailedView(record: ExecutionRecord, screen: Screen): string {
  const view = executionView(record, screen);
  if (!record.events) return view;
  const log = `${view}\n${eventTable(record.events, screen)}`;
  const stacks = stackView(record.events, screen.paint);
  return stacks === "" ? log : `${log}\n${stacks}`;
}

/** The failure of a record in one sentence, for `error: `. */
export function failureSentence(record: ExecutionRecord): string {
  const { state, error } = record;
  if (state === "CANCELLED") return `${executionTitle(record)}: ${error.message}`;
  const what = `${executionTitle(record)} failed`;
  if (!error) return what;
  const [first = ""] = failureLines(failureOf(error));
  return `${what}: ${first}`;
}

/** A log, one line per event; values are cut to what is left of the terminal's width. */
export function eventTable(events: readonly RecordedEvent[], { paint, columns }: Screen): string {
  const what = (e: RecordedEvent) => (e.type.startsWith("WORKFLOW_") ? e.name : e.source_id);
  const widest = Math.max(8, ...events.map((e) => what(e).length));
  const room = Math.max(20, (columns ?? 160) - 3 - 4 - 26 - 26 - widest - 3);
  return table(
    ["SEQ", "TIME (UTC)", "TYPE", "CALL", "VALUE"],
    events.map((event) => [
      String(event.seq),
      event.time,
      event.type,
      what(event),
      event.value === null ? "" : valueLine(event.value, room),
    ]),
    paint,
  );
}
