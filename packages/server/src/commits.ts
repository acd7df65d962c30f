import type { Claimant, NewExecution } from "@engine/contract";
import type { Changed, Decide, Store } from "@engine/store";

export type CommitListener = (changed: Changed) => void;

/** A change that went through: what is durable now, and whether anything had to be written. */
export interface Committed {
  readonly changed: Changed;
  readonly wrote: boolean;
}

/**
 * The one way to write an execution. Whoever must know of a commit (slots, waiters, streams, the
 * queue) listens here and is told in the same breath, so that no path can forget somebody.
 */
export class Commits {
  readonly #store: Store;
  readonly #listeners: CommitListener[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Listeners are told in the order they came; they must not throw. */
  listen(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  async create(fresh: NewExecution, claimant?: Claimant): Promise<Committed> {
    const changed = await this.#store.createExecution(fresh, claimant);
    this.#tell(changed);
    return { changed, wrote: true };
  }

  async change(
    execution_id: string,
    decide: Decide,
    options?: { readonly above?: number },
  ): Promise<Committed> {
    let wrote = false;
    const changed = await this.#store.changeExecution(
      execution_id,
      (row, recorded) => {
        const change = decide(row, recorded);
        wrote = change !== undefined;
        return change;
      },
      options,
    );
    if (wrote) this.#tell(changed);
    return { changed, wrote };
  }

  #tell(changed: Changed): void {
    for (const listener of this.#listeners) listener(changed);
  }
}
