import type { ServerResponse } from "node:http";
import { type EngineError, sseComment, sseText } from "@engine/contract";
import type { OpenStreams } from "./open-streams.ts";
import type { Repeat } from "./repeat.ts";
import type { StreamPart } from "./reply.ts";

/** Proxies and clients take a silent connection for a dead one (EXE-94). */
const PING_MS = 15_000;

export interface StreamOptions {
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  readonly streams: OpenStreams;
  readonly pingTimer: Repeat;
  /** Aborts what the frames wait for. */
  readonly leave: () => void;
  /** Turns whatever the frames threw into what the reader may see, and logs defects. */
  readonly refuse: (thrown: unknown) => EngineError;
}

/**
 * Writes frames to a hijacked response until they end, the reader leaves or the server closes. The
 * next frame is asked for when the one before has left the buffer. Callbacks instead of a loop over
 * `Promise.race`: every race would leave a reaction behind on the promise that never settles.
 */
export function serveStream(
  response: ServerResponse,
  frames: AsyncIterable<StreamPart>,
  { headers, streams, pingTimer, leave, refuse }: StreamOptions,
): void {
  const iterator = frames[Symbol.asyncIterator]();
  let isOpen = true;

  response.once("close", stop);
  const remove = streams.add(stop);
  const stopPings = pingTimer(PING_MS, () => {
    if (!response.writableNeedDrain) response.write(sseComment("ping"));
  });
  for (const [name, value] of Object.entries({ ...headers, ...STREAM_HEADERS })) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(200);
  response.flushHeaders();
  pull();

  function pull(): void {
    if (isOpen) iterator.next().then(write, fail);
  }

  function write(next: IteratorResult<StreamPart, unknown>): void {
    if (!isOpen) return;
    if (next.done) {
      end();
      return;
    }
    const { value } = next;
    const text = typeof value === "string" ? sseComment(value) : sseText(value);
    if (response.write(text)) pull();
    else response.once("drain", pull);
  }

  function fail(thrown: unknown): void {
    // Once the reader is gone, an abort of what the frames waited for is the way out.
    if (!isOpen) return;
    const { error } = refuse(thrown).toBody();
    response.write(sseText({ event: "error", data: error }));
    end();
  }

  function end(): void {
    isOpen = false;
    stopPings();
    remove();
    response.end();
  }

  function stop(): void {
    if (!isOpen) return;
    end();
    leave();
    // Not waited for: a generator that waits for something returns only when that settles.
    iterator.return?.().catch(refuse);
  }
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};
