import type { Frame, FrameStream } from "@engine/client";
import { ExecutionRecord } from "@engine/contract";
import type { CliIo } from "../io/cli-io.ts";
import { frameText, isState } from "../render/frame-view.ts";
import { screenOf } from "../render/paint.ts";
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
    printFrame(io, frame, options);
    if (isState(frame)) last = ExecutionRecord.parse(frame.data);
  }
  if (!last) throw new Error(`${server.url} ended the stream before its first frame; try again`);
  concludeWith(io, last, options);
}

/** With `--format json` each frame is a line of JSON. */
export function printFrame(io: CliIo, frame: Frame, { format }: ServerOptions): void {
  io.out.write(format === "json" ? `${JSON.stringify(frame)}\n` : frameText(frame, screenOf(io)));
}
