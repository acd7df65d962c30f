/**
 * Large inputs at hand, by execution. They never change, and a server that writes an
 * execution usually writes it again soon: then the database need not send the input a second time.
 */
export class InputCache {
  readonly #texts = new Map<string, string>();
  readonly #limit: number;
  #size = 0;

  /** @param limit Characters to keep in all. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Those of them that are at hand. */
  find(execution_ids: readonly string[]): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const id of execution_ids) {
      const text = this.#texts.get(id);
      if (text === undefined) continue;
      // Asked for last, dropped last.
      this.#texts.delete(id);
      this.#texts.set(id, text);
      found.set(id, text);
    }
    return found;
  }

  keep(execution_id: string, text: string): void {
    if (this.#texts.has(execution_id)) return;
    this.#texts.set(execution_id, text);
    this.#size += text.length;
    for (const [oldest, dropped] of this.#texts) {
      if (this.#size <= this.#limit) break;
      this.#texts.delete(oldest);
      this.#size -= dropped.length;
    }
  }
}
