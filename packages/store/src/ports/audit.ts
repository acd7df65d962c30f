import { type AuditEntry, type AuditRecord, formatInstant } from "@engine/contract";
import {
  count,
  type Operation,
  type Operations,
  page,
  reads,
  run,
  writesOnce,
} from "../operations/operation.ts";
import { allOf, insertInto, matching, raw, type Sql, skipLocked, sql } from "../operations/sql.ts";
import type { Page } from "./port.ts";

export interface AuditFilter {
  /** The subject. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly decision?: AuditRecord["decision"] | undefined;
  /** The first instant that counts, milliseconds since 1970. */
  readonly since?: number | undefined;
  /** The first that does not. */
  readonly until?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Who changed what, and who was refused. What a change adds is written with it: {@link audited}. */
export interface AuditPort {
  /** Newest first. */
  list(filter: AuditFilter): Promise<Page<AuditRecord>>;
  /**
   * Adds a row that belongs to no change. Of those with equal merge keys there is one row, which
   * counts them (AUD-3).
   *
   * @param times How many of them this is; 1 when absent.
   */
  add(entry: AuditEntry, merge_key?: string, times?: number): Promise<void>;
  /** Deletes at most `limit` rows from before an instant, oldest first; answers how many. */
  deleteBefore(before: number, limit: number): Promise<number>;
}

interface StoredAudit {
  readonly record: string;
  readonly count: number;
}

export const AUDIT: Operations<AuditPort> = {
  list: reads(function* (filter) {
    const { actor, action, target, decision, since, until, limit, offset } = filter;
    const conditions: Sql[] = [
      matching({ actor, action, target, decision }),
      since === undefined ? raw("true") : sql`at >= ${since}`,
      until === undefined ? raw("true") : sql`at < ${until}`,
    ];
    const list = {
      columns: sql<StoredAudit>`record, count`,
      from: sql`FROM audit WHERE ${allOf(conditions)}`,
      order: raw("at DESC, id DESC"),
      limit,
      offset,
    };
    return yield* page(list, ({ record, count }) => ({ ...JSON.parse(record), count }));
  }),

  add: writesOnce(function* (entry, merge_key, times = 1) {
    const merging =
      merge_key === undefined
        ? raw("")
        : raw(
            "ON CONFLICT (merge_key) WHERE merge_key IS NOT NULL DO UPDATE SET count = audit.count + excluded.count",
          );
    yield* run(sql`${insertion(entry, merge_key, times)} ${merging}`);
  }),

  deleteBefore: writesOnce(function* (before, limit) {
    return yield* count(sql`
      DELETE FROM audit WHERE id IN (
        SELECT id FROM audit WHERE at < ${before} ORDER BY at, id LIMIT ${limit} ${skipLocked})`);
  }),
};

/**
 * Adds the row of a change, in the transaction of the change: without it there is none (AUD-3).
 *
 * @param entry Undefined for changes that the engine makes by itself.
 */
export function* audited(entry: AuditEntry | undefined): Operation<void> {
  if (entry) yield* run(insertion(entry));
}

function insertion(entry: AuditEntry, merge_key: string | null = null, count = 1): Sql {
  const { id, at, actor, action, target, decision } = entry;
  const record = JSON.stringify({ ...entry, at: formatInstant(at) });
  const columns = { id, at, actor: actor?.subject ?? null, action, target, decision };
  return insertInto("audit", { ...columns, merge_key, count, record });
}
