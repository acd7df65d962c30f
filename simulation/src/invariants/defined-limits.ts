/** What operators allowed under a name when something happened, by what the store was told and when. */
import type { Commit, Evidence, LimitDefined } from "../evidence.ts";

/** Null: under that name nobody allows anything. */
type Definition = LimitDefined["definition"];
type State = Pick<LimitDefined, "definition" | "span">;

const UNDEFINED: State = { definition: null, span: { began: 0, settled: 0 } };

/**
 * What a transaction may have found: more than one thing only where operators wrote in the same moment.
 */
export function definitionsFor(
  { span }: Pick<Commit, "span">,
  name: string,
  { limits }: Pick<Evidence, "limits">,
): readonly State[] {
  const states = [UNDEFINED, ...limits.filter((one) => one.name === name)];
  return states.filter((state) => {
    const isOver = states.some(
      (other) => other.span.began > state.span.settled && other.span.settled < span.began,
    );
    return state.span.began <= span.settled && !isOver;
  });
}

/** What holds when nothing has been written for a while. */
export function definitionAt(
  at: number,
  name: string,
  { limits }: Pick<Evidence, "limits">,
): Definition {
  return limits.findLast((one) => one.name === name && one.at <= at)?.definition ?? null;
}

/** The most places that it gives. */
export function mostOf(definition: Definition): number {
  return definition === null ? 0 : (definition.concurrency ?? Number.POSITIVE_INFINITY);
}
