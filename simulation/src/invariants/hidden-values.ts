import { type Event, SENSITIVE, toPlain } from "@engine/contract";
import type { Evidence, FrameSeen } from "../evidence.ts";
import type { Violation } from "./violation.ts";

/** The task of programs whose values nobody reads. */
const SENSITIVE_TASK = "secretive";
/** What stands in the log for what such a task took or gave. */
const HIDDEN: ReadonlySet<string> = new Set([
  "TASK_STARTED",
  "TASK_COMPLETED",
  "TASK_FALLBACK_COMPLETED",
]);

/** I21: neither the log as it is stored nor a stream has what a sensitive task takes and gives (SEC-8). */
export function hiddenValues({ executions, streams }: Evidence): readonly Violation[] {
  const found = (execution_id: string, message: string): Violation => {
    return { invariant: "I21", execution_id, message };
  };
  return [
    ...executions.flatMap(({ row, log, stored = log }) =>
      stored
        .filter(({ event }) => shows(event))
        .map(({ event }) => {
          const { execution_id } = row;
          return found(execution_id, `event ${event.seq} ${event.type} shows what is sensitive`);
        }),
    ),
    ...streams.flatMap(({ reader, execution_id, frames }) =>
      frames.filter(isShown).map(({ id, event }) => {
        return found(execution_id, `${reader} was shown ${event} ${id} with what is sensitive`);
      }),
    ),
  ];
}

function shows({ name, kind, type, value }: Event): boolean {
  if (name !== SENSITIVE_TASK || kind !== null) return false;
  if (HIDDEN.has(type)) return value !== SENSITIVE;
  return JSON.stringify(toPlain(value)).includes("result of");
}

function isShown({ data }: FrameSeen): boolean {
  // Of a state the data is a record, which has no type.
  const isEvent = typeof data === "object" && data !== null && "source_id" in data;
  return isEvent && shows(data as unknown as Event);
}
