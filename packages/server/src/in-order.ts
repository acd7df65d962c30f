/** Runs what concerns one thing, such as an execution or a name, one after the other. */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Settles with the run itself. A run that fails does not stop those behind it. */
  run<Done>(key: string, then: () => Promise<Done>): Promise<Done> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(then);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }
}
