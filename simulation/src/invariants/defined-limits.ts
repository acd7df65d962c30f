/** What operators allowed under a name when something happened, by what the store was told and when. */
import type { Commit, Evidence, LimitDefined } from "../evidence.ts";
import { FIRST_SPAN, statesFor } from "./states.ts";

/** Null: under that name nobody allows anything. */
type Definition = LimitDefined["definition"];
type State = Pick<LimitDefined, "definition" | "span">;

const UNDEFINED: State = { definition: null, span: FIRST_SPAN };

/** What a transaction may have found, see {@link statesFor}. */
export function definitionsFor(
  commit: Pick<Commit, "span">,
  name: string,
  { limits }: Pick<Evidence, "limits">,
): readonly State[] {
  return statesFor(commit, [UNDEFINED, ...limits.filter((one) => one.name === name)]);
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
