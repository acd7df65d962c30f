import type { WrittenDelivery } from "@engine/store";

/** Above this many it is no longer kept which they are: those that are due are asked for instead. */
const MOST = 10_000;

/** Deliveries that this server has written and has not taken up yet. */
export class OwnDeliveries {
  /** By the name of their hook and their id, the oldest first. */
  readonly #byHook = new Map<string, Map<string, WrittenDelivery>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** @returns false where they are too many: then none is kept. */
  add(written: readonly WrittenDelivery[]): boolean {
    for (const one of written) {
      const ofHook = this.#byHook.get(one.hook) ?? new Map<string, WrittenDelivery>();
      if (ofHook.size === 0) this.#byHook.set(one.hook, ofHook);
      const before = ofHook.size;
      this.#size += ofHook.set(one.id, one).size - before;
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
    const names = [...this.#byHook.keys()].sort();
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
        const one = taken.length < limit ? this.#takeOf(hook) : undefined;
        if (one) taken.push(one);
        return one !== undefined;
      });
    }
    return taken;
  }

  /** Those that were taken up otherwise. */
  remove(taken: readonly WrittenDelivery[]): void {
    for (const one of taken) this.#remove(one);
  }

  clear(): void {
    this.#byHook.clear();
    this.#size = 0;
  }

  #takeOf(hook: string): WrittenDelivery | undefined {
    const [one] = this.#byHook.get(hook)?.values() ?? [];
    if (one) this.#remove(one);
    return one;
  }

  #remove({ id, hook }: WrittenDelivery): void {
    const ofHook = this.#byHook.get(hook);
    if (!ofHook?.delete(id)) return;
    this.#size--;
    if (ofHook.size === 0) this.#byHook.delete(hook);
  }
}
