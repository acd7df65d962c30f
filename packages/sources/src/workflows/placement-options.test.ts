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

const declaring = (options: string) =>
  `${IMPORTS}export const w = workflow({ name: "w", ${options} }, async () => {});`;

/** The first record of a file that nothing is wrong with. */
function recordOf(source: string, others: Readonly<Record<string, string>> = {}) {
  const { workflows, issues } = extract(source, others);
  expect(issues).toEqual([]);
  return workflows[0];
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
