import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const IMPORTS = `import { workflow } from "@engine/sdk";
import { require, score, label, labelFor, meta, metaFor, service, input, routingInput, optional, when,
  prefer, least, most, sticky, metric, resource, load, utilization, concurrency, rate, limit } from "@engine/sdk/routing";
`;

function extract(source: string, others: Readonly<Record<string, string>> = {}) {
  const files = Object.entries({ "main.ts": source, ...others });
  return extractWorkflows({
    entry: "main.ts",
    files: files.map(([path, text]) => ({ path, source: text })),
  });
}

const declaring = (options: string, before = "") =>
  `${IMPORTS}${before}export const w = workflow({ name: "w", ${options} }, async () => {});`;

/** The first record of a file that nothing is wrong with. */
function recordOf(source: string, others: Readonly<Record<string, string>> = {}) {
  const { workflows, issues } = extract(source, others);
  expect(issues).toEqual([]);
  return workflows[0];
}

/** Issues as `rule path expression`, with what their messages say. */
function issuesOf(source: string, others: Readonly<Record<string, string>> = {}) {
  const { workflows, issues } = extract(source, others);
  if (issues.length > 0) expect(workflows).toEqual([]);
  return issues;
}

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
  const none = { affinity: null, routing: null, limits: [], priority: 0, fairness: null };
  expect(recordOf(declaring("priority: 0"))).toMatchObject(none);
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
    { rule: "not_static", path: `workflows[0].${option}`, expression },
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

const many = (count: number, term: string) => Array.from({ length: count }, () => term).join(", ");

