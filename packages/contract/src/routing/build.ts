/**
 * The builders of `@engine/sdk/routing`: what a call of one stands for, as data. The SDK calls them with
 * values, registration with what it reads of them in the source, so that both always mean the same.
 */
import * as z from "zod";
import { SERVICE_PREFIX } from "./attribute-keys.ts";
import { limitBuilders } from "./build-limits.ts";
import { argumentOf, atMost, type BuildIssue, Refused } from "./builder-arguments.ts";
import {
  AffinityTerm,
  CompareOp,
  Comparison,
  type Constant,
  InputCondition,
  isInputCondition,
  MatchTerm,
  MOST_AFFINITY_TERMS,
  MOST_SCORE_TERMS,
  Operand,
  PlainScoreTerm,
  RankedSelector,
  RESOURCE_FIELDS,
  type RoutingPolicy,
  ScoreTerm,
  Selector,
  ValueRef,
  WorkerCondition,
} from "./expression.ts";
import { printComparison, printSelector } from "./print.ts";
import { refsOf } from "./refs.ts";
import {
  affinityTermProblem,
  constantProblem,
  describe,
  operandProblem,
  readsNothing,
  refProblem,
  scoreTermProblem,
  selectorProblem,
  serviceProblem,
} from "./term-checks.ts";

/** What a call stands for, or all that is wrong with it. */
export type RoutingBuild<Value = unknown> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly BuildIssue[] };

type Build = (values: readonly unknown[]) => unknown;

const BUILDERS = {
  require: (terms) => listOf(terms, AffinityTerm, REQUIRE),
  score: (terms): RoutingPolicy => ({ terms: listOf(terms, ScoreTerm, SCORE) }),
  label: (values) => attribute("label", values),
  labelFor: (values) => attributeFor("label", values),
  meta: (values) => attribute("meta", values),
  metaFor: (values) => attributeFor("meta", values),
  service: (values): Comparison => {
    const name = argumentOf(values, 0, z.union([z.string(), ValueRef]), {
      builder: "service",
      expected: "a name, input(…) or routingInput(…)",
    });
    atMost(values, 1, "service");
    refuse(0, typeof name === "string" ? serviceProblem(name) : refProblem(name));
    const left: Selector =
      typeof name === "string"
        ? { kind: "label", key: SERVICE_PREFIX + name }
        : { kind: "label", prefix: SERVICE_PREFIX, suffix: name };
    return { kind: "match", left, op: "eq", right: "true" };
  },
  input: (values) => ref("input", values),
  routingInput: (values) => ref("routing_input", values),
  optional: (values): MatchTerm => {
    atMost(values, 1, "optional");
    const term = MatchTerm.safeParse(values[0]).data;
    if (!term || term.optional) {
      const what = "optional() takes a term such as label(…).eq(input(…))";
      throw new Refused(
        0,
        `${what}, which is neither optional() nor when(); got ${say(values[0])}`,
      );
    }
    refuse(0, affinityTermProblem(term));
    if (refsOf(term).length === 0) throw new Refused(0, readsNothing(term));
    return { ...term, optional: true };
  },
  when: (values): AffinityTerm | ScoreTerm => {
    atMost(values, 2, "when");
    const condition = conditionOf(values[0]);
    const match = MatchTerm.safeParse(values[1]).data;
    if (match) {
      if (!isInputCondition(condition)) {
        const what = "when() of a term of require() asks about input(…) or routingInput(…)";
        throw new Refused(0, `${what} by eq or ne, never about a worker; got ${say(values[0])}`);
      }
      refuse(1, affinityTermProblem(match));
      // biome-ignore lint/suspicious/noThenProperty: the stored form has this name
      return { kind: "when", if: condition, then: match };
    }
    const plain = PlainScoreTerm.safeParse(values[1]).data;
    if (!plain) {
      const what = "when() takes a condition and one term of require() or score()";
      throw new Refused(1, `${what}, and that is no when() itself; got ${say(values[1])}`);
    }
    refuse(1, scoreTermProblem(plain));
    // biome-ignore lint/suspicious/noThenProperty: the stored form has this name
    return { kind: "when", if: condition, then: plain };
  },
  prefer: (values): PlainScoreTerm => {
    const comparison = Comparison.safeParse(values[0]).data;
    if (!comparison) {
      const what = 'prefer() takes a comparison such as metric("queue").lt(3) or service(…)';
      throw new Refused(0, `${what}; got ${say(values[0])}`);
    }
    const { left, op, right } = comparison;
    return { kind: "prefer", left, op, right, weight: weightOf(values, 1, "prefer") };
  },
  least: (values) => ranked("least", values),
  most: (values) => ranked("most", values),
  sticky: (values): PlainScoreTerm => ({ kind: "sticky", weight: weightOf(values, 0, "sticky") }),
  metric: (values): Selector => {
    const key = argumentOf(values, 0, z.string(), { builder: "metric", expected: "a name" });
    atMost(values, 1, "metric");
    return checkedSelector({ kind: "metric", key });
  },
  resource: (values): Selector => {
    const names = RESOURCE_FIELDS.map((each) => `"${each}"`).join(", ");
    const expected = `one of ${names}`;
    const options = { builder: "resource", expected };
    const field = argumentOf(values, 0, z.enum(RESOURCE_FIELDS), options);
    atMost(values, 1, "resource");
    return { kind: "resource", field };
  },
  load: (values): Selector => {
    atMost(values, 0, "load");
    return { kind: "load" };
  },
  utilization: (values): Selector => {
    atMost(values, 0, "utilization");
    return { kind: "utilization" };
  },
  ...limitBuilders,
} satisfies Record<string, Build>;

