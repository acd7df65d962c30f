/** What the transaction of a claim asks of buckets, and what it writes: one text for both databases. */
import type { ResolvedLimit } from "@engine/contract";
import { anyOf, raw, rowsOf, type Sql, sql } from "../operations/sql.ts";
import type { LimitDefinition } from "./claim-limits.ts";

interface AskedRate {
  readonly bucket: string;
  readonly count: number;
  readonly period_ms: number;
}

/** Buckets that claims are under, by what has to be known of them. */
export class LimitsAsked {
  /** Of places. */
  readonly held: Set<string> = new Set();
  /** Of first claims, with the rates that look at them. */
  readonly rates: Map<string, AskedRate> = new Map();
  /** Of operators' limits, with their names. */
  readonly named: Map<string, string> = new Map();

  /** False when all of it was asked for before. */
  add(limits: readonly ResolvedLimit[]): boolean {
    const before = this.#size;
    for (const limit of limits) {
      const { bucket, kind } = limit;
      if (kind !== "rate") this.held.add(bucket);
      if (kind === "limit") this.named.set(bucket, limit.name);
      if (kind !== "rate") continue;
      const { count, period_ms } = limit;
      this.rates.set(rateKey(bucket, limit), { bucket, count, period_ms });
    }
    return this.#size !== before;
  }

  has(limits: readonly ResolvedLimit[]): boolean {
    return limits.every((limit) =>
      limit.kind === "rate"
        ? this.rates.has(rateKey(limit.bucket, limit))
        : this.held.has(limit.bucket),
    );
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Each bucket once. */
  get buckets(): readonly string[] {
    return [...new Set([...this.held, ...[...this.rates.values()].map(({ bucket }) => bucket)])];
  }

  get #size(): number {
    return this.held.size + this.rates.size;
  }
}

export function rateKey(
  bucket: string,
  { count, period_ms }: { readonly count: number; readonly period_ms: number },
): string {
  return `${count} ${period_ms} ${bucket}`;
}

export interface StoredDefinition {
  readonly name: string;
  readonly concurrency: number | null;
  readonly rate_count: number | null;
  readonly rate_period_ms: number | null;
}

export function toDefinition(row: StoredDefinition): LimitDefinition {
  const { concurrency, rate_count: count, rate_period_ms: period_ms } = row;
  const rate = count !== null && period_ms !== null ? { count, period_ms } : null;
  return { concurrency, rate };
}

export const DEFINITION: Sql = raw("name, concurrency, rate_count, rate_period_ms");

export function definitions(names: readonly string[]): Sql<StoredDefinition> {
  return sql`SELECT ${DEFINITION} FROM limits WHERE name ${anyOf(names)}`;
}

/** Whether the execution of a holder `h` has the place, as a condition on it. */
export const HOLDS: Sql = raw(`EXISTS (
  SELECT 1 FROM executions AS e WHERE e.execution_id = h.execution_id AND (
    (h.generation IS NULL AND e.finished_at IS NULL)
    OR (e.session IS NOT NULL AND e.generation = h.generation)))`);

/** Removes what has been left behind: then every row of these buckets counts. */
export function sweepHolders(buckets: readonly string[]): Sql {
  return sql`DELETE FROM limit_holders AS h WHERE h.bucket ${anyOf(buckets)} AND NOT ${HOLDS}`;
}

/**
 * Removes first claims that no rate looks back at any more. On SQLite those of all buckets, by the index of
 * when they expire: those of one bucket would be looked for among all that it has.
 */
export function sweepStarts(buckets: readonly string[], at: number): Sql {
  const expired = sql`DELETE FROM limit_starts WHERE expires_at <= ${at}`;
  return sql`${{ sqlite: expired, postgres: sql`${expired} AND bucket ${anyOf(buckets)}` }}`;
}

export interface StoredHolders {
  readonly bucket: string;
  readonly held: number;
  /** JSON: the first ten. */
  readonly first: string | null;
  /** JSON: those of the executions asked for that have a place, with what it holds for. */
  readonly among: string | null;
}

