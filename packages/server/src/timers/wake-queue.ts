import type { DueExecution } from "@engine/store";

/**
 * Executions by the instant at which they are due, the earliest first, each at most once. A binary heap
 * that knows the place of every execution, so that moving or removing one needs no search.
 */
export class WakeQueue {
  readonly #heap: DueExecution[] = [];
  readonly #places = new Map<string, number>();

  get size(): number {
    return this.#heap.length;
  }

  get first(): DueExecution | undefined {
    return this.#heap[0];
  }

  /** When an execution is due; never, if it is not in the queue. */
  at(execution_id: string): number {
    const place = this.#places.get(execution_id);
    return (place === undefined ? undefined : this.#heap[place])?.wake_at ?? Infinity;
  }

  /** Adds an execution, or moves it to another instant. */
  set(entry: DueExecution): void {
    const place = this.#places.get(entry.execution_id);
    if (place === undefined) {
      this.#put(entry, this.#heap.length);
      this.#rise(this.#heap.length - 1);
      return;
    }
    this.#put(entry, place);
    this.#settle(place);
  }

  remove(execution_id: string): void {
    const place = this.#places.get(execution_id);
    if (place === undefined) return;
    this.#places.delete(execution_id);
    const last = this.#heap.pop();
    if (!last || last.execution_id === execution_id) return;
    this.#put(last, place);
    this.#settle(place);
  }

  /** Takes the earliest out. */
  shift(): DueExecution | undefined {
    const { first } = this;
    if (first) this.remove(first.execution_id);
    return first;
  }

  /** Drops all but the earliest; answers the last one kept. */
  keep(count: number): DueExecution | undefined {
    this.#heap.sort(compareDue);
    this.#heap.length = Math.min(this.#heap.length, count);
    this.#places.clear();
    for (const [place, { execution_id }] of this.#heap.entries()) {
      this.#places.set(execution_id, place);
    }
    return this.#heap.at(-1);
  }

  clear(): void {
    this.#heap.length = 0;
    this.#places.clear();
  }

  #put(entry: DueExecution, place: number): void {
    this.#heap[place] = entry;
    this.#places.set(entry.execution_id, place);
  }

  #settle(place: number): void {
    this.#rise(place);
    this.#sink(place);
  }

  #rise(from: number): void {
    for (let place = from; place > 0; ) {
      const parent = (place - 1) >> 1;
      if (!this.#swapIfEarlier(place, parent)) return;
      place = parent;
    }
  }

  #sink(from: number): void {
    for (let place = from; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const [a, b] = [this.#heap[left], this.#heap[right]];
      if (!a) return;
      const child = b && compareDue(b, a) < 0 ? right : left;
      if (!this.#swapIfEarlier(child, place)) return;
      place = child;
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const [below, above] = [this.#heap[child], this.#heap[parent]];
    if (!below || !above || compareDue(below, above) >= 0) return false;
    this.#put(below, parent);
    this.#put(above, child);
    return true;
  }
}

/** The order of `Store.queue.listDue`. */
export function compareDue(a: DueExecution, b: DueExecution): number {
  return (
    a.wake_at - b.wake_at ||
    (a.execution_id < b.execution_id ? -1 : a.execution_id > b.execution_id ? 1 : 0)
  );
}
