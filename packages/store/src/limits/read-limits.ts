import type { Sql } from "../operations/sql.ts";
import type { BucketStates } from "./bucket-states.ts";
import {
  definitions,
  HOLDS,
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

/**
 * How those who have a place are counted. `swept`: what is left behind is removed first. `exact`: it is left
 * there and not counted. `most`: it is counted too, which costs least.
 */
export type HolderCount = "swept" | "exact" | "most";

/** What has to be asked, behind the locks of the buckets, to judge claims under some limits. */
export function readLimits(
  asked: LimitsAsked,
  execution_ids: readonly string[],
  { at, count = "swept" }: { readonly at: number; readonly count?: HolderCount },
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
    if (count === "swept") parts.push({ query: sweepHolders([...held]) });
    const which = count === "exact" ? HOLDS : undefined;
    parts.push({ query: holders([...held], execution_ids, which), take });
  }
  if (declared.size > 0 || named.size > 0) {
    const take: Take = (states, rows) => states.addRates(rows as StoredRate[]);
    if (count !== "exact") parts.push({ query: sweepStarts(buckets, at) });
    parts.push({ query: rates(asked, at), take });
  }
  return {
    queries: parts.map(({ query }) => query),
    take(states, answers) {
      for (const [i, { take }] of parts.entries()) take?.(states, answers[i] ?? []);
    },
  };
}

type Take = (states: BucketStates, rows: readonly unknown[]) => void;
