import type { Commit, Evidence } from "../evidence.ts";
import type { Rate } from "../programs/counts.ts";
import { definitionsFor, mostOf } from "./defined-limits.ts";
import { type Bucket, bucketsOf, takenDuring } from "./places.ts";
import type { Violation } from "./violation.ts";

/** As far as the clocks of servers differ that count the same. */
const CLOCKS_MS = 1_000;

/**
 * I16: no claim takes a place that there is not, and no more begin in a time than may. Where operators
 * say how many, by what they had said when it was claimed.
 */
export function limits(evidence: Evidence): readonly Violation[] {
  return bucketsOf(evidence).flatMap((bucket) => [
    ...tooMany(bucket, evidence),
    ...tooFast(bucket, evidence),
  ]);
}

function tooMany({ counts, places }: Bucket, evidence: Evidence): readonly Violation[] {
  return places.flatMap(({ taken }): Violation[] => {
    // What was cancelled is unwound whatever is full.
    if (taken.row.state === "CANCELLING") return [];
    const most = counts.name ? mostDefined(taken, counts.name, evidence) : counts.most;
    const others = takenDuring(taken, places);
    if (most === undefined || others.length < most) return [];
    const { execution_id, at } = taken;
    const message = `at ${at} it takes a place of ${most}, of which ${others.length} are taken (${counts.bucket})`;
    return [{ invariant: "I16", execution_id, message }];
  });
}

/** The most that may have been said by then: what is lowered stops nobody who has a place. */
function mostDefined(claim: Commit, name: string, evidence: Evidence): number {
  const states = definitionsFor(claim, name, evidence);
  return Math.max(...states.map(({ definition }) => mostOf(definition)));
}

function tooFast({ counts, executions }: Bucket, evidence: Evidence): readonly Violation[] {
  const starts = executions
    .flatMap((commits) => commits.find(({ row }) => row.generation === 1 && row.session) ?? [])
    .filter(({ row }) => row.state !== "CANCELLING")
    .sort((a, b) => a.at - b.at);
  return starts.flatMap((start, i): Violation[] => {
    const { execution_id, at } = start;
    const defined = counts.name
      ? rateDefined(start, counts.name, evidence)
      : counts.rate && { rate: counts.rate, since: 0 };
    if (!defined) return [];
    const { rate, since } = defined;
    const earlier = starts[i - rate.count];
    if (!earlier || earlier.span.began <= since || at - earlier.at >= rate.period_ms - CLOCKS_MS) {
      return [];
    }
    const message = `it begins at ${at}, and the one ${rate.count} before it began at ${earlier.at}: no more than ${rate.count} may in ${rate.period_ms} ms (${counts.bucket})`;
    return [{ invariant: "I16", execution_id, message }];
  });
}

/** The rate that a start surely found, and since when: what began before that was counted by none. */
function rateDefined(
  start: Commit,
  name: string,
  evidence: Evidence,
): { readonly rate: Rate; readonly since: number } | undefined {
  const [state, ...others] = definitionsFor(start, name, evidence);
  const rate = state?.definition?.rate;
  return rate && others.length === 0 ? { rate, since: state.span.settled } : undefined;
}
