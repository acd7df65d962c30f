import { EngineError, ErrorBody } from "@engine/contract";
import { createParser } from "eventsource-parser";
import { type FetchResponse, unreachable } from "./transport.ts";

/** One server-sent event; `data` is its JSON. Frames with an id can be resumed after. */
export interface Frame {
  readonly event: string;
  readonly data: unknown;
  readonly id: number | undefined;
}

/**
 * An open stream of frames, to be iterated once. Leaving the loop closes it; so does
 * {@link FrameStream.close}, which also ends a loop that is waiting. It throws EngineError: the
 * server's own when it ends the stream with an `error` frame, `unavailable` when the connection
 * breaks.
 */
export class FrameStream implements AsyncIterable<Frame> {
  readonly #response: FetchResponse;
  readonly #connection: AbortController;
  readonly #url: string;

  constructor(response: FetchResponse, connection: AbortController, url: string) {
    this.#response = response;
    this.#connection = connection;
    this.#url = url;
  }

  /** The id of the execution whose frames these are; null on streams of something else. */
  get executionId(): string | null {
    return this.#response.headers.get("x-engine-execution-id");
  }

  close(): void {
    this.#connection.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Frame, void, undefined> {
    const reader = this.#response.body?.getReader();
    if (!reader) return;
    const decoder = new TextDecoder();
    const frames: Frame[] = [];
    const parser = createParser({
      onEvent: ({ event = "message", data, id }) => {
        frames.push({ event, data: this.#parsed(data), id: id ? Number(id) : undefined });
      },
    });
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => this.#broken(error));
        if (done) return;
        parser.feed(decoder.decode(value, { stream: true }));
        for (const frame of frames.splice(0)) {
          refuseError(frame);
          yield frame;
        }
      }
    } finally {
      this.close();
    }
  }

  /** Nothing of ours sends anything else: something on the way does, and may not the next time. */
  #parsed(data: string): unknown {
    try {
      return JSON.parse(data);
    } catch (error) {
      throw unreachable(this.#url, error);
    }
  }

  /** A connection that was closed from this side has simply ended. */
  #broken(error: unknown): { done: true; value?: undefined } {
    if (this.#connection.signal.aborted) return { done: true };
    throw unreachable(this.#url, error);
  }
}

function refuseError({ event, data }: Frame): void {
  if (event !== "error") return;
  const body = ErrorBody.safeParse({ error: data });
  if (body.success) throw EngineError.from(body.data);
}
