import { type ColumnType, raw, rowsOf, type Sql, type StoredRow, sql } from "../operations/sql.ts";
import type { ClaimRecords } from "./claim-limits.ts";
import { KEEP_HOLDERS, KEEP_STARTS } from "./limit-queries.ts";

interface Kept {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly insert: string;
}

/** What claims under limits leave behind them, a query for all of a kind. */
export function writeLimits({ holders, starts }: ClaimRecords): readonly Sql[] {
  return [...kept(KEEP_HOLDERS, holders), ...kept(KEEP_STARTS, starts)];
}

function kept({ columns, insert }: Kept, rows: readonly StoredRow[]): readonly Sql[] {
  if (rows.length === 0) return [];
  return [sql`WITH records AS (SELECT * FROM ${rowsOf(columns, rows)}) ${raw(insert)}`];
}
