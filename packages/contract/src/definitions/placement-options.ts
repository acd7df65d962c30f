/**
 * What the options of a workflow must be that say where its executions go and when (AFF-8, RTE-1, FLW-1
 * to FLW-6): what the builders return, or data of the same form.
 */
import { isAttributeKey, keyRule } from "../routing/attribute-keys.ts";
import {
  AffinityTerm,
  MOST_AFFINITY_TERMS,
  MOST_SCORE_TERMS,
  ValueRef,
} from "../routing/expression.ts";
import {
  affinityTermProblem,
  describe,
  limitProblem,
  refProblem,
  scoreTermProblem,
} from "../routing/term-checks.ts";
import { type Check, isPlainObject, OPAQUE, show } from "./option-checks.ts";

/** What is wrong with a part of an option; `at` leads to it, such as `[2]` or `.region`. */
export interface PartProblem {
  readonly at: string;
  readonly problem: string;
}

export const affinity: Check = (value) => {
  if (isPolicy(value)) {
    return "labels or require(…): what score() returns ranks workers and belongs in option routing";
  }
  if (Array.isArray(value)) return countProblem(value, "require()", MOST_AFFINITY_TERMS);
  if (AffinityTerm.safeParse(value).success) {
    const term = describe(value);
    return `labels or what require() returns, which takes terms: write require(${term})`;
  }
  return isPlainObject(value) ? undefined : "labels with their values, or what require() returns";
};

export function affinityParts(value: unknown): readonly PartProblem[] {
  if (Array.isArray(value)) return listProblems(value, affinityTermProblem);
  return Object.entries(value as object).flatMap(([key, text]) => {
    const problem = labelProblem(key, text);
    return problem === undefined ? [] : [{ at: `.${key}`, problem }];
  });
}

export const routing: Check = (value) => {
  if (isPolicy(value)) return countProblem(value.terms, "score()", MOST_SCORE_TERMS);
  return Array.isArray(value)
    ? "what score() returns; what require() returns admits workers and belongs in option affinity"
    : "what score() returns";
};

export function routingParts(value: unknown): readonly PartProblem[] {
  const { terms } = value as { terms: readonly unknown[] };
  return listProblems(terms, scoreTermProblem).map((each) => ({ ...each, at: `.terms${each.at}` }));
}

const MOST_LIMITS = 16;
export const limits: Check = (value) =>
  Array.isArray(value) && value.length <= MOST_LIMITS
    ? undefined
    : `a list of at most ${MOST_LIMITS} of concurrency(…), rate(…) and limit(…)`;

export function limitParts(value: unknown): readonly PartProblem[] {
  return listProblems(value as readonly unknown[], limitProblem);
}

export const priority: Check = (value) =>
  Number.isInteger(value) && Math.abs(Number(value)) <= 10
    ? undefined
    : "a whole number from -10 to 10";

export const fairness: Check = (value) =>
  isPlainObject(value) && value["key"] !== undefined
    ? undefined
    : "{ key, weight }, with input(…) or routingInput(…) as its key";

export const fairnessKey: Check = (value) => {
  const ref = ValueRef.safeParse(value).data;
  return ref && refProblem(ref) === undefined ? undefined : "input(…) or routingInput(…)";
};

export const fairnessWeight: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100
    ? undefined
    : "a whole number from 1 to 100";

function isPolicy(value: unknown): value is { readonly terms: readonly unknown[] } {
  return isPlainObject(value) && Array.isArray(value["terms"]);
}

function countProblem(terms: readonly unknown[], of: string, most: number): string | undefined {
  return terms.length >= 1 && terms.length <= most
    ? undefined
    : `what ${of} returns, with 1 to ${most} terms`;
}

function labelProblem(key: string, value: unknown): string | undefined {
  if (!isAttributeKey("label", key)) return `${keyRule("label")}; got ${show(key)}`;
  if (typeof value === "string" || value === OPAQUE) return undefined;
  return `a label is compared with a text; got ${show(value)}`;
}

function listProblems(
  values: readonly unknown[],
  problemOf: (value: unknown) => string | undefined,
): readonly PartProblem[] {
  return values.flatMap((value, index) => {
    const problem = value === OPAQUE ? undefined : problemOf(value);
    return problem === undefined ? [] : [{ at: `[${index}]`, problem }];
  });
}
