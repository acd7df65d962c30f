import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const SDK = `import { call, map, task, workflow } from "@engine/sdk";
export const child = workflow({ name: "child", namespace: "shop" }, async () => {});
`;

/** What the workflow `w` is read to call, and the issues and warnings. */
function nested(rest: string, ...others: [path: string, source: string][]) {
  const files = [
    { path: "main.ts", source: SDK + rest },
    ...others.map(([path, source]) => ({ path, source })),
  ];
  const { workflows, issues, warnings } = extractWorkflows({ entry: "main.ts", files });
  const names = workflows.find(({ name }) => name === "w")?.nested_workflows;
  const told = [...issues, ...warnings].map(
    ({ rule, line, column, expression, path }) => `${line}:${column} ${rule} ${expression} ${path}`,
  );
  return { names, told };
}

test("EXE-61 calls of workflows and of static text are read, each target once, in source order", () => {
  const { names, told } = nested(
    `import { other } from "./other.ts";
    const billing = "billing"; const name = \`\${billing}/invoice\`;
    const charge = task({ name: "charge" }, async () => call("from_task"));
    function through() { return call("aside", null, { wait: false }); }
    export { other };
    export const w = workflow({ name: "w" }, async () => {
      await call(child); await call("shop/child"); await call(name, { id: 1 });
      await call(other); await map([1], () => call("mapped")); await charge(); await through();
      const again = call; await again("aliased"); await call(w);
    });`,
    [
      "other.ts",
      `import { workflow } from "@engine/sdk"; export const other = workflow({ name: "other" }, async () => {});`,
    ],
  );
  expect(told).toEqual([]);
  expect(names).toEqual([
    "default/from_task",
    "default/aside",
    "shop/child",
    "billing/invoice",
    "default/other",
    "default/mapped",
    "default/aliased",
    "default/w",
  ]);
});

test("EXE-61 what another workflow calls is not this one's", () => {
  expect(
    nested(`export const w = workflow({ name: "w" }, async () => call(inner));
    export const inner = workflow({ name: "inner" }, async () => call(child));`).names,
  ).toEqual(["default/inner"]);
});

test("EXE-65 a computed target is the warning dynamic_call, and the others are still read", () => {
  const { names, told } = nested(
    `export const w = workflow({ name: "w" }, async (target: string, rest) => [call(target), call("a/" + target), call(...rest), call(pick()), call(child)]);
function pick() { return child; }`,
  );
  expect(names).toEqual(["shop/child"]);
  expect(told).toEqual([
    "3:80 dynamic_call target workflows[1].nested_workflows",
    '3:94 dynamic_call "a/" + target workflows[1].nested_workflows',
    "3:115 dynamic_call ...rest workflows[1].nested_workflows",
    "3:130 dynamic_call pick() workflows[1].nested_workflows",
  ]);
});

test.each([`"a/b/c"`, `"a b"`, `""`, "5", "undefined", ""])(
  "EXE-64 call(%s) names no workflow and is refused",
  (target) => {
    const { told } = nested(
      `export const w = workflow({ name: "w" }, async () => call(${target}));`,
    );
    expect(told).toEqual([expect.stringMatching(/^3:\d+ invalid_option .* workflows\[1\]/)]);
  },
);
