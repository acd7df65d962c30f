import type { ConcurrencyDenial, ExecutionRow, LimitDenial, ResolvedLimit } from "@engine/contract";
import { BucketStates } from "../limits/bucket-states.ts";
import { type ClaimRecords, claimRecords, denial, roomDenial } from "../limits/claim-limits.ts";
import { KEEP_HOLDERS, KEEP_STARTS, LimitsAsked } from "../limits/limit-queries.ts";
import { type HolderCount, readLimits } from "../limits/read-limits.ts";
import { rendered, type Sql } from "../operations/sql.ts";
import { BoundInsert } from "./bound-insert.ts";
import type { Bindable, Connection } from "./connection.ts";
import { isDue, KnownRoom } from "./known-room.ts";

type Claim = Pick<ExecutionRow, "execution_id" | "generation" | "state">;

interface Judged {
  readonly limits: readonly ResolvedLimit[];
  readonly claim: Claim;
  readonly at: number;
}

/** Of buckets about which a claim has nothing to ask. */
const NOTHING_READ = new BucketStates();

/** Counts what claims are under, inside of their transactions: there is one at a time. */
export class ClaimLimits {
  readonly #connection: Connection;
  readonly #holders: BoundInsert;
  readonly #starts: BoundInsert;
  readonly #room = new KnownRoom();

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#holders = new BoundInsert(connection, KEEP_HOLDERS);
    this.#starts = new BoundInsert(connection, KEEP_STARTS);
    connection.remember(() => this.#room.forget());
  }

  /** Why a claim gets no place; where it does, what is counted by others is written. */
  take(limits: readonly ResolvedLimit[], claim: Claim, at: number): LimitDenial | undefined {
    if (claim.state !== "CANCELLING" && this.#room.has(limits, at)) {
      this.#write(claimRecords(limits, claim, at, NOTHING_READ));
      this.#room.grown(limits);
      return undefined;
    }
    const { states, denied } = this.#judge({ limits, claim, at }, (read) =>
      denial(limits, claim, read),
    );
    if (denied) return denied;
    this.#write(claimRecords(limits, claim, at, states));
    this.#room.counted(limits, at, (limit) => {
      if (limit.kind === "concurrency") return states.held(limit.bucket) + 1;
      return states.started(limit.bucket, limit).started + 1;
    });
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
   * Who has left a place behind is looked for where none is free, and now and then: each claim would look
   * at all who have one.
   */
  #judge<Denied>(
    of: Judged,
    judge: (read: BucketStates) => Denied | undefined,
  ): { readonly states: BucketStates; readonly denied: Denied | undefined } {
    const most = this.#read(of, "most");
    const isCrowded = of.limits.some(({ kind, bucket }) => {
      return kind !== "rate" && isDue(most.held(bucket));
    });
    if (!isCrowded && judge(most) === undefined) return { states: most, denied: undefined };
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

  #write({ holders, starts }: ClaimRecords): void {
    this.#holders.run(holders);
    this.#starts.run(starts);
  }

  #ask(query: Sql): readonly unknown[] {
    const { text, values } = rendered(query, "sqlite");
    return this.#connection.prepareOnce(text).ask(values as readonly Bindable[]);
  }
}
