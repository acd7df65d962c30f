import type { ConcurrencyDenial, ExecutionRow, LimitDenial, ResolvedLimit } from "@engine/contract";
import { BucketStates } from "../limits/bucket-states.ts";
import { claimRecords, denial, roomDenial } from "../limits/claim-limits.ts";
import { LimitsAsked, sweepHolders } from "../limits/limit-queries.ts";
import { type HolderCount, readLimits } from "../limits/read-limits.ts";
import { writeLimits } from "../limits/write-limits.ts";
import { rendered, type Sql } from "../operations/sql.ts";
import type { Bindable, Connection } from "./connection.ts";

type Claim = Pick<ExecutionRow, "execution_id" | "generation" | "state">;

interface Judged {
  readonly limits: readonly ResolvedLimit[];
  readonly claim: Claim;
  readonly at: number;
}

/**
 * What was left behind goes each time that a bucket has grown by a quarter or so: it is never much more
 * than what holds a place, and each claim pays for a few rows.
 */
function isSweepDue(held: number): boolean {
  const step = Math.max(LEAST_SWEPT, 2 ** (Math.floor(Math.log2(held)) - 2));
  return held > 0 && held % step === 0;
}

const LEAST_SWEPT = 8;

/** Counts what claims are under, inside of their transactions: there is one at a time. */
export class ClaimLimits {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Why a claim gets no place; where it does, what is counted by others is written. */
  take(limits: readonly ResolvedLimit[], claim: Claim, at: number): LimitDenial | undefined {
    const { states, denied } = this.#judge({ limits, claim, at }, (read) =>
      denial(limits, claim, read),
    );
    if (denied) return denied;
    const crowded = limits.filter(({ kind, bucket }) => {
      return kind !== "rate" && isSweepDue(states.held(bucket));
    });
    // Before this one is among them, whose execution does not say yet that it has the place.
    if (crowded.length > 0) this.#ask(sweepHolders(crowded.map(({ bucket }) => bucket)));
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
    return this.#judge({ limits, claim, at }, (read) => roomDenial(limits, read)).denied;
  }

  /**
   * Who has left a place behind is looked for only where none is free: each claim would look at all who
   * have one.
   */
  #judge<Denied>(
    of: Judged,
    judge: (read: BucketStates) => Denied | undefined,
  ): { readonly states: BucketStates; readonly denied: Denied | undefined } {
    const most = this.#read(of, "most");
    if (judge(most) === undefined) return { states: most, denied: undefined };
    const states = this.#read(of, "swept");
    return { states, denied: judge(states) };
  }

  #read({ limits, claim, at }: Judged, count: HolderCount): BucketStates {
    const asked = new LimitsAsked();
    asked.add(limits);
    const reading = readLimits(asked, [claim.execution_id], { at, count });
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
