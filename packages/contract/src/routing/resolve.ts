/** What an execution needs of its worker: its workflow's terms with their inputs read (DSP-2). */
import { engineFailure, type Failure } from "../errors/failure.ts";
import {
  isAttributeKey,
  isServiceName,
  keyRule,
  SERVICE_PREFIX,
  SERVICE_RULE,
} from "./attribute-keys.ts";
import {
  type Affinity,
  AffinityTerm,
  type AttributeSelector,
  type CompareOp,
  type Constant,
  type InputCondition,
  isInputCondition,
  type MatchTerm,
  type Operand,
  type PlainScoreTerm,
  RoutingPolicy,
  type ScoreTerm,
  type Selector,
  type ValueRef,
} from "./expression.ts";
import type { Need, Placement, Preference, WorkerComparison, WorkerSelector } from "./needs.ts";
import { printTerm } from "./print.ts";
import { type PlacementInputs, readValue, textOf } from "./read-value.ts";
import { readsRoutingInput, refsOf } from "./refs.ts";

/** What a version declares. It may come from a server that knew more terms than this one. */
export interface DeclaredPlacement {
  readonly affinity: unknown;
  readonly routing: unknown;
}

export type ResolvedPlacement =
  | {
      readonly failure?: never;
      readonly open: Placement;
      /** Of terms that read routing input. */
      readonly hidden: Placement;
      /** The policy is none that this server knows: workers are ranked by their load (RTE-5). */
      readonly isPolicyUnreadable: boolean;
    }
  | { readonly failure: Failure };

/** A term that cannot be resolved, whatever workers there are (AFF-6). */
class Unresolvable {
  readonly ref: ValueRef;
  readonly reason: "absent" | "invalid";
  /** What it would have to be; absent where any value will do. */
  readonly rule: string | undefined;

  constructor(ref: ValueRef, reason: "absent" | "invalid", rule?: string) {
    this.ref = ref;
    this.reason = reason;
    this.rule = rule;
  }
}

export function resolvePlacement(
  declared: DeclaredPlacement,
  inputs: PlacementInputs,
): ResolvedPlacement {
  const needs: { readonly need: Need; readonly isHidden: boolean }[] = [];
  for (const term of termsOf(declared.affinity)) {
    const need = term === undefined ? UNKNOWN : resolveTerm(term, inputs);
    if (need instanceof Unresolvable) return { failure: failureOf(need, term) };
    if (need) needs.push({ need, isHidden: term !== undefined && readsRoutingInput(term) });
  }
  const policy = policyOf(declared.routing);
  const preferences = (policy ?? []).flatMap((term) => {
    const preference = resolveScore(term, inputs);
    return preference ? [{ preference, isHidden: readsRoutingInput(term) }] : [];
  });
  const [open, hidden] = [false, true].map((wanted): Placement => {
    const affinity = canonical(needs.filter((it) => it.isHidden === wanted).map((it) => it.need));
    const routing = preferences
      .filter((it) => it.isHidden === wanted)
      .map(({ preference }) => preference);
    return {
      ...(affinity.length > 0 && { affinity }),
      ...(routing.length > 0 && { routing }),
    };
  }) as [Placement, Placement];
  return { open, hidden, isPolicyUnreadable: policy === undefined };
}

/** The paths of the input that terms read, so that no more than those of a large one is looked at. */
export function pathsRead(declared: DeclaredPlacement): readonly string[] {
  const terms = [...termsOf(declared.affinity), ...(policyOf(declared.routing) ?? [])];
  const refs = terms.flatMap((term) => (term ? refsOf(term) : []));
  return [...new Set(refs.filter(({ kind }) => kind === "input").map(({ path }) => path))];
}

const UNKNOWN: Need = { of: "unknown" };

/** What was read of a declaration; versions keep theirs, so that one is read once. */
const readTerms = new WeakMap<object, readonly (AffinityTerm | undefined)[]>();
const readPolicies = new WeakMap<object, readonly ScoreTerm[] | undefined>();

/** The terms of an affinity; undefined for one that this server does not know. */
function termsOf(affinity: unknown): readonly (AffinityTerm | undefined)[] {
  if (affinity === null || affinity === undefined) return [];
  if (typeof affinity !== "object") return [undefined];
  let terms = readTerms.get(affinity);
  if (!terms) {
    terms = Array.isArray(affinity)
      ? affinity.map((term) => AffinityTerm.safeParse(term).data)
      : Object.entries(affinity as Exclude<Affinity, unknown[]>).map(labelTerm);
    readTerms.set(affinity, terms);
  }
  return terms;
}

function labelTerm([key, right]: [string, unknown]): MatchTerm | undefined {
  if (typeof right !== "string") return undefined;
  return { kind: "match", left: { kind: "label", key }, op: "eq", right };
}

