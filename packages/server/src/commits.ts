import type { NewExecution } from "@engine/contract";
import type { Changed, Decide, GuardedClaimant, SessionGuard, Store } from "@engine/store";
import { committed, decided, typesOf } from "./failpoints.ts";
import type { Log } from "./log.ts";

/**
 * @param ownerHas How many of the first events the execution's owner has already, or gets with its
 *   assignment; what follows them is news to it.
 */
export type CommitListener = (changed: Changed, ownerHas: number) => void;

/** A change that went through: what is durable now, and whether anything had to be written. */
export interface Committed {
  readonly changed: Changed;
  readonly wrote: boolean;
}

export interface CommitOptions {
  /** The decision is shown the log above this `seq`. */
  readonly above?: number | undefined;
  /** While it does not hold, nothing is decided and nothing written. */
  readonly guard?: SessionGuard | undefined;
  /** Of the events written, those at the beginning that the owner knows; asked after the commit. */
  readonly ownerHas?: (changed: Changed) => number;
}

/**
 * The one way to write an execution. Whoever must know of a commit (owners, slots, waiters, streams,
 * timers, the queue) listens here and is told in the same breath, of the execution itself and of
 * every other one that the change had effects on, so that no path can forget somebody.
 */
export class Commits {
  readonly #store: Store;
  readonly #log: Log;
  readonly #listeners: CommitListener[] = [];
  readonly #afterwards: (() => void)[] = [];

  constructor({ store, log }: { readonly store: Store; readonly log: Log }) {
    this.#store = store;
    this.#log = log;
  }

  /** Listeners are told in the order they came. */
  listen(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** Told when every listener has been told of everything that a commit changed. */
  afterwards(then: () => void): void {
    this.#afterwards.push(then);
  }

  /** Writes nothing when another execution has the unique key already: that one is the answer. */
  async create(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Committed> {
    if (decided.hasSubscribers) decided.publish({ of: ["WORKFLOW_CREATED"] });
    const changed = await this.#store.executions.create(fresh, claimant);
    if (changed.existing) return { changed, wrote: false };
    // The log so far rides the assignment.
    this.#tell(changed, changed.events.length);
    return { changed, wrote: true };
  }

  async change(
    execution_id: string,
    decide: Decide,
    { above, guard, ownerHas = () => 0 }: CommitOptions = {},
  ): Promise<Committed> {
    const changed = await this.#store.executions.change(
      execution_id,
      (row, recorded, findKept) => {
        const change = decide(row, recorded, findKept);
        if (change && decided.hasSubscribers) decided.publish({ of: typesOf(change.events) });
        return change;
      },
      { above, guard },
    );
    const wrote = changed.unchanged === undefined;
    if (wrote) this.#tell(changed, ownerHas(changed));
    return { changed, wrote };
  }

  #tell(changed: Changed, ownerHas: number): void {
    if (committed.hasSubscribers) {
      const all = [changed, ...changed.others].flatMap(({ events }) => typesOf(events));
      committed.publish({ of: all });
    }
    this.#tellAll(changed, ownerHas);
    for (const other of changed.others) this.#tellAll(other, 0);
    for (const then of this.#afterwards) {
      try {
        then();
      } catch (error) {
        this.#log.error({ err: error }, "what follows a commit failed");
      }
    }
  }

  /** It is durable whatever a listener makes of it: who fails keeps it from nobody else. */
  #tellAll(changed: Changed, ownerHas: number): void {
    for (const listener of this.#listeners) {
      try {
        listener(changed, ownerHas);
      } catch (error) {
        const { execution_id } = changed.row;
        this.#log.error({ err: error, execution_id }, "a commit was not taken in");
      }
    }
  }
}
