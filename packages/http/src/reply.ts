import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Route, SseFrame } from "@engine/contract";
import type * as z from "zod";

/** Header names are lower case; an undefined value is left out. */
export type ReplyHeaders = Readonly<Record<string, string | undefined>>;

/** A frame as it goes over the wire already. */
export interface EncodedFrame {
  readonly text: string;
}

/**
 * A frame too long for memory: its data comes as pieces of JSON text, each taken when it is sent.
 */
export interface LongFrame extends SseFrame {
  readonly pieces: AsyncIterable<string>;
}

/** A frame, or a comment as plain text. */
export type StreamPart = SseFrame | LongFrame | EncodedFrame | string;

/**
 * The body as it goes over the wire already, such as stored JSON, under the media type that the table
 * names.
 */
export interface RawReply<Status extends number = number> {
  readonly status: Status;
  readonly raw: string | Uint8Array;
  readonly headers?: ReplyHeaders | undefined;
}

/**
 * Server-sent events; always status 200. The client leaving, or the server closing, calls `return()`
 * of the iterator; a generator that waits should also watch `call.signal`, which fires first.
 */
export interface StreamReply {
  readonly frames: AsyncIterable<StreamPart>;
  readonly headers?: ReplyHeaders | undefined;
  /** Aborted to break the connection off, whatever is unsent. */
  readonly cut?: AbortSignal | undefined;
}

/**
 * An answer to every line of a request that stays open, in order, until either side ends it; always
 * status 200.
 */
export interface LinesReply<Line> {
  readonly answerLine: (line: Line) => Promise<unknown>;
}

/** A request whose body has come: what is read of it are the bytes of a whole message. */
export interface SpokenRequest
  extends Pick<IncomingMessage, "method" | "url" | "headers">,
    AsyncIterable<unknown> {}

/** Answers a request by itself; never rejects. */
export type Speak = (request: SpokenRequest, response: ServerResponse) => Promise<void>;

/** The request and its response themselves, for what speaks a protocol of its own. */
export interface ProtocolReply {
  readonly speak: Speak;
}

/**
 * What the handler of a route may return: an answer of its row, or frames or lines where it has
 * them.
 */
export type Reply<R extends Route> =
  | (Answer<R> & { readonly headers?: ReplyHeaders | undefined })
  | RawReply<keyof R["answers"] & number>
  | (R extends { lines: z.ZodType; body: infer Body extends z.ZodType }
      ? LinesReply<z.output<Body>>
      : never)
  | (R extends { frames: Readonly<Record<string, unknown>> } ? StreamReply : never)
  | (R extends { speaks: readonly string[] } ? ProtocolReply : never);

/** An answer of the route's row. Plain `{ status, body }` does as well; this adds headers. */
export function answer<Status extends number, Body>(
  status: Status,
  body: Body,
  headers?: ReplyHeaders,
): { status: Status; body: Body; headers?: ReplyHeaders | undefined } {
  return { status, body, headers };
}
