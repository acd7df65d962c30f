import { expect, test } from "vitest";
import { declaring, IMPORTS, issuesOf, recordOf } from "./testing/placement-source.ts";

test("AFF-7 the terms of an affinity are stored as data, as a user writes them", () => {
  const record = recordOf(
    declaring(`affinity: require(
    label("region").eq(input("region")),
    optional(labelFor("dataset.", routingInput("dataset")).eq("true")),
    when(input("tier").eq("restricted"), meta("certified").ne("no")),
  )`),
  );
  // The example of AFF-7.
  expect(record?.affinity).toEqual(
    JSON.parse(`[
      {"kind":"match","left":{"kind":"label","key":"region"},"op":"eq","right":{"kind":"input","path":"region"}},
      {"kind":"match","left":{"kind":"label","prefix":"dataset.","suffix":{"kind":"routing_input","path":"dataset"}},"op":"eq","right":"true","optional":true},
      {"kind":"when","if":{"left":{"kind":"input","path":"tier"},"op":"eq","right":"restricted"},"then":{"kind":"match","left":{"kind":"meta","key":"certified"},"op":"ne","right":"no"}}
    ]`),
  );
});

test("AFF-1 a map of labels stays a map", () => {
  const labels = `{ role: "harness", ["gpu" + ".model"]: "a100", ...{ browser: \`\${true}\` } }`;
  expect(recordOf(declaring(`affinity: ${labels}`))?.affinity).toEqual({
    role: "harness",
    "gpu.model": "a100",
    browser: "true",
  });
  expect(recordOf(declaring("affinity: {}"))?.affinity).toEqual({});
  const none = { affinity: null, routing: null, limits: [], fairness: null };
  expect(recordOf(declaring("priority: 0"))).toMatchObject({ ...none, priority: 0 });
});

test("FLW-1 FLW-2 FLW-3 FLW-5 FLW-6 limits, priority and fairness are stored as data", () => {
  const record = recordOf(
    declaring(`limits: [
      concurrency(10),
      concurrency(2, { key: input("tenant_id"), holdWhileWaiting: true, overflow: "reject" }),
      concurrency(3, { holdWhileWaiting: false, overflow: "queue" }),
      rate(100, "1m", { key: routingInput("tenant_id") }),
      rate(1, 86_400_000),
      limit("openai"),
    ], priority: -5, fairness: { key: input("tenant_id"), weight: 2 }`),
  );
  const key = { kind: "input", path: "tenant_id" };
  expect(record?.limits).toEqual([
    { kind: "concurrency", count: 10 },
    { kind: "concurrency", count: 2, key, hold_while_waiting: true, overflow: "reject" },
    { kind: "concurrency", count: 3 },
    { kind: "rate", count: 100, period_ms: 60_000, key: { ...key, kind: "routing_input" } },
    { kind: "rate", count: 1, period_ms: 86_400_000 },
    { kind: "limit", name: "openai" },
  ]);
  expect(record).toMatchObject({ priority: -5, fairness: { key, weight: 2 } });
  const even = recordOf(declaring(`fairness: { key: routingInput("a") }, priority: 10`));
  expect(even).toMatchObject({ fairness: { weight: 1 }, priority: 10 });
});

const REGION = [
  {
    kind: "match",
    left: { kind: "label", key: "region" },
    op: "eq",
    right: { kind: "input", path: "region" },
  },
];

