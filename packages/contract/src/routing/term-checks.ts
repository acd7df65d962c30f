/**
 * What terms must be, beyond their form: said in a sentence, for whoever writes them. The builders ask for
 * each of their arguments, the options of a workflow for all that they were given.
 */
import { show } from "../definitions/option-checks.ts";
import { isName, NAME_RULE } from "../values/name.ts";
import {
  isAttributeKey,
  isKeyHead,
  isServiceName,
  keyRule,
  SERVICE_RULE,
} from "./attribute-keys.ts";
import {
  type AffinityTerm,
  AffinityTerm as AffinityTermForm,
  type CompareOp,
  Comparison,
  Constant,
  InputCondition,
  isInputCondition,
  LimitDeclaration,
  Operand,
  type PlainScoreTerm,
  type ScoreTerm,
  ScoreTerm as ScoreTermForm,
  Selector,
  ValueRef,
  type WorkerCondition,
} from "./expression.ts";
import { printComparison, printCondition, printRef, printSelector, printTerm } from "./print.ts";
import { isNumberText } from "./read-value.ts";
import { refsOf } from "./refs.ts";

const LONGEST_PATH = 256;
const LONGEST_METRIC = 64;

const PATH_RULE = `a path is names joined by dots, such as "tenant.region", at most ${LONGEST_PATH} characters and without an index of a list`;

/** Own properties of objects, joined by dots: a list has no names. */
function isPath(path: unknown): path is string {
  if (typeof path !== "string" || path.length > LONGEST_PATH) return false;
  return path.split(".").every((name) => name !== "" && !/^\d+$|[[\]]/.test(name));
}

export function refProblem({ kind, path }: ValueRef): string | undefined {
  const builder = kind === "input" ? "input" : "routingInput";
  return isPath(path) ? undefined : `${builder}(): ${PATH_RULE}; got ${show(path)}`;
}

export function selectorProblem(selector: Selector): string | undefined {
  const { kind } = selector;
  if ("suffix" in selector) {
    const { prefix, suffix } = selector;
    if ((kind === "label" || kind === "meta") && !isKeyHead(kind, prefix)) {
      return `${kind}For(): the prefix must begin a key, and ${keyRule(kind)}; got ${show(prefix)}`;
    }
    return refProblem(suffix);
  }
  if (kind === "label" || kind === "meta") {
    const { key } = selector as Extract<Selector, { key: string }>;
    return isAttributeKey(kind, key) ? undefined : `${kind}(): ${keyRule(kind)}; got ${show(key)}`;
  }
  if (kind !== "metric") return undefined;
  const { key } = selector;
  return key !== "" && key.length <= LONGEST_METRIC
    ? undefined
    : `metric(): the name of a metric is 1 to ${LONGEST_METRIC} characters; got ${show(key)}`;
}

export function serviceProblem(name: string): string | undefined {
  return isServiceName(name) ? undefined : `service(): ${SERVICE_RULE}; got ${show(name)}`;
}

/** What stands right of a comparison of something of a worker. */
export function operandProblem(op: CompareOp, value: unknown): string | undefined {
  const selector = Selector.safeParse(value).data;
  if (selector) {
    return `.${op}() compares with a constant or an input, and ${printSelector(selector)} is of a worker, too; compare each with a value`;
  }
  const operand = Operand.safeParse(value).data;
  if (operand === undefined) {
    return `.${op}() compares with a text, a finite number, true, false, input(…) or routingInput(…); got ${describe(value)}`;
  }
  if (typeof operand === "object") return refProblem(operand);
  if (op === "eq" || op === "ne" || typeof operand === "number") return undefined;
  return typeof operand === "string" && isNumberText(operand)
    ? undefined
    : `.${op}() compares numbers, or texts such as "1.5"; got ${show(operand)}`;
}

/** What stands right of a condition on an input. */
export function constantProblem(op: CompareOp, value: unknown): string | undefined {
  if (Constant.safeParse(value).success) return undefined;
  return `.${op}() of an input compares with a text, a finite number, true or false, so that it is decided by the execution alone; got ${describe(value)}`;
}

function comparisonProblem({ left, op, right }: Omit<Comparison, "kind">) {
  return selectorProblem(left) ?? operandProblem(op, right);
}

