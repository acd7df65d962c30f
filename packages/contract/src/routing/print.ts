/** Terms as a user would type them (AFF-7). */
import { isServiceName, SERVICE_PREFIX } from "./attribute-keys.ts";
import {
  type AffinityTerm,
  type AttributeSelector,
  type InputCondition,
  isInputCondition,
  type MatchTerm,
  type Operand,
  type PlainScoreTerm,
  type ScoreTerm,
  type Selector,
  type ValueRef,
  type WorkerCondition,
} from "./expression.ts";
import type { Need, Preference, WorkerComparison, WorkerSelector } from "./needs.ts";

export function printTerm(term: AffinityTerm | ScoreTerm): string {
  switch (term.kind) {
    case "match":
      return term.optional ? `optional(${printMatch(term)})` : printMatch(term);
    case "when":
      return `when(${printCondition(term.if)}, ${printTerm(term.then)})`;
    default:
      return printPlain(term);
  }
}

/** A term whose inputs were read. */
export function printNeed(need: Need): string {
  if (need.of === "unknown") return "a term that this server does not know";
  const { of, key, op, value } = need;
  return printMatch({ kind: "match", left: { kind: of, key }, op, right: value });
}

export function printPreference({ when, ...preference }: Preference): string {
  const text = printPlain(preference as PlainScoreTerm);
  return when ? `when(${printComparison(when)}, ${text})` : text;
}

function printPlain(term: PlainScoreTerm): string {
  const weight = term.weight === 1 ? "" : `{ weight: ${term.weight} }`;
  const rest = weight === "" ? "" : `, ${weight}`;
  switch (term.kind) {
    case "prefer":
      return `prefer(${printComparison(term)}${rest})`;
    case "sticky":
      return `sticky(${weight})`;
    default:
      return `${term.kind}(${printSelector(term.selector)}${rest})`;
  }
}

export function printCondition(condition: InputCondition | WorkerCondition): string {
  if (!isInputCondition(condition)) return printComparison(condition);
  const { left, op, right } = condition;
  return `${printRef(left)}.${op}(${printOperand(right)})`;
}

function printMatch({ left, op, right }: MatchTerm): string {
  return printComparison({ left, op, right });
}

export function printComparison({
  left,
  op,
  right,
}: Pick<WorkerComparison, "op"> & {
  readonly left: Selector | WorkerSelector;
  readonly right: Operand;
}): string {
  const service = op === "eq" && right === "true" ? serviceOf(left) : undefined;
  return service ?? `${printSelector(left)}.${op}(${printOperand(right)})`;
}

function serviceOf(selector: Selector | WorkerSelector): string | undefined {
  if (selector.kind !== "label") return undefined;
  const { key, prefix, suffix } = selector as Extract<AttributeSelector, { kind: unknown }> & {
    readonly key?: string;
    readonly prefix?: string;
    readonly suffix?: ValueRef;
  };
  if (prefix === SERVICE_PREFIX && suffix) return `service(${printRef(suffix)})`;
  const name = key?.startsWith(SERVICE_PREFIX) && key.slice(SERVICE_PREFIX.length);
  return name && isServiceName(name) ? `service(${JSON.stringify(name)})` : undefined;
}

export function printSelector(selector: Selector | WorkerSelector): string {
  if ("suffix" in selector) {
    const prefix = JSON.stringify(selector.prefix);
    return `${selector.kind}For(${prefix}, ${printRef(selector.suffix)})`;
  }
  if ("key" in selector) return `${selector.kind}(${JSON.stringify(selector.key)})`;
  if ("field" in selector) return `resource(${JSON.stringify(selector.field)})`;
  return `${selector.kind}()`;
}

function printOperand(operand: Operand): string {
  return typeof operand === "object" ? printRef(operand) : JSON.stringify(operand);
}

export function printRef({ kind, path }: ValueRef): string {
  return `${kind === "input" ? "input" : "routingInput"}(${JSON.stringify(path)})`;
}
