import type { WorkerConnection, WorkerFrame } from "@engine/contract";

/** The frames of a stream that have not left for the worker yet. */
export interface Backlog {
  /** Whether they are so many that the worker counts as full (WRK-7). */
  readonly isFull: boolean;
  /** Calls back each time there is room again. */
  onRoom(then: () => void): void;
}

/** The open stream of a session. What is sent before the welcome waits for it. */
export class WorkerStream implements WorkerConnection {
  readonly #ended = Promise.withResolvers<void>();
  readonly closed: Promise<void> = this.#ended.promise;
  readonly #onFrame: (frame: WorkerFrame) => void;
  readonly #backlog: Backlog | undefined;
  readonly #onClose: (stream: WorkerStream, cause: unknown) => void;
  #waiting: WorkerFrame[] | undefined = [];
  #isClosed = false;

  /**
   * @param onClose Called once, with the error of `onFrame` where that ended the stream.
   * @param backlog Given where the worker may read more slowly than frames come.
   */
  constructor(
    onFrame: (frame: WorkerFrame) => void,
    onClose: (stream: WorkerStream, cause: unknown) => void,
    backlog?: Backlog,
  ) {
    this.#onFrame = onFrame;
    this.#backlog = backlog;
    this.#onClose = onClose;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isFull(): boolean {
    return this.#backlog?.isFull ?? false;
  }

  /** Sends the first frames; what was sent before comes after them. */
  open(first: readonly WorkerFrame[]): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const frame of [...first, ...waiting]) this.send(frame);
  }

  send(frame: WorkerFrame): void {
    if (this.#isClosed) return;
    if (this.#waiting) {
      this.#waiting.push(frame);
      return;
    }
    try {
      this.#onFrame(frame);
    } catch (error) {
      // A worker that missed a frame reconnects and lists what it runs; that repairs everything.
      this.#end(error);
    }
  }

  close(): void {
    this.#end(undefined);
  }

  #end(cause: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ended.resolve();
    this.#onClose(this, cause);
  }
}
