import type { QueuedExecution } from "@engine/store";

/** Executions that wait for a worker, in the order of DSP-4: priority, queue time, id. */
export class DispatchQueue {
  readonly #entries: QueuedExecution[] = [];
  readonly #byId = new Map<string, QueuedExecution>();

  get size(): number {
    return this.#entries.length;
  }

  at(index: number): QueuedExecution | undefined {
    return this.#entries[index];
  }

  /** The one that is taken last. */
  get last(): QueuedExecution | undefined {
    return this.#entries.at(-1);
  }

  add(entry: QueuedExecution): void {
    this.remove(entry.execution_id);
    this.#byId.set(entry.execution_id, entry);
    this.#entries.splice(this.#placeOf(entry), 0, entry);
  }

  has(execution_id: string): boolean {
    return this.#byId.has(execution_id);
  }

  remove(execution_id: string): void {
    const entry = this.#byId.get(execution_id);
    if (!entry) return;
    this.#byId.delete(execution_id);
    this.#entries.splice(this.#placeOf(entry), 1);
  }

  /** Index of the first entry that does not come before this one. */
  #placeOf(entry: QueuedExecution): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle];
      if (other && compareQueued(other, entry) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function compareQueued(a: QueuedExecution, b: QueuedExecution): number {
  return (
    b.priority - a.priority ||
    a.queued_at - b.queued_at ||
    (a.execution_id < b.execution_id ? -1 : a.execution_id > b.execution_id ? 1 : 0)
  );
}
