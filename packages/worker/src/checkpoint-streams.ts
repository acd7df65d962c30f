import { type CheckpointAnswer, EngineError, ErrorBody, type SessionRef } from "@engine/contract";
import type { LineStream } from "./line-stream.ts";

type Answers = readonly CheckpointAnswer[];

/** Codes of a server that does not know the stream. */
const UNKNOWN_ROUTE = ["not_found", "method_not_allowed", "unsupported_media_type", "bad_request"];
/** Where streams do not get through, they are tried again after this time. */
const REST_MS = 60_000;

/**
 * Checkpoints over open streams, one for each lane that sends at the same time. Some proxies hold a
 * request back until it is complete: where a stream does not begin but a plain request gets
 * through, plain requests do the work for a while.
 */
export class CheckpointStreams {
  readonly #open: (ref: SessionRef) => LineStream;
  #idle: { session: string; stream: LineStream }[] = [];
  #isResting = false;
  /** Grows with every {@link close}: streams from before it are not used again. */
  #epoch = 0;

  constructor(open: (ref: SessionRef) => LineStream) {
    this.#open = open;
  }

  /** @param plain The same checkpoints as a request of their own; sending both does no harm. */
  async send(ref: SessionRef, body: string, plain: () => Promise<Answers>): Promise<Answers> {
    if (this.#isResting) return plain();
    const epoch = this.#epoch;
    const stream = this.#take(ref);
    let answer: unknown;
    try {
      answer = await stream.send(body);
    } catch (error) {
      const isRefused = error instanceof EngineError && !UNKNOWN_ROUTE.includes(error.code);
      if (stream.hasBegun || isRefused) throw error;
      const answers = await plain();
      this.#rest();
      return answers;
    }
    if (epoch === this.#epoch) this.#idle.push({ session: ref.session, stream });
    else stream.close();
    const { items } = answer as { items?: Answers };
    if (items) return items;
    throw EngineError.from(ErrorBody.parse(answer));
  }

  /** Ends every stream; one that waits for its answer gets it first. */
  close(): void {
    this.#epoch++;
    for (const { stream } of this.#idle.splice(0)) stream.close();
  }

  #rest(): void {
    this.#isResting = true;
    const timer = setTimeout(() => {
      this.#isResting = false;
    }, REST_MS);
    timer.unref();
  }

  #take(ref: SessionRef): LineStream {
    for (let entry = this.#idle.pop(); entry; entry = this.#idle.pop()) {
      if (entry.stream.isOpen && entry.session === ref.session) return entry.stream;
      entry.stream.close();
    }
    return this.#open(ref);
  }
}