test.each<[option: string, wrong: string, at: string, says: RegExp, path?: string]>([
  ["affinity", "require()", "require()", /at least one term/, ""],
  [
    "affinity",
    `require(${many(65, "label('a').eq('b')")})`,
    "require(",
    /at most 64 terms; got 65/,
    "",
  ],
  ["affinity", "{ cpus: 4 }", "4", /compared with a text; got 4/, ".cpus"],
  ["affinity", "{ a: input('b') }", "input('b')", /compared with a text/, ".a"],
  ["affinity", "{ 'a key': 'x' }", "'x'", /a label key is 1 to 128/, ".a key"],
  ["affinity", "{ '-a': 'x', b: true }", "'x'", /a label key/, ".-a"],
  ["affinity", "require(label('a key').eq('x'))", "'a key'", /a label key is 1 to 128/, "[0]"],
  ["affinity", "require(label('').eq('x'))", "''", /a label key/, "[0]"],
  ["affinity", "require(label(7).eq('x'))", "7", /label\(\) takes a key; got 7/, "[0]"],
  ["affinity", "require(label().eq('x'))", "label()", /label\(\) takes a key; got nothing/, "[0]"],
  ["affinity", "require(label('a', 'b').eq('x'))", "'b'", /takes one argument; got 2/, "[0]"],
  [
    `affinity`,
    `require(meta('${"m".repeat(65)}').eq('x'))`,
    "'mmmm",
    /a metadata key is 1 to 64/,
    "[0]",
  ],
  ["affinity", "require(labelFor('', input('a')).eq('x'))", "''", /prefix must begin a key/, "[0]"],
  [
    "affinity",
    "require(labelFor('.a', input('a')).eq('x'))",
    "'.a'",
    /prefix must begin a key/,
    "[0]",
  ],
  [
    "affinity",
    "require(labelFor('a.', 'b').eq('x'))",
    "'b'",
    /input\(…\) or routingInput\(…\)/,
    "[0]",
  ],
  [
    "affinity",
    "require(labelFor('a.').eq('x'))",
    "labelFor('a.')",
    /input\(…\) or routingInput/,
    "[0]",
  ],
  ["affinity", "require(label('a').lt(3))", "label('a').lt(3)", /by eq and ne only/, "[0]"],
  [
    "affinity",
    "require(metric('a').eq(3))",
    "metric('a').eq(3)",
    /labels, metadata and services only/,
    "[0]",
  ],
  [
    "affinity",
    "require(resource('cpu_total').gte(4))",
    "resource('cpu_total').gte(4)",
    /labels, metadata and services only/,
    "[0]",
  ],
  [
    "affinity",
    "require(load().eq(0))",
    "load().eq(0)",
    /labels, metadata and services only/,
    "[0]",
  ],
  [
    "affinity",
    "require(utilization().lt(1))",
    "utilization().lt(1)",
    /labels, metadata and services only/,
    "[0]",
  ],
  [
    "affinity",
    "require(label('a').eq(label('b')))",
    "label('b')",
    /label\("b"\) is of a worker, too/,
    "[0]",
  ],
  [
    "affinity",
    "require(label('a').eq(null))",
    "null",
    /compares with a text, a finite number/,
    "[0]",
  ],
  ["affinity", "require(label('a').eq(NaN))", "NaN", /a finite number/, "[0]"],
  ["affinity", "require(label('a').eq(['b']))", "['b']", /a finite number/, "[0]"],
  ["affinity", "require(label('a').eq())", "label('a').eq()", /got undefined/, "[0]"],
  ["affinity", "require(label('a'))", "label('a')", /compared with nothing/, "[0]"],
  ["affinity", "require('a')", "'a'", /takes terms such as/, "[0]"],
  [
    "affinity",
    "require(input('a').eq('b'))",
    "input('a').eq('b')",
    /a condition for when\(\)/,
    "[0]",
  ],
  [
    "affinity",
    "require(optional(label('a').eq('b')))",
    "label('a').eq('b')",
    /reads no input/,
    "[0]",
  ],
  [
    "affinity",
    "require(optional(optional(label('a').eq(input('b')))))",
    "optional(label('a').eq(input('b')))",
    /neither optional\(\) nor when\(\)/,
    "[0]",
  ],
  [
    "affinity",
    "require(optional(when(input('a').eq(1), label('a').eq(input('b')))))",
    "when(",
    /neither optional\(\) nor when\(\)/,
    "[0]",
  ],
  [
    "affinity",
    "require(optional(metric('a').eq(input('b'))))",
    "metric('a').eq(input('b'))",
    /optional\(\) takes a term/,
    "[0]",
  ],
  [
    "affinity",
    "require(when(input('a').eq(1), when(input('a').eq(1), label('a').eq('b'))))",
    "when(input('a').eq(1), label('a').eq('b'))",
    /no when\(\) itself/,
    "[0]",
  ],
  [
    "affinity",
    "require(when(meta('a').eq(1), label('a').eq('b')))",
    "meta('a').eq(1)",
    /never about a worker/,
    "[0]",
  ],
  [
    "affinity",
    "require(when(label('a').eq(1), label('a').eq('b')))",
    "label('a').eq(1)",
    /a worker could choose it for itself/,
    "[0]",
  ],
  [
    "affinity",
    "require(when(input('a'), label('a').eq('b')))",
    "input('a')",
    /takes a condition such as/,
    "[0]",
  ],
  [
    "affinity",
    "require(when(input('a').lt(3), label('a').eq('b')))",
    "input('a').lt(3)",
    /compared by eq and ne only/,
    "[0]",
  ],
  [
    "affinity",
    "require(when(input('a').eq(input('b')), label('a').eq('b')))",
    "input('b')",
    /decided by the execution alone/,
    "[0]",
  ],
  ["affinity", "require(when(input('a').eq(1)))", "when(input('a').eq(1))", /got nothing/, "[0]"],
  ["affinity", "require(sticky())", "sticky()", /ranks workers/, "[0]"],
  [
    "affinity",
    "require(when(input('a').eq(1), sticky()))",
    "when(input('a').eq(1), sticky())",
    /ranks workers/,
    "[0]",
  ],
  [
    "affinity",
    "require(service('Not A Service'))",
    "'Not A Service'",
    /a service name is 1 to 32/,
    "[0]",
  ],
  [
    "affinity",
    "require(service(label('a')))",
    "label('a')",
    /a name, input\(…\) or routingInput\(…\)/,
    "[0]",
  ],
  ["affinity", "require(label('a').eq(input('')))", "''", /a path is names joined by dots/, "[0]"],
  ["affinity", "require(label('a').eq(input('a..b')))", "'a..b'", /a path is/, "[0]"],
  [
    "affinity",
    "require(label('a').eq(input('items.0.sku')))",
    "'items.0.sku'",
    /without an index of a list/,
    "[0]",
  ],
  [
    "affinity",
    "require(label('a').eq(input('items[0]')))",
    "'items[0]'",
    /without an index of a list/,
    "[0]",
  ],
  [
    "affinity",
    "require(label('a').eq(routingInput(0)))",
    "0",
    /routingInput\(\) takes a path; got 0/,
    "[0]",
  ],
  ["affinity", "score(sticky())", "score(sticky())", /belongs in option routing/, ""],
  [
    "affinity",
    "label('a').eq('b')",
    "label('a').eq('b')",
    /write require\(label\("a"\)\.eq\("b"\)\)/,
    "",
  ],
  ["affinity", "'linux'", "'linux'", /labels with their values, or what require\(\) returns/, ""],
  ["affinity", "[]", "[]", /1 to 64 terms/, ""],
  ["routing", "score()", "score()", /at least one term/, ""],
  ["routing", `score(${many(33, "sticky()")})`, "score(", /at most 32 terms; got 33/, ""],
  [
    "routing",
    "require(label('a').eq('b'))",
    "require(label('a').eq('b'))",
    /belongs in option affinity/,
    "",
  ],
  ["routing", "{ a: 'b' }", "{ a: 'b' }", /what score\(\) returns/, ""],
  [
    "routing",
    "score(label('a').eq('b'))",
    "label('a').eq('b')",
    /write prefer\(label\("a"\)\.eq\("b"\)\)/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(metric('a').lt(3))",
    "metric('a').lt(3)",
    /write prefer\(metric\("a"\)\.lt\(3\)\)/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(optional(label('a').eq(input('b'))))",
    "optional(label('a').eq(input('b')))",
    /term of require\(\)/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(prefer(optional(label('a').eq(input('b')))))",
    "optional(label('a').eq(input('b')))",
    /prefer\(\) takes a comparison/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(prefer(input('a').eq(1)))",
    "input('a').eq(1)",
    /prefer\(\) takes a comparison/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(sticky({ weight: 0 }))",
    "weight: 0",
    /a finite number above 0; got 0/,
    ".terms[0].weight",
  ],
  [
    "routing",
    "score(sticky({ weight: -1 }))",
    "weight: -1",
    /a finite number above 0/,
    ".terms[0].weight",
  ],
  [
    "routing",
    "score(sticky({ weight: Infinity }))",
    "weight: Infinity",
    /a finite number above 0/,
    ".terms[0].weight",
  ],
  [
    "routing",
    "score(least(load(), { weight: '3' }))",
    "weight: '3'",
    /got "3" as weight/,
    ".terms[0].weight",
  ],
  [
    "routing",
    "score(least(load(), { wieght: 3 }))",
    "wieght: 3",
    /no option wieght/,
    ".terms[0].wieght",
  ],
  ["routing", "score(most(load(), 3))", "3", /\{ weight \}/, ".terms[0]"],
  [
    "routing",
    "score(least(labelFor('a.', input('b'))))",
    "labelFor('a.', input('b'))",
    /the same for every execution/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(most(metaFor('a.', input('b'))))",
    "metaFor('a.', input('b'))",
    /the same for every execution/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(least(service('gpu')))",
    "service('gpu')",
    /least\(\) takes label/,
    ".terms[0]",
  ],
  ["routing", "score(least(load().lt(3)))", "load().lt(3)", /least\(\) takes label/, ".terms[0]"],
  [
    "routing",
    "score(when(label('a').eq('b'), sticky()))",
    "label('a').eq('b')",
    /a worker could choose it for itself/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(when(service('a'), sticky()))",
    "service('a')",
    /a worker could choose it for itself/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(when(resource('cpu_total').gt(1), sticky()))",
    "resource('cpu_total').gt(1)",
    /a worker could choose it for itself/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(when(load().gt(input('a')), sticky()))",
    "load().gt(input('a'))",
    /with a constant only/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(when(metaFor('a.', input('b')).eq(1), sticky()))",
    "metaFor('a.', input('b')).eq(1)",
    /with a constant only/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(when(load().gt(1), when(load().gt(1), sticky())))",
    "when(load().gt(1), sticky())",
    /no when\(\) itself/,
    ".terms[0]",
  ],
  [
    "routing",
    "score(when(input('a').eq(1), label('a').eq('b')))",
    "when(input('a').eq(1), label('a').eq('b'))",
    /term of require\(\)/,
    ".terms[0]",
  ],
  ["routing", "score(prefer(metric('a').lt('many')))", "'many'", /compares numbers/, ".terms[0]"],
  [
    "routing",
    "score(prefer(metric('').lt(1)))",
    "''",
    /the name of a metric is 1 to 64/,
    ".terms[0]",
  ],
  ["routing", "score(prefer(resource('gpu').lt(1)))", "'gpu'", /one of "cpu_total"/, ".terms[0]"],
  [
    "routing",
    "score(prefer(load('a').lt(1)))",
    "'a'",
    /load\(\) takes no argument; got 1/,
    ".terms[0]",
  ],
  ["limits", "concurrency(1)", "concurrency(1)", /a list of at most 16/, ""],
  ["limits", "[7]", "7", /what concurrency\(…\), rate\(…\) and limit\(…\) return; got 7/, "[0]"],
  ["limits", "[sticky()]", "sticky()", /what concurrency/, "[0]"],
  ["limits", "[limit('a'), concurrency(0)]", "0", /a whole number from 1 to 100000; got 0/, "[1]"],
  ["limits", "[concurrency(100_001)]", "100_001", /a whole number from 1 to 100000/, "[0]"],
  ["limits", "[concurrency(1.5)]", "1.5", /a whole number/, "[0]"],
  [
    "limits",
    "[concurrency(2, { key: 'tenant' })]",
    "key: 'tenant'",
    /a key is input\(…\)/,
    "[0].key",
  ],
  [
    "limits",
    "[concurrency(2, { key: label('a') })]",
    "key: label('a')",
    /a key is input\(…\)/,
    "[0].key",
  ],
  [
    "limits",
    "[concurrency(2, { overflow: 'drop' })]",
    "overflow: 'drop'",
    /overflow "queue" or "reject"/,
    "[0].overflow",
  ],
  [
    "limits",
    "[concurrency(2, { holdWhileWaiting: 1 })]",
    "holdWhileWaiting: 1",
    /true or false/,
    "[0].holdWhileWaiting",
  ],
  ["limits", "[rate(1)]", "rate(1)", /a period from a second to a day/, "[0]"],
  ["limits", "[rate(1, '1 minute')]", "'1 minute'", /a period from a second to a day/, "[0]"],
  ["limits", "[rate(1, 999)]", "999", /a period from a second to a day/, "[0]"],
  ["limits", "[rate(1, '25h')]", "'25h'", /a period from a second to a day/, "[0]"],
  [
    "limits",
    "[rate(1, '1m', { overflow: 'reject' })]",
    "overflow: 'reject'",
    /no option overflow/,
    "[0].overflow",
  ],
  ["limits", "[limit('a limit')]", "'a limit'", /the name of a limit/, "[0]"],
  ["limits", `[${many(17, "limit('a')")}]`, "[limit", /a list of at most 16/, ""],
  ["priority", "11", "11", /a whole number from -10 to 10; got 11/, ""],
  ["priority", "0.5", "0.5", /a whole number from -10 to 10/, ""],
  ["priority", "'high'", "'high'", /a whole number from -10 to 10/, ""],
  ["fairness", "{ weight: 2 }", "{ weight: 2 }", /\{ key, weight \}/, ""],
  ["fairness", "{ key: 'tenant' }", "'tenant'", /input\(…\) or routingInput\(…\)/, ".key"],
  ["fairness", "{ key: input('a'), weight: 0 }", "0", /a whole number from 1 to 100/, ".weight"],
  [
    "fairness",
    "{ key: input('a'), weight: 101 }",
    "101",
    /a whole number from 1 to 100/,
    ".weight",
  ],
  ["fairness", "{ key: input('a'), share: 2 }", "share", /no option share/, ".share"],
  ["fairness", "input('a')", "input('a')", /\{ key, weight \}/, ""],
])("AFF-8 option %s refuses %s", (option, wrong, at, says, path = "") => {
  const issues = issuesOf(declaring(`${option}: ${wrong}`));
  const [first] = issues;
  expect(first?.message).toMatch(says);
  expect(first?.path).toBe(`workflows[0].${option}${path}`);
  expect(first?.rule).toMatch(/invalid_option|unknown_option/);
  expect(first?.expression.slice(0, at.length)).toBe(at);
  expect(
    new Set(issues.map((issue) => issue.path.replace(/^workflows\[0\]\.(\w+).*/, "$1"))),
  ).toEqual(new Set([option]));
});

