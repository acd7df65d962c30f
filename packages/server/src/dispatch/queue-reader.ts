import type { QueuedExecution, Store } from "@engine/store";
import type { DispatchQueue, Group } from "./dispatch-queue.ts";

/** Read at once. */
const PAGE = 1_000;

interface Parts {
  readonly store: { readonly queue: Pick<Store["queue"], "list"> };
  readonly queue: DispatchQueue;
  /** Something was read, which may be given out. */
  readonly onRead: () => void;
}

/** Brings what waits in the store into the queue in memory: at the start, and what news missed. */
export class QueueReader {
  readonly #parts: Parts;
  /** Every row that waits was read or announced, except those left of a group. */
  #isWhole = false;
  /** Rows were announced that nobody read. */
  #isBehind = false;
  #isReading = false;
  /** Something may have been written since that began. */
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

  /** Whether more of a group is to be read, of which nothing is in the queue any more. */
  get hasRunDry(): boolean {
    return !this.#isReading && this.#parts.queue.dry() !== undefined;
  }

  /** Rows wait that are not read before somebody could have them. */
  fallBehind(): void {
    this.#isBehind = true;
  }

  /** Of a long queue the end is read too, where what was missed lately is. */
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

  /** Reads on until everything is known; other work comes in between. */
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
      // The head is where the others come from: known once, it is known for good.
      if (isKnown && this.#isWhole) return;
      this.#isWhole = false;
      onRead();
    }
  }

  #reachedEnd(): void {
    this.#isWhole = !this.#isAskedAgain && !this.#isBehind;
  }

  /** Reads what was left of a group, until some of it is here or there is no more. */
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
