import type { Store } from "@engine/store";
import type { DispatchQueue } from "./dispatch-queue.ts";
import { compareQueued, type Place } from "./queue-order.ts";

/** Rows that are read at once. */
const PAGE = 1_000;
/** What waits behind all that can be kept is looked through for no more than this part of the time. */
const PART_OF_TIME = 1 / 10;
/** The least between two such looks. */
const LEAST_MS = 1_000;

interface Parts {
  readonly store: { readonly queue: Pick<Store["queue"], "list"> };
  readonly queue: DispatchQueue;
  readonly monotonic: () => number;
  readonly setTimer: (run: () => void, ms: number) => unknown;
  /** Called when rows were read, which may be given out. */
  readonly onRead: () => void;
}

/** Reads the executions that wait in the store into the queue: at the start, and where news were lost. */
export class QueueReader {
  readonly #parts: Parts;
  /** Whether every waiting row was read or announced, except those that the queue left in the store. */
  #isWhole = false;
  /** Whether rows were announced that were not read. */
  #isBehind = false;
  #isReading = false;
  /** Whether something may have been written since the read began. */
  #isAskedAgain = false;
  /** Whether a worker may be free for what waits behind all that is kept. */
  #wantsBeyond = false;
  /** By the clock that nobody sets: when that may be looked through again. */
  #nextBeyond = Number.NEGATIVE_INFINITY;
  #isPaced = false;
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
    return !this.#isReading && this.#parts.queue.dry().size > 0;
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
    const { store, queue, onRead } = this.#parts;
    await this.#reading(async () => {
      const end = await store.queue.list({ limit: PAGE, fromEnd: true });
      queue.addRead(end);
      if (end.length === PAGE) await this.#readAll();
      else this.#reachedEnd();
      while (queue.dry().size > 0 && !this.#isClosed) await this.#readLeft(undefined);
    });
    onRead();
    if (this.#isAskedAgain) await this.refresh();
  }

  /**
   * Looks through what waits behind all that is kept, since a worker is free that may be the one for
   * something there. It is not done all the time: there is no end of it.
   */
  async readBeyond(): Promise<void> {
    const { queue, monotonic, setTimer, onRead } = this.#parts;
    this.#wantsBeyond = true;
    if (this.#isReading || this.#isPaced || this.#isClosed || !queue.beyond) return;
    const waitMs = this.#nextBeyond - monotonic();
    if (waitMs > 0) {
      this.#isPaced = true;
      setTimer(() => {
        this.#isPaced = false;
        if (this.#wantsBeyond) onRead();
      }, waitMs);
      return;
    }
    this.#wantsBeyond = false;
    const from = monotonic();
    const { beyond } = queue;
    queue.beyond = undefined;
    try {
      await this.#reading(() => this.#readLeft(beyond));
    } catch (error) {
      const { beyond: now } = queue;
      queue.beyond = now && compareQueued(now, beyond) < 0 ? now : beyond;
      throw error;
    } finally {
      const tookMs = monotonic() - from;
      this.#nextBeyond = monotonic() + Math.max(LEAST_MS, tookMs / PART_OF_TIME);
    }
    onRead();
    if (this.#isAskedAgain) await this.refresh();
  }

  get wantsBeyond(): boolean {
    return this.#wantsBeyond;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #reading(read: () => Promise<void>): Promise<void> {
    const { queue } = this.#parts;
    this.#isReading = true;
    queue.beginReading();
    try {
      await read();
    } finally {
      this.#isReading = false;
      queue.endReading();
    }
  }

  /** Reads on until every row is known; other work comes in between. */
  async #readAll(): Promise<void> {
    const { store, queue, onRead } = this.#parts;
    let after: Place | undefined;
    while (!this.#isClosed) {
      const page = await store.queue.list({ limit: PAGE, after });
      const isKnown = page.every((row) => queue.has(row.execution_id) || queue.isLeft(row));
      queue.addRead(page);
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

  /**
   * Reads what groups that ran dry left in the store, until a page of each is here or there is no more;
   * and, where a place is given, all that is behind it.
   */
  async #readLeft(beyond: Place | undefined): Promise<void> {
    const { store, queue, onRead } = this.#parts;
    const groups = new Set(queue.dry());
    const places = [beyond, ...[...groups].map(({ cutOff }) => cutOff)].filter(
      (it) => it !== undefined,
    );
    let after = places.sort(compareQueued)[0];
    while (after && !this.#isClosed && (beyond || groups.size > 0)) {
      const page = await store.queue.list({ limit: PAGE, after });
      after = page.length < PAGE ? undefined : page.at(-1);
      for (const group of groups) {
        // What lies before its own place is here already.
        const isAhead = after && group.cutOff && compareQueued(after, group.cutOff) < 0;
        if (!isAhead) queue.readOn(group, after);
      }
      queue.addRead(page);
      for (const group of groups) if (group.size >= PAGE || !group.cutOff) groups.delete(group);
      onRead();
    }
  }
}