/** The names that `@engine/sdk/routing` exports. */
export type RoutingBuilder = keyof typeof BUILDERS;

/** Whether a function of that name is a builder of `@engine/sdk/routing`. */
export function isRoutingBuilder(name: string): name is RoutingBuilder {
  return Object.hasOwn(BUILDERS, name);
}

/** What `builder(...values)` stands for. */
export function buildRouting(builder: RoutingBuilder, values: readonly unknown[]): RoutingBuild {
  return attempt(() => BUILDERS[builder](values));
}

/** Whether a member of that name compares: `eq`, `ne`, `lt`, `lte`, `gt`, `gte`. */
export function isCompareOp(name: string): name is CompareOp {
  return CompareOp.safeParse(name).success;
}

/** What `left.op(...values)` stands for; undefined where `left` is nothing that has such a member. */
export function buildComparison(
  left: unknown,
  op: CompareOp,
  values: readonly unknown[],
): RoutingBuild<Comparison | InputCondition> | undefined {
  const input = ValueRef.safeParse(left).data;
  if (input) return attempt(() => inputCondition(input, op, values));
  const selector = Selector.safeParse(left).data;
  if (!selector) return undefined;
  return attempt(() => {
    atMost(values, 1, `.${op}`);
    refuse(0, operandProblem(op, values[0]));
    return { kind: "match" as const, left: selector, op, right: plain(Operand.parse(values[0])) };
  });
}

function inputCondition(left: ValueRef, op: CompareOp, values: readonly unknown[]): InputCondition {
  if (op !== "eq" && op !== "ne") {
    throw new Refused(null, `an input is compared by eq and ne only; ${op} is for workers`);
  }
  atMost(values, 1, `.${op}`);
  refuse(0, constantProblem(op, values[0]));
  return { left, op, right: plain(values[0] as Constant) };
}

/** -0 is stored and printed as 0. */
function plain<Value extends Operand>(value: Value): Value {
  return (value === 0 ? 0 : value) as Value;
}

interface ListRule {
  readonly most: number;
  readonly builder: string;
  readonly without: string;
  readonly problem: (value: unknown) => string | undefined;
}

const REQUIRE: ListRule = {
  most: MOST_AFFINITY_TERMS,
  builder: "require",
  without: "leave the option affinity out where any worker will do",
  problem: affinityTermProblem,
};
const SCORE: ListRule = {
  most: MOST_SCORE_TERMS,
  builder: "score",
  without: "leave the option routing out to rank workers by their load",
  problem: scoreTermProblem,
};

