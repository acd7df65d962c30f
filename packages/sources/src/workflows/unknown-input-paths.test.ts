import { expect, test } from "vitest";
import { extract, IMPORTS } from "./testing/placement-source.ts";

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
