import type { QueuedExecution, Store } from "@engine/store";
import type { DispatchQueue, Group } from "./dispatch-queue.ts";

/** Rows that are read at once. */
const PAGE = 1_000;

interface Parts {
  readonly store: { readonly queue: Pick<Store["queue"], "list"> };
  readonly queue: DispatchQueue;
  /** Called when rows were read, which may be given out. */
  readonly onRead: () => void;
}

/** Reads the executions that wait in the store into the queue: at the start, and where news were lost. */
export class QueueReader {
  readonly #parts: Parts;
  /** Whether every waiting row was read or announced, except those that groups left in the store. */
  #isWhole = false;
  /** Whether rows were announced that were not read. */
  #isBehind = false;
  #isReading = false;
  /** Whether something may have been written since the read began. */
  #isAskedAgain = false;
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether everything that could be given out is in the queue. */
  get isComplete(): boolean {
    return this.#isWhole && !this.#isBehind;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether a group has nothing left in the queue, and more in the store. */
  get hasRunDry(): boolean {
    return !this.#isReading && this.#parts.queue.dry() !== undefined;
  }

  /** Notes rows that are not read before a worker could have them. */
  fallBehind(): void {
    this.#isBehind = true;
  }

  /** Reads the queue from its end, where rows are that were missed lately, then all of a long one. */
  async refresh(): Promise<void> {
    if (this.#isBehind) this.#isWhole = false;
    this.#isBehind = false;
    this.#isAskedAgain = this.#isReading;
    if (this.#isReading) return;
    this.#isReading = true;
    const { store, queue, onRead } = this.#parts;
    try {
      const end = await store.queue.list({ limit: PAGE, fromEnd: true });
      for (const row of end) queue.add(row);
      if (end.length === PAGE) await this.#readAll();
      else this.#reachedEnd();
      for (let dry = queue.dry(); dry && !this.#isClosed; dry = queue.dry())
        await this.#readOn(dry);
    } finally {
      this.#isReading = false;
    }
    onRead();
    if (this.#isAskedAgain) await this.refresh();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Reads on until every row is known; other work comes in between. */
  async #readAll(): Promise<void> {
    const { store, queue, onRead } = this.#parts;
    let after: QueuedExecution | undefined;
    while (!this.#isClosed) {
      const page = await store.queue.list({ limit: PAGE, after });
      const isKnown = page.every((row) => queue.has(row.execution_id) || queue.isLeft(row));
      for (const row of page) queue.add(row);
      after = page.at(-1);
      if (page.length < PAGE) {
        this.#reachedEnd();
        return;
      }
      // Once the head of the queue was known in full, it stays known.
      if (isKnown && this.#isWhole) return;
      this.#isWhole = false;
      onRead();
    }
  }

  #reachedEnd(): void {
    this.#isWhole = !this.#isAskedAgain && !this.#isBehind;
  }

  /** Reads what a group left in the store, until a page of it is here or there is no more. */
  async #readOn(group: Group): Promise<void> {
    const { store, queue, onRead } = this.#parts;
    let after = group.cutOff;
    while (after && group.size < PAGE && !this.#isClosed) {
      const page = await store.queue.list({ limit: PAGE, after });
      after = page.length < PAGE ? undefined : page.at(-1);
      queue.readOn(group, after);
      for (const row of page) queue.add(row);
      onRead();
    }
  }
}