function policyOf(routing: unknown): readonly ScoreTerm[] | undefined {
  if (routing === null || routing === undefined) return [];
  if (typeof routing !== "object") return undefined;
  if (!readPolicies.has(routing)) {
    readPolicies.set(routing, RoutingPolicy.safeParse(routing).data?.terms);
  }
  return readPolicies.get(routing);
}

function resolveTerm(term: AffinityTerm, inputs: PlacementInputs): Need | Unresolvable | undefined {
  if (term.kind === "when") {
    const isOn = isMet(term.if, inputs);
    if (isOn instanceof Unresolvable) return isOn;
    return isOn ? resolveTerm(term.then, inputs) : undefined;
  }
  const key = resolveKey(term.left, inputs);
  const right = resolveOperand(term.right, inputs);
  // An invalid value is a mistake, also where an absent one is none.
  for (const part of [key, right]) {
    if (!(part instanceof Unresolvable)) continue;
    if (part.reason === "absent" && term.optional) continue;
    return part;
  }
  if (key instanceof Unresolvable || right instanceof Unresolvable) return undefined;
  const { kind: of } = term.left;
  const value = of === "meta" && typeof right === "number" ? right : textOf(right);
  return { of, key, op: term.op, value };
}

function isMet({ left, op, right }: InputCondition, inputs: PlacementInputs) {
  const read = readValue(left, inputs);
  if (read.kind === "invalid") return new Unresolvable(left, "invalid");
  return read.kind === "value" && (textOf(read.value) === textOf(right)) === (op === "eq");
}

function resolveKey(selector: AttributeSelector, inputs: PlacementInputs): string | Unresolvable {
  if ("key" in selector) return selector.key;
  const { kind, prefix, suffix } = selector;
  const read = resolveOperand(suffix, inputs);
  if (read instanceof Unresolvable) return read;
  const isService = kind === "label" && prefix === SERVICE_PREFIX;
  const text = textOf(read);
  if (isService ? isServiceName(text) : isAttributeKey(kind, prefix + text)) return prefix + text;
  return new Unresolvable(suffix, "invalid", isService ? SERVICE_RULE : keyRule(kind));
}

function resolveOperand(operand: Operand, inputs: PlacementInputs): Constant | Unresolvable {
  if (typeof operand !== "object") return operand;
  const read = readValue(operand, inputs);
  return read.kind === "value" ? read.value : new Unresolvable(operand, read.kind);
}

function resolveScore(term: ScoreTerm, inputs: PlacementInputs): Preference | undefined {
  if (term.kind !== "when") return resolvePlain(term, inputs);
  const condition = term.if;
  if (isInputCondition(condition)) {
    return isMet(condition, inputs) === true ? resolvePlain(term.then, inputs) : undefined;
  }
  const preference = resolvePlain(term.then, inputs);
  const when = comparison(condition.left, condition.op, condition.right);
  return preference && { ...preference, when };
}

function resolvePlain(term: PlainScoreTerm, inputs: PlacementInputs): Preference | undefined {
  const { weight } = term;
  if (term.kind === "sticky") return { kind: "sticky", weight };
  const selector = resolveSelector(term.kind === "prefer" ? term.left : term.selector, inputs);
  // It would be 0 for every worker.
  if (!selector) return undefined;
  if (term.kind !== "prefer") return { kind: term.kind, selector, weight };
  const right = resolveOperand(term.right, inputs);
  if (right instanceof Unresolvable) return undefined;
  return { kind: "prefer", ...comparison(selector, term.op, right), weight };
}

function resolveSelector(selector: Selector, inputs: PlacementInputs): WorkerSelector | undefined {
  if (!("suffix" in selector)) return selector;
  const key = resolveKey(selector, inputs);
  return key instanceof Unresolvable ? undefined : { kind: selector.kind, key };
}

function comparison(left: WorkerSelector, op: CompareOp, right: Constant): WorkerComparison {
  return { left, op, right: typeof right === "number" ? right : textOf(right) };
}

/** Equal needs are one text, in whichever order they were written. */
function canonical(needs: readonly Need[]): readonly Need[] {
  if (needs.length < 2) return needs;
  const byText = new Map(needs.map((need) => [JSON.stringify(need), need]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, need]) => need);
}

function failureOf(of: Unresolvable, term: AffinityTerm | undefined): Failure {
  if (term === undefined || readsRoutingInput(term)) {
    return engineFailure("AffinityResolutionError", "routing constraint unsatisfied");
  }
  const { ref, reason, rule } = of;
  const text = printTerm(term);
  const name = JSON.stringify(ref.path);
  const why =
    reason === "absent"
      ? `needs input ${name}, which this execution does not have`
      : rule === undefined
        ? `needs input ${name} to be a text, a number or a boolean, and it is a list or an object`
        : `cannot make a key of input ${name}: ${rule}`;
  const details = { term: text, input: ref.path, reason };
  return engineFailure("AffinityResolutionError", `affinity term ${text} ${why}`, { details });
}
