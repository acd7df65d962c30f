import { SourceMap } from "node:module";
import { expect, test } from "vitest";
import { transpile } from "./bundle.ts";

async function refused(source: string): Promise<string[]> {
  const { bundle, issues } = await transpile(source);
  expect(bundle).toBe("");
  return issues.map(
    ({ file, line, column, rule, expression }) => `${file}:${line}:${column} ${rule} ${expression}`,
  );
}

test("EXE-59 types go, values stay, and the same source gives the same bundle", async () => {
  const source = `import { workflow } from "@engine/sdk";
import * as z from "zod";
import { createHash } from "node:crypto";
import type { Absent } from "./types.ts";
import { Unused } from "./unused.ts";
enum Size { S = "ö" }
export const a = workflow({ name: "a" }, async (n: Absent & Unused) => [z, createHash, Size.S]);`;
  const { bundle, issues } = await transpile(source);
  expect(issues).toEqual([]);
  expect(bundle).toContain(`from "@engine/sdk"`);
  expect(bundle).toContain("ö");
  expect(bundle).not.toMatch(/Absent|Unused/);
  expect(await transpile(source)).toEqual({ bundle, issues });
});

test("EXE-59 stacks of a single source name the lines the user wrote, and nothing of this machine", async () => {
  const source = `import { task } from "@engine/sdk";

interface Order { readonly id: string }
type Orders =
  | Order[];

export const charge = task({ name: "charge" }, async (orders: Orders) => {
  throw new Error("no funds");
});`;
  const { bundle } = await transpile(source);
  const [, encoded = ""] =
    /\n\/\/# sourceMappingURL=data:application\/json;base64,(.+)\n$/.exec(bundle) ?? [];
  const payload = JSON.parse(Buffer.from(encoded, "base64").toString());
  expect(payload).toMatchObject({ sourceRoot: "workflow:///", sources: ["workflow.ts"] });
  expect(Object.keys(payload)).not.toContain("sourcesContent");

  const lines = bundle.split("\n");
  const line = lines.findIndex((text) => text.includes("no funds"));
  expect(line).toBeLessThan(7);
  const column = lines[line]?.indexOf("new Error") ?? -1;
  const found = new SourceMap(payload).findEntry(line, column);
  expect(found).toMatchObject({ originalLine: 7, originalColumn: 8 });
});

test("EXE-59 a single source imports only @engine/*, zod and node:*", async () => {
  expect(
    await refused(`import lodash from "lodash";
export { x } from "./local.ts";
export * from "pg";
const a = await import("node:absent");
const b = await import(lodash);`),
  ).toEqual([
    `workflow.ts:1:20 unresolved_import "lodash"`,
    `workflow.ts:2:19 unresolved_import "./local.ts"`,
    `workflow.ts:3:15 unresolved_import "pg"`,
    `workflow.ts:4:24 unresolved_import "node:absent"`,
    "workflow.ts:5:24 unresolved_import lodash",
  ]);
});

test("EXE-64 a syntax error has its place", async () => {
  expect(await refused("const a = 1;\nconst b = ;")).toEqual(["workflow.ts:2:11 syntax_error ;"]);
});

test("what only the transpiler refuses has its place in characters", async () => {
  const source = `const a = 1;\nconst b = "öö"; class C { f(@dec x) {} }`;
  expect(await refused(source)).toEqual(["workflow.ts:2:29 syntax_error @dec x) {} }"]);
});
