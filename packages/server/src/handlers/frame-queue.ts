import { type SseFrame, sseText } from "@engine/contract";
import type { EncodedFrame } from "@engine/http";
import type { Backlog } from "../workers/worker-stream.ts";

/** With more than this unsent, a worker gets no more executions until it has caught up (WRK-7). */
const FULL_FRAMES = 1_000;
const FULL_BYTES = 4 * 1024 * 1024;
/** A reader with more than this unsent has stopped reading. */
const MOST_BYTES = 64 * 1024 * 1024;

interface Unsent extends EncodedFrame {
  readonly bytes: number;
}

/**
 * Turns frames that are pushed into frames that are pulled, for as long as the stream is open. They wait
 * as text, so that their size is what has still to be sent to the worker.
 */
export class FrameQueue implements Backlog {
  readonly #frames: Unsent[] = [];
  readonly #overflow = new AbortController();
  #bytes = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  get isFull(): boolean {
    return this.#frames.length > FULL_FRAMES || this.#bytes > FULL_BYTES;
  }

  /** Aborted when the reader is hopelessly behind: no frame leaves after that. */
  get overflow(): AbortSignal {
    return this.#overflow.signal;
  }

  onRoom(then: () => void): void {
    this.#onRoom = then;
  }

  /** @throws when the reader is hopelessly behind. */
  push(frame: SseFrame): void {
    const text = sseText(frame);
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > MOST_BYTES) this.#giveUp();
    this.overflow.throwIfAborted();
    this.#frames.push({ text, bytes });
    this.#bytes += bytes;
    this.#wake?.();
  }

  /** Ends the queue behind the frames that were pushed. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *frames(): AsyncGenerator<EncodedFrame, void, undefined> {
    while (true) {
      for (let next = this.#shift(); next; next = this.#shift()) yield next;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #giveUp(): void {
    this.#frames.length = 0;
    this.#bytes = 0;
    this.#overflow.abort(new Error("more than 64 MiB are unsent: the reader does not keep up"));
    this.end();
  }

  #shift(): Unsent | undefined {
    const wasFull = this.isFull;
    const next = this.#frames.shift();
    if (!next) return undefined;
    this.#bytes -= next.bytes;
    if (wasFull && !this.isFull) this.#onRoom?.();
    return next;
  }
}
