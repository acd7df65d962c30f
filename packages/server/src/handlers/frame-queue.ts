/** Turns frames that are pushed into frames that are pulled, for as long as the stream is open. */
export class FrameQueue<Frame> {
  readonly #frames: Frame[] = [];
  #isEnded = false;
  #wake: (() => void) | undefined;

  push(frame: Frame): void {
    this.#frames.push(frame);
    this.#wake?.();
  }

  /** What was pushed still comes out. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *frames(): AsyncGenerator<Frame, void, undefined> {
    while (true) {
      for (let next = this.#frames.shift(); next !== undefined; next = this.#frames.shift()) {
        yield next;
      }
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
