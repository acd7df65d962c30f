import type { AuditEntry, ExecutionRow, LimitDenial, ResolvedLimit } from "@engine/contract";
import { BucketStates } from "../limits/bucket-states.ts";
import { denial, type LimitDefinition } from "../limits/claim-limits.ts";
import {
  DEFINITION,
  HOLDS,
  LimitsAsked,
  type StoredDefinition,
  toDefinition,
} from "../limits/limit-queries.ts";
import { readLimits } from "../limits/read-limits.ts";
import {
  count,
  first,
  lock,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  together,
  writes,
  writesOnce,
} from "../operations/operation.ts";
import { anyOf, insertInto, overwriting, raw, type Sql, sql } from "../operations/sql.ts";
import { audited } from "./audit.ts";
import { changesBetween } from "./identity-write.ts";
import type { Page } from "./port.ts";

/** What operators allow under a name. Instants are milliseconds since 1970. */
export interface LimitRow extends LimitDefinition {
  readonly name: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** An execution that has a place under a limit. */
export interface LimitHolder {
  readonly bucket: string;
  readonly execution_id: string;
  readonly claimed_at: number;
  /** It keeps the place while it waits. */
  readonly until_end: boolean;
}

export interface HolderPage {
  readonly limit: number;
  readonly offset: number;
}

/** Limits that operators define, and who has places. Claims count in the transactions of executions. */
export interface LimitPort {
  /** By name. */
  list(page: HolderPage): Promise<Page<LimitRow>>;
  find(name: string): Promise<LimitRow | undefined>;
  /** Those of some names that are defined. */
  defined(names: readonly string[]): Promise<readonly string[]>;
  /** Defines a limit, or puts what it says now in the place of what it said. */
  set(name: string, definition: LimitDefinition, audit?: AuditEntry): Promise<LimitRow>;
  /** False when there is none. */
  delete(name: string, audit?: AuditEntry): Promise<boolean>;
  /** Why an execution could not be claimed just now; nothing is taken or written. */
  denialOf(
    limits: readonly ResolvedLimit[],
    claim: Pick<ExecutionRow, "execution_id" | "generation" | "state">,
  ): Promise<LimitDenial | undefined>;
  /** Who has a place under an operators' limit, whatever the value of its key; by bucket. */
  holders(name: string, page: HolderPage): Promise<Page<LimitHolder>>;
  /** Who has a place in a bucket, oldest execution first. */
  holdersIn(bucket: string, page: HolderPage): Promise<Page<LimitHolder>>;
  /** Which of some executions have a place in a bucket. */
  holdersAmong(bucket: string, execution_ids: readonly string[]): Promise<readonly string[]>;
  /** Forgets first claims that no limit looks at any more; answers how many. */
  forgetStarts(limit: number): Promise<number>;
}

export const LIMITS: Operations<LimitPort> = {
  list: reads(({ limit, offset }) => {
    return page(
      { columns: COLUMNS, from: raw("FROM limits"), order: raw("name"), limit, offset },
      toRow,
    );
  }),

  find: reads(find),

  defined: reads(function* (names) {
    const found = yield* rows(sql<{ name: string }>`
      SELECT name FROM limits WHERE name ${anyOf(names)} ORDER BY name`);
    return found.map(({ name }) => name);
  }),

  set: writes(function* (name, { concurrency, rate }, audit) {
    yield* lock(LIMITS_LOCK);
    const before = yield* find(name);
    const after = { name, concurrency, rate };
    const changes = changesBetween(before ?? null, { ...before, ...after }, AUDITED);
    if (before && changes === null) return before;
    const at = yield* now();
    const row: LimitRow = { ...after, created_at: before?.created_at ?? at, updated_at: at };
    const stored = storedLimit(row);
    yield* run(sql`${insertInto("limits", stored)} ${overwriting(stored, ["name"])}`);
    yield* audited(audit && { ...audit, changes });
    return row;
  }),

  delete: writes(function* (name, audit) {
    yield* lock(LIMITS_LOCK);
    const before = yield* find(name);
    if (!before) return false;
    yield* run(sql`DELETE FROM limits WHERE name = ${name}`);
    yield* audited(audit && { ...audit, changes: changesBetween(before, null, AUDITED) });
    return true;
  }),

  denialOf: reads(function* (limits, claim) {
    const asked = new LimitsAsked();
    asked.add(limits);
    const at = yield* now();
    const reading = readLimits(asked, [claim.execution_id], { at, count: "exact" });
    const states = new BucketStates();
    reading.take(states, yield* together(...reading.queries));
    // It would be the next claim.
    return denial(limits, { ...claim, generation: claim.generation + 1 }, states);
  }),

  holders: reads((name, asked) => held(underName(name), asked)),

  holdersIn: reads((bucket, asked) => held(sql`h.bucket = ${bucket}`, asked)),

  holdersAmong: reads(function* (bucket, execution_ids) {
    const found = yield* rows(sql<{ execution_id: string }>`
      SELECT h.execution_id FROM limit_holders AS h
      WHERE h.bucket = ${bucket} AND h.execution_id ${anyOf(execution_ids)} AND ${HOLDS}
      ORDER BY h.execution_id`);
    return found.map(({ execution_id }) => execution_id);
  }),

  forgetStarts: writesOnce(function* (limit) {
    const at = yield* now();
    return yield* count(sql`
      DELETE FROM limit_starts WHERE (bucket, started_at, execution_id) IN (
        SELECT bucket, started_at, execution_id FROM limit_starts
        WHERE expires_at <= ${at} ORDER BY expires_at LIMIT ${limit})`);
  }),
};

const LIMITS_LOCK = "limits";

/** Of a change, what the audit log keeps. */
const AUDITED = ["concurrency", "rate"] as const;

interface StoredLimit extends StoredDefinition {
  readonly created_at: number;
  readonly updated_at: number;
}

const COLUMNS: Sql<StoredLimit> = sql`${DEFINITION}, created_at, updated_at`;

function* find(name: string): Operation<LimitRow | undefined> {
  const found = yield* first(sql<StoredLimit>`SELECT ${COLUMNS} FROM limits WHERE name = ${name}`);
  return found && toRow(found);
}

function toRow(row: StoredLimit): LimitRow {
  const { name, created_at, updated_at } = row;
  return { name, ...toDefinition(row), created_at, updated_at };
}

function storedLimit({
  rate,
  ...row
}: LimitRow): Readonly<Record<keyof StoredLimit, string | number | null>> {
  return { ...row, rate_count: rate?.count ?? null, rate_period_ms: rate?.period_ms ?? null };
}

interface StoredHolder extends Omit<LimitHolder, "until_end"> {
  readonly generation: number | null;
}

/** Buckets of a name are JSON that begins with it; what follows is a comma or the end of the list. */
function underName(name: string): Sql {
  const start = JSON.stringify(["limit", name]).slice(0, -1);
  return sql`h.bucket >= ${start} AND h.bucket < ${`${start}^`}`;
}

function held(which: Sql, { limit, offset }: HolderPage): Operation<Page<LimitHolder>> {
  const from = sql`FROM limit_holders AS h WHERE ${which} AND ${HOLDS}`;
  const columns: Sql<StoredHolder> = raw("h.bucket, h.execution_id, h.claimed_at, h.generation");
  const order = raw("h.bucket, h.execution_id");
  return page({ columns, from, order, limit, offset }, ({ generation, ...holder }) => ({
    ...holder,
    until_end: generation === null,
  }));
}