test.each<[string, string, Readonly<Record<string, string>>?]>([
  ["by name", `${IMPORTS}AFFINITY(require(label("region").eq(input("region"))))`],
  [
    "by another name",
    `import { workflow } from "@engine/sdk"; import { require as all, label as has, input as given } from "@engine/sdk/routing";
AFFINITY(all(has("region").eq(given("region"))))`,
  ],
  [
    "by a namespace",
    `import { workflow } from "@engine/sdk"; import * as r from "@engine/sdk/routing";
AFFINITY(r.require(r["label"]("region").eq(r.input("region"))))`,
  ],
  [
    "by a name bound to a builder",
    `import { workflow } from "@engine/sdk"; import * as r from "@engine/sdk/routing";
const { require: all, ...others } = { require: r.require }; const has = r.label; const { input } = r;
AFFINITY(r.require(has("region").eq(input("region"))))`,
  ],
  [
    "through constants",
    `${IMPORTS}const region = input("region"); const has = label("region"); const term = has.eq(region);
const constraint = require(term); const again = constraint as typeof constraint;
AFFINITY(again)`,
  ],
  [
    "through lists that are spread",
    `${IMPORTS}const one = [label("region").eq(input("region"))] as const; const terms = [...one];
AFFINITY(require(...terms, ...[]))`,
  ],
  [
    "through members of objects",
    `${IMPORTS}const all = { of: { region: label("region") }, list: [input("region")] };
AFFINITY(require((all.of.region satisfies unknown)!.eq(all.list[0])))`,
  ],
  [
    "through other files",
    `import { workflow } from "@engine/sdk"; import { constraint } from "./constraint.ts";
AFFINITY(constraint)`,
    {
      "constraint.ts": `import { require as all } from "@engine/sdk/routing"; import terms, { region as r } from "./terms.ts";
export const constraint = all(...terms, r); export { constraint as other };`,
      "terms.ts": `import * as routing from "@engine/sdk/routing"; export default [];
export const region = routing.label("region").eq(routing.input("region"));`,
    },
  ],
  [
    "through a file that passes the builders on",
    `import { workflow } from "@engine/sdk"; import { require, label, input } from "./all.ts";
AFFINITY(require(label("region").eq(input("region"))))`,
    { "all.ts": `export * from "@engine/sdk/routing";` },
  ],
])("AFF-8 builders are read %s", (_, source, others) => {
  const text = source.replace(
    /AFFINITY\((.*)\)/,
    `export const w = workflow({ name: "w", affinity: $1 }, async () => {});`,
  );
  expect(recordOf(text, others)?.affinity).toEqual(REGION);
});

test.each<[option: string, expression: string, before?: string]>([
  ["affinity", "made()", "const made = () => require(label('a').eq('b'));\n"],
  ["affinity", "labels", "let labels = { a: 'b' };\n"],
  ["affinity", "process.env"],
  ["affinity", "process.env.X"],
  ["affinity", "Math.random() > 0.5 ? {} : { a: 'b' }"],
  ["affinity", "new Map()"],
  ["affinity", "label.call(null, 'a')"],
  ["affinity", "label?.('a')"],
  ["affinity", "fake", `import { require as fake } from "other";\n`],
  ["routing", "ranking", "import { ranking } from 'policies';\n"],
  ["limits", "Array.from({ length: 2 })"],
  ["priority", "Math.max(1, 2)"],
  ["priority", "input('a')"],
  ["fairness", "keyed()", "function keyed() { return { key: input('a') }; }\n"],
])("AFF-8 option %s cannot be %s", (option, expression, before) => {
  expect(issuesOf(declaring(`${option}: ${expression}`, before))).toMatchObject([
    {
      rule: "not_static",
      path: `workflows[0].${option}`,
      expression,
      message: expect.stringMatching(
        option === "priority"
          ? /in the files sent$/
          : /calls of what @engine\/sdk\/routing exports$/,
      ),
    },
  ]);
});

test("AFF-8 what is not static inside builders is refused where it is written, each part of it", () => {
  const source = declaring(`affinity: require(
    label(process.env.KEY).eq(input("a")),
    label("b").eq(REGION),
    ...terms(),
    label("c")[op]("x"),
  )`);
  expect(
    issuesOf(source).map(({ rule, path, line, expression }) => [rule, path, line, expression]),
  ).toEqual([
    ["not_static", "workflows[0].affinity[0]", 5, "process.env.KEY"],
    ["not_static", "workflows[0].affinity[1]", 6, "REGION"],
    ["not_static", "workflows[0].affinity[2]", 7, "terms()"],
    ["not_static", "workflows[0].affinity[3]", 8, 'label("c")[op]("x")'],
  ]);
});

test("AFF-8 an issue has the file, line and column of the term, in whichever file it is written", () => {
  const source = `import { workflow } from "@engine/sdk"; import { constraint } from "./constraint.ts";
export const w = workflow({ name: "w", affinity: constraint }, async () => {});`;
  const constraint = `import * as r from "@engine/sdk/routing";
const terms = [r.label("ok").eq("x"),
  r.label("cpus").gt(4)];
export const constraint = r.require(...terms);`;
  expect(issuesOf(source, { "constraint.ts": constraint })).toEqual([
    {
      workflow: "default/w",
      path: "workflows[0].affinity[0]",
      rule: "invalid_option",
      message: `require() compares by eq and ne only, and label("cpus").gt(4) orders by gt; rank workers by it in option routing`,
      file: "constraint.ts",
      line: 3,
      column: 3,
      expression: `r.label("cpus").gt(4)`,
    },
  ]);
});
