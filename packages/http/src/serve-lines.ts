import type { IncomingMessage, ServerResponse } from "node:http";
import type { EngineError } from "@engine/contract";
import { answeringLine } from "./failpoints.ts";
import { parseJsonBody } from "./json/json-body.ts";
import { LINES } from "./media-type.ts";
import { tooLarge } from "./refusal.ts";
import type { OpenStreams } from "./serve-stream.ts";
import type { Standing, StandingWatch } from "./standing.ts";

export interface LinesOptions {
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  /** Longest line, in bytes. */
  readonly limit: number;
  readonly streams: OpenStreams;
  readonly answer: (value: unknown) => Promise<unknown>;
  /** Whether the sender may still send lines; absent where that cannot change. */
  readonly standing?: Standing | undefined;
  readonly watch: StandingWatch;
  /** Turns what a line threw into an error that the sender may see, and logs defects. */
  readonly refuse: (thrown: unknown) => EngineError;
}

const NEWLINE = 10;

/**
 * Answers the lines of a request while it is still coming in, one after the other, which saves the
 * cost of a request for each line. A refused line is answered by its error and the conversation goes
 * on; a line that is too long ends it, since where that line ends cannot be known.
 */
export function serveLines(
  request: IncomingMessage,
  response: ServerResponse,
  { headers, limit, streams, answer, standing, watch, refuse }: LinesOptions,
): void {
  const waiting: Buffer[] = [];
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let isBusy = false;
  let isOpen = true;

  streams.add(end);
  request.on("data", read);
  request.once("end", end);
  response.once("close", end);
  const stopWatch = standing ? watch.add(standing, lose) : () => {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.setHeader("content-type", LINES);
  response.writeHead(200);
  response.flushHeaders();

  function read(chunk: Buffer): void {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      waiting.push(Buffer.concat([...begun, chunk.subarray(from, to)]));
      [begun, begunBytes, from] = [[], 0, to + 1];
    }
    if (from < chunk.length) {
      begun.push(chunk.subarray(from));
      begunBytes += chunk.length - from;
    }
    if (begunBytes > limit) {
      write(refuse(tooLarge(limit)).toBody());
      end();
    } else if (!isBusy) void work();
    // A sender that does not wait for answers must not fill the memory with its lines.
    if (waiting.length > 0) request.pause();
  }

  async function work(): Promise<void> {
    isBusy = true;
    for (let line = waiting.shift(); line && isOpen; line = waiting.shift()) {
      if (standing && !(await isAllowed(standing))) break;
      const answered = await answerTo(line);
      if (answeringLine.hasSubscribers) answeringLine.publish({ of: [] });
      write(answered);
    }
    isBusy = false;
    if (isOpen && request.isPaused()) request.resume();
  }

  async function answerTo(line: Buffer): Promise<unknown> {
    try {
      if (line.length > limit) throw tooLarge(limit);
      return await answer(parseJsonBody(line));
    } catch (thrown) {
      return refuse(thrown).toBody();
    }
  }

  async function isAllowed(caller: Standing): Promise<boolean> {
    try {
      await caller.check();
      return isOpen;
    } catch (refused) {
      lose(refused);
      return false;
    }
  }

  /** The sender has lost what lets it send: the line that waits, or would be next, is told so. */
  function lose(refused: unknown): void {
    write(refuse(refused).toBody());
    end();
  }

  function write(value: unknown): void {
    if (isOpen) response.write(`${JSON.stringify(value)}\n`);
  }

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    streams.delete(end);
    stopWatch();
    response.end();
    // Nothing more is read, and a sender that still writes sees its connection end.
    request.destroy();
  }
}
