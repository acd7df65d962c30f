import { expect, test } from "vitest";
import { traceOf } from "./trace-of.ts";

const HASH = "0123456789abcdef".repeat(4);

/** What is told of an error whose stack has these lines. */
function traced(...lines: string[]) {
  const stack = ["Error: no", ...lines.map((line) => `    at ${line}`)].join("\n");
  return traceOf(Object.assign(new Error("no"), { stack }));
}

test("lines of a registered source are named from the folder that was registered", () => {
  expect(
    traced(
      "price (workflow:///lib/pri%20ces.ts:4:11)",
      "Object.charge [as run] (workflow:///orders.ts:12:9)",
      "async workflow:///orders.ts:20:3",
    ),
  ).toEqual({
    at: "lib/pri ces.ts:4:11",
    stack: [
      "at price (lib/pri ces.ts:4:11)",
      "at Object.charge [as run] (orders.ts:12:9)",
      "at orders.ts:20:3",
    ],
  });
});

test("an error of a package names the author's first line, and three lines of the package", () => {
  const inPackage = (n: number) =>
    `parse (file:///srv/w/node_modules/.pnpm/pg@8.1.0/node_modules/pg/lib/parse.js:${n}:1)`;
  expect(
    traced(
      ...[1, 2, 3, 4, 5].map(inPackage),
      "process.processTicksAndRejections (node:internal/process/task_queues:103:5)",
      "bundled (workflow:///node_modules/zod/v4/parse.js:8:2)",
      "async load (workflow:///orders.ts:7:3)",
      inPackage(9),
    ),
  ).toEqual({
    at: "orders.ts:7:3",
    stack: [
      "at parse (node_modules/pg/lib/parse.js:1:1)",
      "at parse (node_modules/pg/lib/parse.js:2:1)",
      "at parse (node_modules/pg/lib/parse.js:3:1)",
      "at async load (orders.ts:7:3)",
      "at parse (node_modules/pg/lib/parse.js:9:1)",
    ],
  });
});

test("a file of a local run is named from the working folder, one elsewhere by its name alone", () => {
  const here = process.cwd();
  expect(
    traced(
      `a (file://${here}/flows/a.ts?v=17:1:2)`,
      `b (${here}/flows/b.ts:3:4)`,
      "c (file:///home/somebody/else/c.ts:5:6)",
      "d (/srv/app (copy)/d.ts:7:8)",
    ),
  ).toEqual({
    at: "flows/a.ts:1:2",
    stack: ["at a (flows/a.ts:1:2)", "at b (flows/b.ts:3:4)", "at c (c.ts:5:6)", "at d (d.ts:7:8)"],
  });
});

test.each([
  ["a bundle where a worker keeps it", `run (file:///home/w/modules/${HASH}.mjs:10:5)`],
  ["the engine's packages", "store (file:///srv/node_modules/@engine/contract/dist/value.js:1:1)"],
  ["the engine's sources", `settle (${new URL("../replay/core.ts", import.meta.url).href}:1:1)`],
  ["Node's own", "listOnTimeout (node:internal/timers:605:17)"],
  ["collected promises", "async Promise.all (index 0)"],
  ["code made of a text", "eval (eval at run (file:///srv/x.ts:1:2), <anonymous>:1:1)"],
  ["native code", "Array.map (<anonymous>)"],
  ["WebAssembly", "wasm://wasm/abc:wasm-function[1]:0x1f"],
])("lines of %s are nobody's", (_, line) => {
  expect(traced(line)).toBeUndefined();
});

test("a package that fails by itself, with no line of the author's, still has a stack", () => {
  expect(traced("tick (file:///srv/node_modules/pg/lib/client.js:526:17)")).toEqual({
    at: undefined,
    stack: ["at tick (node_modules/pg/lib/client.js:526:17)"],
  });
});

test("twenty lines are kept, and none longer than three hundred characters", () => {
  const many = Array.from({ length: 40 }, (_, i) => `f (workflow:///a.ts:${i}:1)`);
  expect(traced(`${"n".repeat(400)} (workflow:///b.ts:1:1)`, ...many)).toMatchObject({
    at: "b.ts:1:1",
    stack: { length: 20, 0: "at f (a.ts:0:1)" },
  });
});