/** Whether it can be a term of `require()`. */
export function affinityTermProblem(value: unknown): string | undefined {
  const term = AffinityTermForm.safeParse(value).data;
  if (!term) return noAffinityTerm(value);
  const match = term.kind === "when" ? term.then : term;
  if (term.kind === "when") {
    const wrong = inputConditionProblem(term.if);
    if (wrong !== undefined) return wrong;
  }
  const wrong = comparisonProblem(match);
  if (wrong !== undefined) return wrong;
  if (match.optional && refsOf(match).length === 0) return readsNothing(match);
  return undefined;
}

export function readsNothing(match: AffinityTerm): string {
  return `optional() skips a term whose input is absent, and ${printTerm(match).replace(/^optional\((.*)\)$/, "$1")} reads no input; leave optional() out`;
}

/** Whether it can be a term of `score()`. */
export function scoreTermProblem(value: unknown): string | undefined {
  const term = ScoreTermForm.safeParse(value).data;
  if (!term) return noScoreTerm(value);
  if (term.kind !== "when") return plainScoreProblem(term);
  const condition = isInputCondition(term.if)
    ? inputConditionProblem(term.if)
    : workerConditionProblem(term.if);
  return condition ?? plainScoreProblem(term.then);
}

function plainScoreProblem(term: PlainScoreTerm): string | undefined {
  if (term.kind === "sticky") return undefined;
  return term.kind === "prefer" ? comparisonProblem(term) : selectorProblem(term.selector);
}

function inputConditionProblem({ left }: InputCondition): string | undefined {
  return refProblem(left);
}

function workerConditionProblem({ left, op, right }: WorkerCondition): string | undefined {
  return selectorProblem(left as Selector) ?? operandProblem(op, right);
}

/** What `require()` was given instead of a term. */
function noAffinityTerm(value: unknown): string {
  const comparison = Comparison.safeParse(value).data;
  if (comparison) {
    const { left, op } = comparison;
    const text = printComparison(comparison);
    return left.kind === "label" || left.kind === "meta"
      ? `require() compares by eq and ne only, and ${text} orders by ${op}; rank workers by it in option routing`
      : `require() looks at labels, metadata and services only, and ${text} looks at what changes by itself; rank workers by it in option routing`;
  }
  const { kind } = (value ?? {}) as { kind?: unknown };
  if (ScoreTermForm.safeParse(value).success) {
    const text = printTerm(value as ScoreTerm);
    return `${text} ranks workers, so it is a term of score() in option routing, and require() takes none`;
  }
  if (kind === "when")
    return "when() takes a condition and one term, and neither is another when()";
  return `require() takes terms such as label("region").eq("eu"); got ${describe(value)}`;
}

/** What `score()` was given instead of a term. */
function noScoreTerm(value: unknown): string {
  const comparison = Comparison.safeParse(value).data;
  if (comparison) {
    const text = printComparison(comparison);
    return `score() takes terms with a weight: write prefer(${text})`;
  }
  if (AffinityTermForm.safeParse(value).success) {
    const text = printTerm(value as AffinityTerm);
    return `${text} is a term of require() in option affinity, and score() takes none`;
  }
  return `score() takes prefer(…), least(…), most(…), sticky() and when(…); got ${describe(value)}`;
}

/** A value in a message, as it would be written where it is of a builder. */
export function describe(value: unknown): string {
  const ref = ValueRef.safeParse(value).data;
  if (ref) return printRef(ref);
  const selector = Selector.safeParse(value).data;
  if (selector) return `${printSelector(selector)}, which is compared with nothing`;
  const comparison = Comparison.safeParse(value).data;
  if (comparison) return printComparison(comparison);
  const condition = InputCondition.safeParse(value).data;
  if (condition) return `${printCondition(condition)}, which is a condition for when()`;
  const term = AffinityTermForm.safeParse(value).data ?? ScoreTermForm.safeParse(value).data;
  return term ? printTerm(term) : show(value);
}

/** Whether it can be one of option `limits`. */
export function limitProblem(value: unknown): string | undefined {
  const limit = LimitDeclaration.safeParse(value).data;
  if (!limit) {
    return `limits are what concurrency(…), rate(…) and limit(…) return; got ${describe(value)}`;
  }
  if (limit.kind === "limit" && !isName(limit.name)) {
    return `limit() takes the name of a limit: ${NAME_RULE}; got ${show(limit.name)}`;
  }
  return limit.key && refProblem(limit.key);
}
