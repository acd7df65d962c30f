import type { RecordedEvent } from "@engine/contract";
import type { Paint } from "./paint.ts";
import { lines } from "./table.ts";

/** Below a log: the lines of code that led to each failure in it. Empty where none is told. */
export function stackView(events: readonly RecordedEvent[], paint: Paint): string {
  return events.map((event) => stackOf(event, paint)).join("");
}

function stackOf({ seq, type, source_id, name, meta }: RecordedEvent, paint: Paint): string {
  const stack = meta?.["stack"];
  if (typeof stack !== "string") return "";
  const what = type.startsWith("WORKFLOW_") ? name : source_id;
  const head = `${paint("muted", `${seq}  ${type}`)}  ${what}`;
  return lines([head, ...stack.split("\n").map((line) => `   ${line}`)]);
}
