import type { NewExecution, ResolvedLimit } from "@engine/contract";
import type { Changed, Decide, GuardedClaimant, SessionGuard, Store } from "@engine/store";
import { committed, decided, typesOf } from "./failpoints.ts";
import type { Log } from "./log.ts";

/**
 * @param ownerHas How many of the first events the execution's owner has already, or gets with its
 *   assignment; the events behind them are news to it.
 */
export type CommitListener = (changed: Changed, ownerHas: number) => void;

/** A change that went through, and whether anything had to be written for it. */
export interface Committed {
  readonly changed: Changed;
  readonly wrote: boolean;
}

export interface CommitOptions {
  /** The decision is shown the log above this `seq`. */
  readonly above?: number | undefined;
  /** Where it does not hold, nothing is decided and nothing written. */
  readonly guard?: SessionGuard | undefined;
  /** Of the execution, where it is to be claimed: they are counted (FLW-8). */
  readonly limits?: readonly ResolvedLimit[] | undefined;
  /** How many of the events written the owner knows, from the first one on; asked after the commit. */
  readonly ownerHas?: (changed: Changed) => number;
}

/**
 * The one way to write an execution. The parts that must know of a commit (owners, slots, waiters,
 * streams, timers, the queue) listen here. They are told of the execution itself and of every other one
 * that the change had effects on, so that no way of writing can forget a listener.
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

  /** Calls back when every listener has been told of everything that a commit changed. */
  afterwards(then: () => void): void {
    this.#afterwards.push(then);
  }

  /**
   * Writes nothing when an execution has the unique key already: that execution is the answer; nor when the
   * delivery that it was to settle is not as it was judged.
   */
  async create(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Committed> {
    if (decided.hasSubscribers) decided.publish({ of: ["WORKFLOW_CREATED"] });
    const changed = await this.#store.executions.create(fresh, claimant);
    if (changed.existing || changed.undelivered) return { changed, wrote: false };
    // The assignment carries the log so far.
    this.#tell(changed, changed.events.length);
    return { changed, wrote: true };
  }

  async change(
    execution_id: string,
    decide: Decide,
    { above, guard, limits, ownerHas = () => 0 }: CommitOptions = {},
  ): Promise<Committed> {
    const changed = await this.#store.executions.change(
      execution_id,
      (row, recorded, findKept) => {
        const change = decide(row, recorded, findKept);
        if (change && decided.hasSubscribers) decided.publish({ of: typesOf(change.events) });
        return change;
      },
      { above, guard, limits },
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

  /** The commit stands whatever a listener makes of it: the others are told where one fails. */
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