function listOf<Term extends AffinityTerm | ScoreTerm>(
  values: readonly unknown[],
  form: z.ZodType<Term>,
  { most, builder, without, problem }: ListRule,
): Term[] {
  if (values.length === 0) {
    throw new Refused(null, `${builder}() needs at least one term; ${without}`);
  }
  if (values.length > most) {
    throw new Refused(null, `${builder}() takes at most ${most} terms; got ${values.length}`);
  }
  const issues = values.flatMap((value, argument) => {
    const message = problem(value);
    return message === undefined ? [] : [{ argument, message }];
  });
  if (issues.length > 0) throw new Refused(issues);
  return values.map((value) => form.parse(value));
}

function attribute(kind: "label" | "meta", values: readonly unknown[]): Selector {
  const key = argumentOf(values, 0, z.string(), { builder: kind, expected: "a key" });
  atMost(values, 1, kind);
  return checkedSelector({ kind, key });
}

function attributeFor(kind: "label" | "meta", values: readonly unknown[]): Selector {
  const builder = `${kind}For`;
  const prefix = argumentOf(values, 0, z.string(), { builder, expected: "the head of a key" });
  const expected = "input(…) or routingInput(…) as its second argument";
  const suffix = argumentOf(values, 1, ValueRef, { builder, expected });
  atMost(values, 2, builder);
  return checkedSelector({ kind, prefix, suffix });
}

function checkedSelector(selector: Selector): Selector {
  refuse(0, selectorProblem(selector));
  return selector;
}

function ref(kind: ValueRef["kind"], values: readonly unknown[]): ValueRef {
  const builder = kind === "input" ? "input" : "routingInput";
  const path = argumentOf(values, 0, z.string(), { builder, expected: "a path" });
  atMost(values, 1, builder);
  refuse(0, refProblem({ kind, path }));
  return { kind, path };
}

function ranked(kind: "least" | "most", values: readonly unknown[]): PlainScoreTerm {
  const selector = RankedSelector.safeParse(values[0]).data;
  if (!selector) {
    const what = `${kind}() takes label(…), meta(…), metric(…), resource(…), load() or utilization()`;
    throw new Refused(0, `${what}, the same for every execution; got ${say(values[0])}`);
  }
  return { kind, selector, weight: weightOf(values, 1, kind) };
}

/** What `when()` is given first. */
function conditionOf(value: unknown): InputCondition | WorkerCondition {
  const input = InputCondition.safeParse(value).data;
  if (input) return input;
  const comparison = Comparison.safeParse(value).data;
  if (!comparison) {
    const what = 'when() takes a condition such as input("tier").eq("gold")';
    throw new Refused(0, `${what}; got ${say(value)}`);
  }
  const { left, op, right } = comparison;
  const condition = WorkerCondition.safeParse({ left, op, right }).data;
  if (condition) return condition;
  const text = printComparison(comparison);
  if (left.kind === "label" || left.kind === "resource") {
    const what = `when() does not ask about ${printSelector(left)}`;
    throw new Refused(
      0,
      `${what}: a worker could choose it for itself; ask about meta(…), metric(…), load(), utilization() or an input`,
    );
  }
  throw new Refused(0, `when() compares a worker with a constant only; got ${text}`);
}

const Weight = z.strictObject({ weight: z.number().positive().optional() });

function weightOf(values: readonly unknown[], at: number, builder: string): number {
  atMost(values, at + 1, builder);
  const given = values[at];
  if (given === undefined) return 1;
  const options = argumentOf(values, at, Weight, {
    builder,
    expected: "{ weight }, a finite number above 0",
  });
  return options.weight ?? 1;
}

function say(value: unknown): string {
  return value === undefined ? "nothing" : describe(value);
}

function refuse(argument: number, message: string | undefined): void {
  if (message !== undefined) throw new Refused(argument, message);
}

function attempt<Value>(build: () => Value): RoutingBuild<Value> {
  try {
    return { value: build() };
  } catch (error) {
    if (error instanceof Refused) return { issues: error.issues };
    throw error;
  }
}
