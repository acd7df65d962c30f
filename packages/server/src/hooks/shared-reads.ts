/**
 * Reads that are asked for in one turn: those of the same are one, which begins behind all who asked. So
 * what each of them is told is as new as if it had read alone.
 */
export class SharedReads {
  readonly #asked = new Map<string, Promise<unknown>>();

  /** @param read Always the same for a key. */
  share<Value>(key: string, read: () => Promise<Value>): Promise<Value> {
    const asked = this.#asked.get(key);
    if (asked) return asked as Promise<Value>;
    const answer = Promise.resolve().then(() => {
      this.#asked.delete(key);
      return read();
    });
    this.#asked.set(key, answer);
    return answer;
  }
}
