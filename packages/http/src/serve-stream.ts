import type { ServerResponse } from "node:http";
import { type EngineError, type SseFrame, sseComment, sseHead, sseText } from "@engine/contract";
import { printed } from "./json/json-text.ts";
import {
  type Redaction,
  type Redactor,
  redacted,
  redactedPieces,
  redactorOf,
  type ShownRefusal,
  shownRefusal,
} from "./redaction.ts";
import type { Repeat } from "./repeat.ts";
import type { LongFrame, StreamPart } from "./reply.ts";
import type { Standing, StandingWatch } from "./standing.ts";

/** Proxies and clients take a silent connection for a dead one (EXE-94). */
const PING_MS = 15_000;

/**
 * What ends each stream that is open now, without a closing frame (EXE-94). A hijacked reply is out of
 * Fastify's sight, so shutdown has to end the streams itself, or closing would wait for readers that
 * never leave.
 */
export type OpenStreams = Set<() => void>;

export interface StreamOptions {
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  readonly streams: OpenStreams;
  readonly pingTimer: Repeat;
  /** Aborted to break the connection off, whatever is unsent. */
  readonly cut?: AbortSignal | undefined;
  /** Aborts what the frames wait for. */
  readonly leave: () => void;
  /** Whether the reader may still have what comes; absent where that cannot change. */
  readonly standing?: Standing | undefined;
  /** What is taken out of frames, asked for each; absent where they go as they are. */
  readonly redaction?: Redaction | undefined;
  readonly watch: StandingWatch;
  /** Turns what the frames threw into an error that the reader may see, and logs defects. */
  readonly refuse: (thrown: unknown) => EngineError;
}

/** For a reader to take the last frame of a stream that it has lost (AUTH-58). */
const LAST_MS = 1_000;

/** Frames gathered in one turn; more than this waits for the next write. */
const GATHER_CHARACTERS = 64 * 1024;

/**
 * Writes frames to a hijacked response until they end, the reader leaves or the server closes. The
 * frames of one turn leave together, since under load a frame costs its system call; no more are
 * asked for while the reader's buffer is full. Callbacks instead of a loop over `Promise.race`:
 * every race would leave a reaction behind on the promise that never settles.
 */
