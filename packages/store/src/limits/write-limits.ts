import type { Sql } from "../operations/sql.ts";
import type { ClaimRecords } from "./claim-limits.ts";
import { keepHolders, keepStarts } from "./limit-queries.ts";

/** What claims under limits leave behind them. */
export function writeLimits({ holders, starts }: ClaimRecords): readonly Sql[] {
  return [
    ...(holders.length > 0 ? [keepHolders(holders)] : []),
    ...(starts.length > 0 ? [keepStarts(starts)] : []),
  ];
}
