import type { Frame } from "@engine/client";
import { ExecutionRecord, RecordedEvent, TaskProgress } from "@engine/contract";
import { oneLine } from "./harmless.ts";
import type { Paint, Screen } from "./paint.ts";
import { stateMark } from "./state-mark.ts";
import { lines } from "./table.ts";
import { valueLine, valueText } from "./value-text.ts";

/** Whether the frame tells a state of the execution. */
export function isState({ event }: Frame): boolean {
  return event.includes(".execution.");
}

/** A frame of an execution's stream as one line: when, what, and the parts that a reader needs. */
export function frameText(frame: Frame, { paint, columns = 120 }: Screen): string {
  if (isState(frame)) return stateText(ExecutionRecord.parse(frame.data), paint);
  if (frame.event === "event") return eventText(RecordedEvent.parse(frame.data), columns);
  if (frame.event !== "task.progress") {
    return lines([`${frame.event}  ${valueLine(frame.data, columns)}`]);
  }
  const { time, source_id, value } = TaskProgress.parse(frame.data);
  return withValue(`${time.slice(11)}  · ${source_id}  `, value, columns);
}

function stateText(record: ExecutionRecord, paint: Paint): string {
  const { state, updated_at, worker, pause, output } = record;
  const detail = {
    CREATED: record.execution_id,
    CLAIMED: `by ${worker}`,
    PAUSED: pause ? `at ${oneLine(pause.name)}` : "",
    COMPLETED: valueText(output),
  }[state as string];
  const time = updated_at.slice(11, 23);
  return lines(`${time}  ${stateMark(state, paint)}${detail ? `  ${detail}` : ""}`.split("\n"));
}

function eventText({ time, seq, type, source_id, value }: RecordedEvent, columns: number): string {
  const call = type.startsWith("WORKFLOW_") ? "" : `  ${source_id}`;
  return withValue(`${time.slice(11)}  ${seq} ${type}${call}  `, value, columns);
}

function withValue(head: string, value: unknown, columns: number): string {
  return lines([head + valueLine(value, Math.max(20, columns - head.length))]);
}