export function serveStream(
  response: ServerResponse,
  frames: AsyncIterable<StreamPart>,
  { headers, streams, pingTimer, cut, leave, standing, redaction, watch, refuse }: StreamOptions,
): void {
  const iterator = frames[Symbol.asyncIterator]();
  /** The rest of a frame that has begun: no other frame may come in between. */
  let pieces: AsyncIterator<string> | undefined;
  let isOpen = true;
  /** The last frame is being made. */
  let isEnding = false;
  let isPulling = false;
  let isBlocked = false;
  let isFlushDue = false;
  let gathered = "";

  response.once("close", stop);
  streams.add(stop);
  cut?.addEventListener("abort", breakOff, { once: true });
  const stopPings = pingTimer(PING_MS, () => {
    if (!isBlocked && !pieces) gather(sseComment("ping"));
  });
  const stopWatch = standing ? watch.add(standing, lose) : () => {};
  for (const [name, value] of Object.entries({ ...headers, ...STREAM_HEADERS })) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(200);
  response.flushHeaders();
  if (cut?.aborted) breakOff();
  else pull();

  function pull(): void {
    if (!isOpen || isEnding || isPulling || isBlocked || gathered.length >= GATHER_CHARACTERS)
      return;
    isPulling = true;
    if (pieces) pieces.next().then(takePiece, fail);
    else iterator.next().then(take, fail);
  }

  function take(next: IteratorResult<StreamPart, unknown>): void {
    whileAllowed((redactor) => {
      isPulling = false;
      if (next.done) {
        end();
        return;
      }
      const { value } = next;
      if (typeof value === "string")
        gather(sseComment(redactor ? redacted(redactor, "text", value) : value));
      else if ("text" in value) gather(value.text);
      else begin(value, redaction?.passedFrames.has(value.event) ? undefined : redactor);
      pull();
    });
  }

  /**
   * Sends what the reader may still have, and of that what it may see; nothing else is asked for until
   * both are known.
   */
  function whileAllowed(send: (redactor?: Redactor) => void): void {
    if (!isOpen || isEnding) return;
    try {
      const checking = standing?.check();
      const redactor = redaction && redactorOf(redaction);
      if (!checking && !(redactor instanceof Promise)) send(redactor);
      // What cannot be looked through ends the stream as well as what may not be read any more.
      else
        Promise.all([redactor, checking])
          .then(([known]) => {
            if (isOpen && !isEnding) send(known);
          })
          .catch(lose);
    } catch (refused) {
      lose(refused);
    }
  }

  function begin(frame: SseFrame | LongFrame, redactor: Redactor | undefined): void {
    const data = "pieces" in frame ? frame.pieces : printed(frame.data);
    if (typeof data === "string") {
      gather(`${sseHead(frame)}${redactor ? redacted(redactor, "json", data) : data}\n\n`);
      return;
    }
    pieces = (redactor ? redactedPieces(data, redactor) : data)[Symbol.asyncIterator]();
    gather(sseHead(frame));
  }

  function takePiece(next: IteratorResult<string, unknown>): void {
    whileAllowed(() => {
      isPulling = false;
      gather(next.done ? "\n\n" : next.value);
      if (next.done) pieces = undefined;
      pull();
    });
  }

  function gather(text: string): void {
    gathered += text;
    if (isFlushDue || isBlocked) return;
    isFlushDue = true;
    setImmediate(flush);
  }

  function flush(): void {
    isFlushDue = false;
    if (!isOpen || isBlocked) return;
    const text = gathered;
    gathered = "";
    if (response.write(text)) {
      pull();
      return;
    }
    isBlocked = true;
    response.once("drain", () => {
      isBlocked = false;
      if (gathered) gather("");
      pull();
    });
  }

  function fail(thrown: unknown): void {
    // Once the reader is gone, the frames end by throwing the abort of what they waited for.
    if (!isOpen || isEnding) return;
    const refused = refuse(thrown);
    // Half a frame cannot be taken back: the connection breaks, and the reader asks for it again.
    if (pieces) {
      breakOff();
      return;
    }
    withLast(refused, end);
  }

  /** The reader has lost what lets it read: it is told so, and gets nothing that still waits. */
  function lose(refused: unknown): void {
    if (!isOpen || isEnding) return;
    const told = refuse(refused);
    withLast(told, () => {
      // What waits to be read, or half a frame, cannot be taken back, and nothing fits behind it.
      if (isBlocked || pieces) {
        breakOff();
        return;
      }
      stop();
      destroyUnlessRead();
    });
  }

  /** Ends with an error as the last frame; no other is taken meanwhile. */
  function withLast(refused: EngineError, then: () => void): void {
    isEnding = true;
    const shown = shownRefusal(refused, redaction);
    const add = ({ text }: ShownRefusal) => {
      if (!isOpen) return;
      gathered += sseText({ event: "error", data: JSON.parse(text).error });
      then();
    };
    if (shown instanceof Promise) void shown.then(add);
    else add(shown);
  }

  /** A reader that stops reading now must not keep the connection. */
  function destroyUnlessRead(): void {
    const stopWaiting = pingTimer(LAST_MS, () => response.destroy());
    response.once("close", stopWaiting);
  }

  function end(): void {
    isOpen = false;
    stopPings();
    stopWatch();
    streams.delete(stop);
    response.end(gathered);
  }

  function stop(): void {
    if (!isOpen) return;
    end();
    leave();
    // Not awaited: a generator that waits for something returns only when that settles.
    iterator.return?.().catch(refuse);
    pieces?.return?.().catch(refuse);
  }

  /** Ends the connection at once: a reader that does not read would never get to the end. */
  function breakOff(): void {
    response.destroy();
    stop();
  }
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};
