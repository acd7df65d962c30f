/** Runs what concerns one execution one after the other, in the order it was asked for. */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Settles with the run itself; one that fails does not stop those behind it. */
  run(execution_id: string, then: () => Promise<void>): Promise<void> {
    const before = this.#last.get(execution_id) ?? Promise.resolve();
    const mine = before.then(then);
    const settled = mine.catch(() => undefined);
    this.#last.set(execution_id, settled);
    void settled.then(() => {
      if (this.#last.get(execution_id) === settled) this.#last.delete(execution_id);
    });
    return mine;
  }
}
