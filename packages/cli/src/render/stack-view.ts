import type { RecordedEvent } from "@engine/contract";
import type { Paint } from "./paint.ts";
import { lines } from "./table.ts";

/** Below a log: the lines of code that led to each failure in it. Empty where none is told. */
export function stackView(events: readonly RecordedEvent[], paint: Paint): string {
  let before: string | undefined;
  return events
    .map(({ seq, type, source_id, name, meta }) => {
      const stack = meta?.["stack"];
      if (typeof stack !== "string") return "";
      const what = type.startsWith("WORKFLOW_") ? name : source_id;
      const head = `${paint("muted", `${seq}  ${type}`)}  ${what}`;
      // Attempts mostly fail at one place, and the call with the last of them.
      const told = stack === before ? ["the same"] : stack.split("\n");
      before = stack;
      return lines([head, ...told.map((line) => `   ${line}`)]);
    })
    .join("");
}
