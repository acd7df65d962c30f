import type { Sql } from "../operations/sql.ts";
import type { BucketStates } from "./bucket-states.ts";
import {
  definitions,
  holders,
  type LimitsAsked,
  rates,
  type StoredDefinition,
  type StoredHolders,
  type StoredRate,
  sweepHolders,
  sweepStarts,
} from "./limit-queries.ts";

/** Statements in their order, and what becomes of the answers to them. */
export interface LimitReading {
  readonly queries: readonly Sql[];
  take(states: BucketStates, answers: readonly (readonly unknown[])[]): void;
}

/** What has to be asked, behind the locks of the buckets, to judge claims under some limits. */
export function readLimits(
  asked: LimitsAsked,
  execution_ids: readonly string[],
  at: number,
): LimitReading {
  const parts: { readonly query: Sql; readonly take?: Take }[] = [];
  const { held, rates: declared, named, buckets } = asked;
  if (named.size > 0) {
    const names = [...new Set(named.values())];
    const take: Take = (states, rows) => states.addDefinitions(rows as StoredDefinition[]);
    parts.push({ query: definitions(names), take });
  }
  if (held.size > 0) {
    const take: Take = (states, rows) => states.addHolders(rows as StoredHolders[]);
    parts.push({ query: sweepHolders([...held]) });
    parts.push({ query: holders([...held], execution_ids), take });
  }
  if (declared.size > 0 || named.size > 0) {
    const take: Take = (states, rows) => states.addRates(rows as StoredRate[]);
    parts.push({ query: sweepStarts(buckets, at) }, { query: rates(asked, at), take });
  }
  return {
    queries: parts.map(({ query }) => query),
    take(states, answers) {
      for (const [i, { take }] of parts.entries()) take?.(states, answers[i] ?? []);
    },
  };
}

type Take = (states: BucketStates, rows: readonly unknown[]) => void;
