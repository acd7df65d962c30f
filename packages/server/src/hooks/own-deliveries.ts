import type { WrittenDelivery } from "@engine/store";

/** Above this many it is no longer kept which they are: those that are due are asked for instead. */
const MOST = 10_000;

/** Deliveries that this server has written and has not taken up yet. */
export class OwnDeliveries {
  /** Ids by the name of their hook, the oldest first. */
  readonly #ids = new Map<string, Set<string>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** @returns false where they are too many: then none is kept. */
  add(written: readonly WrittenDelivery[]): boolean {
    for (const { id, hook } of written) {
      const ids = this.#ids.get(hook) ?? new Set();
      if (ids.size === 0) this.#ids.set(hook, ids);
      const before = ids.size;
      this.#size += ids.add(id).size - before;
    }
    if (this.#size <= MOST) return true;
    this.clear();
    return false;
  }

  /**
   * Takes some out, one of a hook in a round, the oldest first, in cyclic order of the names of hooks
   * (HOOK-24).
   *
   * @param after Name of the hook at which the last pass stopped; null: from the first.
   */
  take(limit: number, after: string | null): readonly WrittenDelivery[] {
    const names = [...this.#ids.keys()].sort();
    const next =
      after === null
        ? 0
        : Math.max(
            0,
            names.findIndex((name) => name > after),
          );
    const taken: WrittenDelivery[] = [];
    for (let round = [...names.slice(next), ...names.slice(0, next)]; round.length > 0; ) {
      round = round.filter((hook) => {
        const id = taken.length < limit ? this.#takeOf(hook) : undefined;
        if (id !== undefined) taken.push({ id, hook });
        return id !== undefined;
      });
    }
    return taken;
  }

  /** Those that were taken up otherwise. */
  remove(taken: readonly WrittenDelivery[]): void {
    for (const { id, hook } of taken) this.#remove(id, hook);
  }

  clear(): void {
    this.#ids.clear();
    this.#size = 0;
  }

  #takeOf(hook: string): string | undefined {
    const [id] = this.#ids.get(hook) ?? [];
    if (id !== undefined) this.#remove(id, hook);
    return id;
  }

  #remove(id: string, hook: string): void {
    const ids = this.#ids.get(hook);
    if (!ids?.delete(id)) return;
    this.#size--;
    if (ids.size === 0) this.#ids.delete(hook);
  }
}