test("AFF-8 every wrong term is told, each at its place", () => {
  const source = declaring(`affinity: require(label("a").lt(3), label("b").eq("ok"), sticky()),
  routing: score(sticky({ weight: 0 }), label("c").eq("d")), limits: [concurrency(0), limit("")]`);
  expect(issuesOf(source).map(({ path, expression }) => `${path} ${expression}`)).toEqual([
    `workflows[0].affinity[0] label("a").lt(3)`,
    "workflows[0].affinity[2] sticky()",
    "workflows[0].routing.terms[0].weight weight: 0",
    "workflows[0].limits[0] 0",
    `workflows[0].limits[1] ""`,
  ]);
});

test("AFF-8 builders mean nothing in other options", () => {
  const source = declaring(`metadata: { a: label("b") }, description: input("c")`);
  expect(issuesOf(source).map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    "not_static workflows[0].metadata.a",
    "not_static workflows[0].description",
  ]);
});

test.each<[reads: string, body: string, others?: string]>([
  ["regoin", "async (order: { region: string; tenant?: { id: number } }) => order"],
  ["tenant.name", "async (order: { region: string; tenant?: { id: number } }) => order"],
  ["region.code", "async (order: { region: string }) => order"],
  ["items.sku", "async (order: { items: { sku: string }[] }) => order"],
  ["a.c", "async (order: { a: { b: 1 } } | { d: 1 }) => order"],
  ["name", "async (text: string) => text"],
])("AFF-8 a path %s that the input schema cannot have is a warning", (path, body) => {
  const source = `${IMPORTS}const term = label("x").eq(input("${path}"));
export const w = workflow({ name: "w", affinity: require(term), fairness: { key: input("${path}") } }, ${body});`;
  const { issues, warnings, workflows } = extract(source);
  expect(issues).toEqual([]);
  expect(workflows).toHaveLength(1);
  expect(warnings.filter(({ rule }) => rule === "unknown_input_path")).toMatchObject([
    {
      workflow: "default/w",
      path: "workflows[0].affinity[0]",
      line: 4,
      expression: `input("${path}")`,
    },
    { workflow: "default/w", path: "workflows[0].fairness.key", line: 5 },
  ]);
});

