import type { ConcurrencyDenial, ExecutionRow, LimitDenial, ResolvedLimit } from "@engine/contract";
import { BucketStates } from "../limits/bucket-states.ts";
import { claimRecords, denial, roomDenial } from "../limits/claim-limits.ts";
import { LimitsAsked } from "../limits/limit-queries.ts";
import { readLimits } from "../limits/read-limits.ts";
import { writeLimits } from "../limits/write-limits.ts";
import { rendered, type Sql } from "../operations/sql.ts";
import type { Bindable, Connection } from "./connection.ts";

type Claim = Pick<ExecutionRow, "execution_id" | "generation" | "state">;

/** Counts what claims are under, inside of their transactions: there is one at a time. */
export class ClaimLimits {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Why a claim gets no place; where it does, what is counted by others is written. */
  take(limits: readonly ResolvedLimit[], claim: Claim, at: number): LimitDenial | undefined {
    const states = this.#read(limits, claim, at);
    const denied = denial(limits, claim, states);
    if (denied) return denied;
    for (const query of writeLimits(claimRecords(limits, claim, at, states))) this.#ask(query);
    return undefined;
  }

  /** Why one that is only being created would have to wait; nothing is kept of it. */
  look(
    limits: readonly ResolvedLimit[],
    execution_id: string,
    at: number,
  ): ConcurrencyDenial | undefined {
    const claim: Claim = { execution_id, generation: 1, state: "CREATED" };
    return roomDenial(limits, this.#read(limits, claim, at));
  }

  #read(limits: readonly ResolvedLimit[], { execution_id }: Claim, at: number): BucketStates {
    const asked = new LimitsAsked();
    asked.add(limits);
    const reading = readLimits(asked, [execution_id], { at });
    const states = new BucketStates();
    reading.take(
      states,
      reading.queries.map((query) => this.#ask(query)),
    );
    return states;
  }

  #ask(query: Sql): readonly unknown[] {
    const { text, values } = rendered(query, "sqlite");
    return this.#connection.prepareOnce(text).ask(values as readonly Bindable[]);
  }
}
