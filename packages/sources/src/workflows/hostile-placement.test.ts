import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const IMPORTS = `import { workflow } from "@engine/sdk";
import { require, score, label, input, optional, when, sticky, prefer, concurrency } from "@engine/sdk/routing";
`;

function extract(options: string, before = "") {
  const source = `${IMPORTS}${before}\nexport const w = workflow({ name: "w", ${options} }, async () => {});`;
  const files = [{ path: "main.ts", source }];
  const { workflows, issues } = extractWorkflows({ entry: "main.ts", files });
  expect(workflows.length > 0).toBe(issues.length === 0);
  return { record: workflows[0], issues, rules: [...new Set(issues.map(({ rule }) => rule))] };
}

const nested = (depth: number, open: string, inner: string, close = ")") =>
  open.repeat(depth) + inner + close.repeat(depth);

test.each([
  ["when in when", `require(${nested(3_000, 'when(input("a").eq(1), ', 'label("a").eq("b")')})`],
  ["optional in optional", `require(${nested(3_000, "optional(", 'label("a").eq(input("b"))')})`],
  ["require in require", `require(${nested(3_000, "...require(", 'label("a").eq("b")')})`],
  ["one comparison of another", `require(label("a")${'.eq("b")'.repeat(3_000)})`],
  [
    "a condition of a condition",
    `require(when(input("a")${".eq(1)".repeat(3_000)}, label("a").eq("b")))`,
  ],
  ["lists in lists", `require(${nested(3_000, "[", "", "]")})`],
])("AFF-8 a source that nests %s without end is refused, and nothing crashes", (_, affinity) => {
  const { issues, rules } = extract(`affinity: ${affinity}`);
  expect(rules).toHaveLength(1);
  expect(rules[0]).toMatch(/too_intricate|syntax_error|not_static|invalid_option/);
  for (const { message } of issues) expect(message.length).toBeLessThan(1_000);
});

test("AFF-8 spreads that double, constants that lead to themselves and endless lists are refused", () => {
  const doubling = Array.from({ length: 40 }, (_, i) => `const t${i + 1} = [...t${i}, ...t${i}];`);
  const start = 'const t0 = [label("a").eq("b")];';
  expect(extract("affinity: require(...t40)", start + doubling.join("\n")).rules).toEqual([
    "too_intricate",
  ]);
  const circle = "const a = require(...b); const b = [a];";
  expect(extract("affinity: a", circle).rules).toEqual(["too_intricate"]);
  const list = `require(${'label("a").eq("b"),'.repeat(20_000)})`;
  expect(extract(`affinity: ${list}`).rules).toEqual(["invalid_option"]);
  const wrong = `score(${"sticky({ weight: 0 }),".repeat(2_000)})`;
  expect(extract(`routing: ${wrong}`).rules).toEqual(["invalid_option"]);
});

test.each([
  ["affinity: { __proto__: { role: 'x' } }"],
  ["affinity: { '__proto__': 'x' }"],
  ["affinity: { ['__proto__']: 'x' }"],
  ["affinity: { get role() { return 'x'; } }"],
  ["affinity: { set role(x) {} }"],
  ["routing: score(sticky({ __proto__: { weight: 5 } }))"],
  ["routing: score(sticky({ get weight() { return 5; } }))"],
  ["limits: [concurrency(1, { get key() { return input('a'); } })]"],
  ["affinity: { role() { return 'x'; } }"],
  ["affinity: { ...process.env }"],
])("AFF-8 %s is not static, and nothing of it takes effect", (options) => {
  const { rules } = extract(options);
  expect(rules).toContain("not_static");
  expect(({} as { role?: unknown }).role).toBeUndefined();
});

test.each([
  ["affinity: require(label('__proto__').eq('x'))", "invalid_option"],
  ["affinity: require(label('constructor').eq(input('__proto__.constructor')))", undefined],
  ["affinity: { constructor: 'x', toString: 'y', hasOwnProperty: 'z' }", undefined],
  ["affinity: require(label('a').eq(label))", "not_static"],
  ["affinity: require(label.toString())", "not_static"],
  ["affinity: require(require.label('a').eq('b'))", "not_static"],
  ["affinity: require(label('a').constructor('return 1'))", "not_static"],
  ["affinity: require(label('a').__proto__.eq('b'))", "not_static"],
  ["routing: score(prefer(label('a').eq({ kind: 'input', path: 'b' })))", undefined],
  [
    "affinity: require({ kind: 'match', left: { kind: 'label', key: 'no key' }, op: 'eq', right: 'x' })",
    "invalid_option",
  ],
  [
    "affinity: [{ kind: 'match', left: { kind: 'label', key: 'no key' }, op: 'eq', right: 'x' }]",
    "invalid_option",
  ],
  [
    "affinity: [{ kind: 'match', left: { kind: 'label', key: 'a' }, op: 'eq', right: { kind: 'input', path: '' } }]",
    "invalid_option",
  ],
  ["routing: { terms: [{ kind: 'sticky', weight: 1e999 }] }", "invalid_option"],
  [
    "routing: { terms: [{ kind: 'prefer', left: { kind: 'label', key: '' }, op: 'lt', right: 'x', weight: 1 }] }",
    "invalid_option",
  ],
  ["limits: [{ kind: 'limit', name: '../admin' }]", "invalid_option"],
  [
    "limits: [{ kind: 'concurrency', count: 1, key: { kind: 'input', path: 'a..b' } }]",
    "invalid_option",
  ],
  ["fairness: { key: { kind: 'input', path: '[0]' } }", "invalid_option"],
])("AFF-8 %s: %s", (options, rule) => {
  const { rules, record } = extract(options);
  expect(rules).toEqual(rule === undefined ? [] : [rule]);
  if (rule === undefined) expect(record?.affinity ?? record?.routing).not.toBeNull();
});

test("AFF-8 texts with odd characters are kept as they are", () => {
  const text = `a\\u0000\\ud800\\u2028"\\\\\\n😀`;
  const { record } = extract(`affinity: require(label("a").eq("${text.replaceAll('"', '\\"')}"))`);
  expect(record?.affinity).toMatchObject([{ right: JSON.parse(`"${text.replace('"', '\\"')}"`) }]);
});