const FIRST = 10;
const list = {
  sqlite: raw("json_group_array(execution_id)"),
  postgres: raw("json_agg(execution_id)::text"),
};
const pairs = {
  sqlite: raw("json_group_array(json_array(h.execution_id, h.generation))"),
  postgres: raw("json_agg(json_build_array(h.execution_id, h.generation))::text"),
};

/** @param which The holders that count: all of them right after {@link sweepHolders}. */
export function holders(
  buckets: readonly string[],
  execution_ids: readonly string[],
  which: Sql = raw("true"),
): Sql<StoredHolders> {
  return sql`
    SELECT r.bucket,
      (SELECT count(*) FROM limit_holders AS h WHERE h.bucket = r.bucket AND ${which}) AS held,
      (SELECT ${list} FROM (
        SELECT h.execution_id FROM limit_holders AS h
        WHERE h.bucket = r.bucket AND ${which}
        ORDER BY h.execution_id LIMIT ${raw(String(FIRST))}) AS listed) AS first,
      (SELECT ${pairs} FROM limit_holders AS h WHERE h.bucket = r.bucket
        AND h.execution_id ${anyOf(execution_ids)} AND ${which}) AS among
    FROM ${rowsOf(
      { bucket: "text" },
      buckets.map((bucket) => ({ bucket })),
    )}`;
}

export interface StoredRate {
  readonly bucket: string;
  readonly count: number;
  readonly period_ms: number;
  readonly started: number;
  /** Begin of the first of the last `count`; null when there are fewer. */
  readonly freeing: number | null;
  /** Begin of the first that counts. */
  readonly oldest: number | null;
}

/** The rates that workflows declare, and those that operators define now. */
export function rates(asked: LimitsAsked, at: number): Sql<StoredRate> {
  const declared = rowsOf({ bucket: "text", count: "integer", period_ms: "bigint" }, [
    ...asked.rates.values(),
  ]);
  const named = rowsOf(
    { bucket: "text", name: "text" },
    [...asked.named].map(([bucket, name]) => ({ bucket, name })),
  );
  const counted = sql`FROM limit_starts AS s
    WHERE s.bucket = a.bucket AND s.started_at > ${at} - a.period_ms`;
  const askedRates = sql`
    SELECT r.bucket, r.count, r.period_ms FROM ${declared}
    UNION ALL
    SELECT r.bucket, l.rate_count, l.rate_period_ms FROM ${named}
      JOIN limits AS l ON l.name = r.name WHERE l.rate_count IS NOT NULL`;
  // Which one has to pass is looked for only where there is no room: each claim would sort all that count.
  return sql`
    SELECT a.bucket, a.count, a.period_ms, a.started,
      CASE WHEN a.started >= a.count THEN (
        SELECT started_at FROM (
          SELECT s.started_at, row_number() OVER (ORDER BY s.started_at DESC) AS n ${counted}
        ) AS last WHERE last.n = a.count
      ) END AS freeing,
      (SELECT s.started_at ${counted} ORDER BY s.started_at LIMIT 1) AS oldest
    FROM (
      SELECT a.*, (SELECT count(*) ${counted}) AS started FROM (${askedRates}) AS a
    ) AS a`;
}

/** Who has a place, kept from a table `records` of these rows. */
export const KEEP_HOLDERS = {
  columns: { bucket: "text", execution_id: "text", generation: "integer", claimed_at: "bigint" },
  insert: `
    INSERT INTO limit_holders (bucket, execution_id, generation, claimed_at)
    SELECT bucket, execution_id, generation, claimed_at FROM records WHERE true
    ON CONFLICT (bucket, execution_id)
      DO UPDATE SET generation = excluded.generation, claimed_at = excluded.claimed_at`,
} as const;

/** First claims, kept alike. */
export const KEEP_STARTS = {
  columns: { bucket: "text", execution_id: "text", started_at: "bigint", expires_at: "bigint" },
  insert: `
    INSERT INTO limit_starts (bucket, execution_id, started_at, expires_at)
    SELECT bucket, execution_id, started_at, expires_at FROM records WHERE true
    ON CONFLICT DO NOTHING`,
} as const;
