import type { Frame, FrameStream } from "@engine/client";
import { ExecutionRecord, TaskProgress } from "@engine/contract";
import type { CliIo } from "../cli-io.ts";
import type { Paint } from "../render/paint.ts";
import { stateMark } from "../render/state-mark.ts";
import { lines } from "../render/table.ts";
import { valueLine, valueText } from "../render/value-text.ts";
import type { ServerCall, ServerOptions } from "../server-call.ts";
import { concludeWith } from "./run-answer.ts";

/** Prints each frame as it arrives, until the server ends the stream. */
export async function followStream(
  io: CliIo,
  server: ServerCall,
  frames: FrameStream,
  options: ServerOptions,
): Promise<void> {
  let last: ExecutionRecord | undefined;
  for await (const frame of frames) {
    io.out.write(
      options.format === "json"
        ? `${JSON.stringify(frame)}\n`
        : frameText(frame, server.paint, io.out.columns ?? 120),
    );
    if (isState(frame)) last = ExecutionRecord.parse(frame.data);
  }
  if (!last) throw new Error(`${server.url} ended the stream before its first frame; try again`);
  concludeWith(io, last, options);
}

function isState({ event }: Frame): boolean {
  return event.includes(".execution.");
}

function frameText(frame: Frame, paint: Paint, columns: number): string {
  if (isState(frame)) return stateText(ExecutionRecord.parse(frame.data), paint);
  if (frame.event !== "task.progress") {
    return lines([`${frame.event}  ${valueLine(frame.data, columns)}`]);
  }
  const { time, source_id, value } = TaskProgress.parse(frame.data);
  const head = `${time.slice(11)}  · ${source_id}  `;
  return lines([head + valueLine(value, Math.max(20, columns - head.length))]);
}

function stateText(record: ExecutionRecord, paint: Paint): string {
  const { state, updated_at, worker, pause, output } = record;
  const detail = {
    CREATED: record.execution_id,
    CLAIMED: `by ${worker}`,
    PAUSED: pause ? `at ${pause.name}` : "",
    COMPLETED: valueText(output),
  }[state as string];
  const time = updated_at.slice(11, 23);
  return lines([`${time}  ${stateMark(state, paint)}${detail ? `  ${detail}` : ""}`]);
}