test.each<[reads: string, body: string]>([
  ["region", "async (order: { region: string }) => order"],
  ["tenant.id", "async (order: { tenant?: { id: number } | null }) => order"],
  ["d", "async (order: { a: 1 } | { d: 1 }) => order"],
  ["a.b.c", "async (order: { a: Record<string, { c: string }> }) => order"],
  ["a.b.c", "async (order: unknown) => order"],
  ["a.b.c", "async (order: { a: any }) => order"],
  ["left.left.name", "async (node: Tree) => node"],
  ["b", "async (both: { a: 1 } & { b: 2 }) => both"],
  ["anything", "async () => {}"],
])("AFF-8 a path %s that some input of %s may have is no warning", (path, body) => {
  const source = `${IMPORTS}interface Tree { name: string; left?: Tree }
export const w = workflow({ name: "w", affinity: require(label("x").eq(input("${path}"))) }, ${body});`;
  const { issues, warnings } = extract(source);
  expect(issues).toEqual([]);
  expect(warnings.filter(({ rule }) => rule === "unknown_input_path")).toEqual([]);
});

test("AFF-8 the schema of an input is asked for paths, and routing input has none", () => {
  const source = `${IMPORTS}import * as z from "zod";
const input_ = z.object({ region: z.string(), open: z.looseObject({}) });
export const w = workflow({ name: "w", input: input_, affinity: require(
  label("a").eq(input("regoin")), label("b").eq(routingInput("regoin")), label("c").eq(input("open.any")),
) }, async (order) => order);`;
  const { warnings } = extract(source);
  expect(warnings.filter(({ rule }) => rule === "unknown_input_path")).toMatchObject([
    {
      path: "workflows[0].affinity[0]",
      message: expect.stringContaining('did you mean "region"?'),
    },
  ]);
});
