/**
 * What registration reads of a workflow's options in its source is what the same code builds when it runs,
 * and what is printed of it reads back as the same. `PROPERTY_RUNS` sets how many expressions are tried.
 */
import {
  declaredOptions,
  type ExtractedWorkflow,
  placementText,
  printAffinity,
  printFairness,
  printLimit,
  printRouting,
} from "@engine/contract";
import { workflow } from "@engine/sdk";
import * as routing from "@engine/sdk/routing";
import { Random } from "@engine/simulation/random";
import { readRegistration } from "@engine/sources/reading";
import { expect, test } from "vitest";
import { ExpressionSource } from "./expression-source.ts";
import { type Expression, RandomExpressions } from "./random-expression.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 1_200);
const seed = process.env["PROPERTY_SEED"] ?? (process.env["PROPERTY_RUNS"] ? Date.now() : 1);
/** Expressions of one registration: workflows, each with three of them. */
const WORKFLOWS = 20;

type Options = Readonly<Record<string, Expression>>;

test(
  "AFF-7 AFF-8 RTE-7 what is read of a source is what its code builds, and is printed as code that means the same",
  async () => {
    for (let n = 0; n * WORKFLOWS * 3 < runs; n++) {
      const random = new Random(`${seed}/${n}`);
      const options = Array.from({ length: WORKFLOWS }, () => optionsOf(random));
      const source = new ExpressionSource(random.fork("source"));
      const declared = options.map(written(source));
      const files = source.files(declared);
      const why = () => `seed ${seed}, files ${JSON.stringify(files)}`;

      const extracted = await read(files);
      expect(extracted.map(declarations), why()).toEqual(options.map(built));

      const printed = new ExpressionSource(random).files(extracted.map(printedWorkflow));
      const again = await read(printed);
      expect(again.map(declarations), why()).toEqual(extracted.map(declarations));
    }
  },
  120_000 + runs * 50,
);

function optionsOf(random: Random): Options {
  const make = new RandomExpressions(random);
  return {
    affinity: make.affinity(),
    routing: make.routing(),
    ...(random.chance(0.8) ? { limits: make.limits() } : { fairness: make.fairness() }),
  };
}

const written = (source: ExpressionSource) => (options: Options, index: number) => {
  const members = Object.entries(options).map(([name, value]) => `${name}: ${source.write(value)}`);
  return workflowText(index, members);
};

function workflowText(index: number, members: readonly string[]): string {
  return `export const w${index} = workflow({ name: "w${index}", ${members.join(", ")} }, async () => {});`;
}

async function read(files: readonly { path: string; source: string }[]) {
  const registration = { entry: "main.ts", files: [...files], bundle: "export {};" };
  const { workflows, issues } = await readRegistration(registration);
  expect(issues, JSON.stringify(files)).toEqual([]);
  return workflows.map(({ extracted }) => extracted);
}

/** What a version keeps, in the form it is kept in. */
function declarations({ affinity, routing, limits, fairness }: Declared) {
  const kept = JSON.parse(JSON.stringify({ affinity, routing, limits, fairness }));
  return { ...kept, digested: placementText({ affinity, routing }) };
}
type Declared = Pick<ExtractedWorkflow, "affinity" | "routing" | "limits" | "fairness">;

/** What the options are when their code runs and the workflow has taken them. */
function built(options: Options) {
  const values = Object.entries(options).map(([name, value]) => [name, run(value)] as const);
  const taken = workflow({ name: "taken", ...Object.fromEntries(values) }, async () => {});
  return declarations(declaredOptions(taken.options));
}

function run(expression: Expression): unknown {
  switch (expression.kind) {
    case "call": {
      const builders = routing as unknown as Record<string, (...values: unknown[]) => unknown>;
      return builders[expression.name]?.(...expression.values.map(run));
    }
    case "member": {
      const of = run(expression.of) as Record<string, (...values: unknown[]) => unknown>;
      return of[expression.name]?.(...expression.values.map(run));
    }
    case "object": {
      const members = Object.entries(expression.members);
      return Object.fromEntries(members.map(([key, value]) => [key, run(value)]));
    }
    case "list":
      return expression.values.map(run);
    case "constant":
      return expression.value;
  }
}

function printedWorkflow(record: Declared, index: number): string {
  const { affinity, routing: policy, limits, fairness } = record;
  return workflowText(index, [
    `affinity: ${printAffinity(affinity)}`,
    `routing: ${printRouting(policy)}`,
    `limits: [${limits.map(printLimit).join(", ")}]`,
    ...(fairness ? [`fairness: ${printFairness(fairness)}`] : []),
  ]);
}
