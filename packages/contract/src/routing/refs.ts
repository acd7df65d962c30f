import {
  type AffinityTerm,
  isInputCondition,
  type ScoreTerm,
  type ValueRef,
} from "./expression.ts";

/** The values of an execution that a term reads. */
export function refsOf(term: AffinityTerm | ScoreTerm): readonly ValueRef[] {
  if (term.kind === "when") {
    const own = isInputCondition(term.if) ? [term.if.left] : [];
    return [...own, ...refsOf(term.then)];
  }
  if (term.kind === "sticky") return [];
  const selector = "selector" in term ? term.selector : term.left;
  const right = "right" in term && typeof term.right === "object" ? [term.right] : [];
  return "suffix" in selector ? [selector.suffix, ...right] : right;
}

/** Whether a term reads values that nobody gets to see (RIN-3). */
export function readsRoutingInput(term: AffinityTerm | ScoreTerm): boolean {
  return refsOf(term).some(({ kind }) => kind === "routing_input");
}
