import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { contentHash } from "../content-hash.ts";
import { extract, issuesOf, recordOf } from "./testing/placement-source.ts";

/** A file whose workflow `shop/checkout` has these options, the first of them in line 4. */
const file = (options: string, before = "") => `import { workflow } from "@engine/sdk";
${before}
export const checkout = workflow({ name: "checkout", namespace: "shop",
  ${options} }, async () => {});
`;
const FAILED = `{ on: "failed", workflow: "ops/page", principal: "ops-bot" }`;

test("HOOK-47 HOOK-48 hooks are read from the source, through any number of consts", () => {
  const record = recordOf(
    file(
      `hooks: [page, { ...common, on: ["refund:failed", \`\${"pau"}sed\`], name: "ask", maxAttempts: tries }]`,
      `import { tries } from "./tries.ts"; const common = { workflow: "ask", principal: "ops-bot" }; const page = ${FAILED};`,
    ),
    { "tries.ts": "export const tries = 10;" },
  );
  const selectors = ["execution:shop:checkout:failed"];
  const text = JSON.stringify([selectors, "ops/page", "ops-bot"]);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  expect(record?.hooks).toEqual([
    {
      ...{ name: `wf-shop-checkout-${digest}`, selectors },
      ...{ workflow: "ops/page", principal: "ops-bot", max_attempts: 5 },
    },
    {
      name: "ask",
      selectors: ["task:shop:checkout:refund:failed", "execution:shop:checkout:paused"],
      ...{ workflow: "default/ask", principal: "ops-bot", max_attempts: 10 },
    },
  ]);
});

test("HOOK-47 short selectors are of the name that the function gives, too", () => {
  const source = `import { workflow } from "@engine/sdk";
export const w = workflow({ hooks: [${FAILED}] }, async function pay() {});`;
  expect(recordOf(source)?.hooks[0]?.selectors).toEqual(["execution:default:pay:failed"]);
});

test.each<[hook: string, rule: string, path: string, at: string, says: RegExp]>([
  [`{ ...base, on: "started" }`, "invalid_selector", "hooks[0].on", `"started"`, /mean running/],
  [
    `{ ...base, on: ["failed", "FAILED"] }`,
    "invalid_selector",
    "hooks[0].on[1]",
    `"FAILED"`,
    /mean failed/,
  ],
  [
    `{ ...base, on: "execution:*" }`,
    "invalid_option",
    "hooks[0].on",
    `"execution:*"`,
    /begin with/,
  ],
  [
    `{ ...base, on: "failed", url: "x" }`,
    "unknown_option",
    "hooks[0].url",
    `url: "x"`,
    /no option url/,
  ],
  [
    `{ ...base, on: "failed", maxAttempts: 0 }`,
    "invalid_option",
    "hooks[0].maxAttempts",
    "0",
    /1 to 100/,
  ],
  [
    `{ ...base, on: "failed", name: "Big" }`,
    "invalid_option",
    "hooks[0].name",
    `"Big"`,
    /small letters/,
  ],
  [
    `{ on: "failed", workflow: "a" }`,
    "invalid_option",
    "hooks[0].principal",
    `{ on: "failed"`,
    /got nothing/,
  ],
  [`{ ...base, on: process.env.ON }`, "not_static", "hooks[0].on", "process.env.ON", /run time/],
  [
    `{ ...base, on: ["failed", String(1)] }`,
    "not_static",
    "hooks[0].on[1]",
    "String(1)",
    /is a call/,
  ],
  [`{ ...base, on: "failed", principal: who }`, "not_static", "hooks[0].principal", "who", /let/],
])("HOOK-48 EXE-64 %s is an issue at its place", (hook, rule, path, at, says) => {
  const before = `let who = "a"; const base = { workflow: "ops/page", principal: "ops-bot" };`;
  const [issue, ...more] = issuesOf(file(`hooks: [${hook}]`, before));
  expect(more).toEqual([]);
  expect(issue).toMatchObject({
    ...{ workflow: "shop/checkout", rule, path: `workflows[0].${path}`, file: "main.ts" },
    message: expect.stringMatching(says),
  });
  expect(issue?.expression.startsWith(at)).toBe(true);
  if (rule !== "not_static") expect(issue?.line).toBe(4);
});

test("HOOK-48 hooks that are no list, or spread from one that is not static, are issues", () => {
  expect(issuesOf(file(`hooks: ${FAILED}`))).toMatchObject([
    { rule: "invalid_option", path: "workflows[0].hooks" },
  ]);
  expect(issuesOf(file(`hooks: [...process.argv]`))).toMatchObject([
    { rule: "not_static", path: "workflows[0].hooks" },
  ]);
});

test("HOOK-48 of a hook that is spread from what is not static nothing else is said to be missing", () => {
  const issues = issuesOf(file(`hooks: [{ ...rest, on: "failed" }]`, "let rest = {};"));
  expect(issues.map(({ rule }) => rule)).toEqual(["not_static"]);
});

test("HOOK-49 two different hooks of one name are an issue at the second", () => {
  const hooks = `[{ on: "failed", ...base }, { on: "paused", ...base }]`;
  const base = `const base = { workflow: "ops/page", principal: "ops-bot", name: "page" };`;
  expect(issuesOf(file(`hooks: ${hooks}`, base))).toMatchObject([
    { rule: "invalid_option", path: "workflows[0].hooks[1].name", line: 2 },
  ]);
});

test("EXE-67 HOOK-49 another hook makes another version, and none that of a release without the option", () => {
  const { workflows } = extract(file(""));
  const [none] = workflows;
  const [one] = extract(file(`hooks: [${FAILED}]`)).workflows;
  if (!none || !one) throw new Error("nothing was read");
  const { hooks: _, ...before } = none;
  expect(contentHash("b", none)).toBe(contentHash("b", before as typeof none));
  expect(contentHash("b", one)).not.toBe(contentHash("b", none));
});
