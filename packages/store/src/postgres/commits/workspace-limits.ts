/**
 * What the claims of a transaction count. The locks of all buckets come before the first lock of a row,
 * in one order: a claim that turns out to be under another limit begins its transaction again with that.
 */
import type {
  ConcurrencyDenial,
  ExecutionRow,
  LimitDenial,
  NewExecution,
  ResolvedLimit,
} from "@engine/contract";
import { BucketStates, type FindRow } from "../../limits/bucket-states.ts";
import { claimRecords, denial, rejectingLimits, roomDenial } from "../../limits/claim-limits.ts";
import type { LimitsAsked } from "../../limits/limit-queries.ts";
import { type LimitReading, readLimits } from "../../limits/read-limits.ts";
import { writeLimits } from "../../limits/write-limits.ts";
import { rendered, type Sql } from "../../operations/sql.ts";
import type { Database, Query } from "../database.ts";
import { Missing } from "./missing.ts";

type Claim = Pick<ExecutionRow, "execution_id" | "generation" | "state">;

export class WorkspaceLimits {
  readonly #asked: LimitsAsked;
  readonly #states: BucketStates;

  constructor(asked: LimitsAsked, find: FindRow) {
    this.#asked = asked;
    this.#states = new BucketStates(find);
  }

  /** Why a claim gets no place. */
  denial(limits: readonly ResolvedLimit[], claim: Claim): LimitDenial | undefined {
    this.#assertRead(limits);
    return denial(limits, claim, this.#states);
  }

  /** Why one that is only being created would have to wait, where its workflow refuses that. */
  noRoom(fresh: NewExecution): ConcurrencyDenial | undefined {
    const limits = rejectingLimits(fresh);
    if (!limits) return undefined;
    this.#assertRead(limits);
    return roomDenial(limits, this.#states);
  }

  /** A claim that was let through: those that follow count it. */
  keep(limits: readonly ResolvedLimit[], claim: Claim, at: number): void {
    this.#states.add(claimRecords(limits, claim, at, this.#states));
  }

  startOver(): void {
    this.#states.startOver();
  }

  /** Before anything else is locked; none where nothing is counted. */
  locks(database: Database): readonly Query[] {
    if (this.#asked.isEmpty) return [];
    return [[database.prepare(LOCK_BUCKETS_SQL), this.#asked.buckets]];
  }

  /** @param execution_ids Of those that are claimed. */
  /** @param clock Asked only where something is counted: each commit has one time. */
  reading(execution_ids: readonly string[], clock: () => number): LimitReading {
    const at = this.#asked.isEmpty ? 0 : clock();
    return readLimits(this.#asked, execution_ids, { at });
  }

  take(reading: LimitReading, answers: readonly (readonly unknown[])[]): void {
    reading.take(this.#states, answers);
  }

  get written(): readonly Sql[] {
    return writeLimits(this.#states.added);
  }

  #assertRead(limits: readonly ResolvedLimit[]): void {
    if (!this.#asked.has(limits)) throw new Missing({ kind: "limits", limits });
  }
}

/** A transaction has to begin again, with the locks of more buckets. */
export class LocksMissing extends Error {
  readonly limits: readonly ResolvedLimit[];

  constructor(limits: readonly ResolvedLimit[]) {
    super("more limits are counted than were locked");
    this.limits = limits;
  }
}

export function preparedQuery(database: Database, query: Sql): Query {
  const { text, values } = rendered(query, "postgres");
  return [database.prepare(text), ...values];
}

/** Taken in the order of their numbers, whoever asks. */
const LOCK_BUCKETS_SQL = `
  SELECT pg_advisory_xact_lock(k) FROM (
    SELECT DISTINCT hashtextextended('limit ' || bucket, 0) AS k
    FROM unnest($1::text[]) AS bucket ORDER BY k) AS locks`;
