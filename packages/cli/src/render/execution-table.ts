import { type ExecutionSummary, failureOf } from "@engine/contract";
import { ago, brief, elapsed } from "./elapsed.ts";
import { executionTitle } from "./execution-view.ts";
import { failureLines } from "./failure-text.ts";
import type { Screen } from "./paint.ts";
import { stateMark } from "./state-mark.ts";
import { table } from "./table.ts";
import { waitBrief } from "./wait-text.ts";

/**
 * Executions, one on each line: how it is, what, since when, how long, and why it is not done. Ids
 * and texts are whole on a screen without a width.
 */
export function executionTable(items: readonly ExecutionSummary[], screen: Screen): string {
  const { paint, now, columns } = screen;
  if (columns === undefined) return wholeTable(items, screen);
  const digits = shortIdLength(items);
  return table(
    ["STATE", "WORKFLOW", "ID", "AGE", "TOOK", "REASON"],
    items.map((item) => [
      stateMark(item.state, paint),
      named(item),
      item.execution_id.slice(0, digits),
      brief(now - Date.parse(item.created_at)),
      tookText(item, brief),
      reasonText(item, now, brief),
    ]),
    paint,
    {
      columns,
      shrink: new Map([
        [1, 14],
        [5, 14],
      ]),
    },
  );
}

function wholeTable(items: readonly ExecutionSummary[], { paint, now }: Screen): string {
  return table(
    ["STATE", "WORKFLOW", "ID", "CREATED", "TOOK", "WORKER", "REASON"],
    items.map((item) => [
      stateMark(item.state, paint),
      named(item),
      item.execution_id,
      `${ago(item.created_at, now)} (${item.created_at})`,
      tookText(item, elapsed),
      item.worker ?? "",
      reasonText(item, now, elapsed),
    ]),
    paint,
  );
}

function named(item: ExecutionSummary): string {
  return executionTitle(item) + (item.name ? ` (${item.name})` : "");
}

function tookText({ started_at, finished_at }: ExecutionSummary, text: typeof elapsed): string {
  if (started_at === null || finished_at === null) return "";
  return text(Date.parse(finished_at) - Date.parse(started_at));
}

/** Why it failed or was cancelled, or what it waits for. */
function reasonText(item: ExecutionSummary, now: number, length: typeof elapsed): string {
  const { state, error } = item;
  if (state === "FAILED") return failureLines(failureOf(error))[0] ?? "";
  if (state === "CANCELLED") return error.message;
  return item.waiting.map((wait) => waitBrief(wait, now, length)).join(", ");
}

/** An id begins with the millisecond of its making; what was made within the same one needs more. */
const LENGTHS = [13, 18, 36] as const;

/** So much of the ids that they differ, and that commands find them by it. */
function shortIdLength(items: readonly ExecutionSummary[]): number {
  const isEnough = (length: number) =>
    new Set(items.map(({ execution_id: id }) => id.slice(0, length))).size === items.length;
  return LENGTHS.find(isEnough) ?? LENGTHS[2];
}
