import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { bundleWorkflow } from "./bundle-workflow.ts";

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder(files);
  onTestFinished(() => folder.remove());
  return folder.path;
}

const CHECKOUT = `
import { readFile } from "node:fs/promises";
import { task, workflow } from "@engine/sdk";
import { z } from "zod";
import { cents } from "../shared/money";
import rates from "./rates.json";
const charge = task(async function charge() { return [cents(1), rates, readFile, z]; });
export const checkout = workflow({ name: "checkout" }, async () => charge());
`;
const FILES = {
  "flows/checkout.ts": CHECKOUT,
  "flows/rates.json": '{"eur":1}',
  "shared/money.ts": "export const cents = (n: number): number => n * 100;",
};

test("EXE-59 a registration holds the entry, every local file it imports, and a bundle", async () => {
  const folder = folderWith(FILES);
  const { bundle } = await bundleWorkflow(join(folder, "flows/checkout.ts"));
  expect(bundle?.entry).toBe("flows/checkout.ts");
  expect(bundle?.root).toBe(folder);
  expect(bundle?.files.map(({ path }) => path).sort()).toEqual(Object.keys(FILES).sort());
  expect(bundle?.files.find(({ path }) => path === "flows/checkout.ts")?.source).toBe(CHECKOUT);
  for (const external of ["node:fs/promises", "@engine/sdk", "zod"]) {
    expect(bundle?.bundle).toContain(`from "${external}"`);
  }
  expect(bundle?.bundle).toContain("n * 100");
});

test("the same sources give the same bundle wherever they lie", async () => {
  const tsconfig = { "tsconfig.json": '{"compilerOptions":{"target":"es2015"}}' };
  const here = await bundleWorkflow(join(folderWith(FILES), "flows/checkout.ts"));
  const there = await bundleWorkflow(
    join(folderWith({ ...FILES, ...tsconfig }), "flows/checkout.ts"),
  );
  expect(there.bundle?.bundle).toBe(here.bundle?.bundle);
});

const RESIZING = {
  "flows/a.ts": `import sharp from "sharp";
import { raw } from "@img/raw/deep.js";
import later from "sharper";
import wrapped from "wraps";
export const a = [sharp, raw, later, wrapped];
`,
  "node_modules/sharper/package.json": '{"name":"sharper","main":"index.js"}',
  "node_modules/sharper/index.js": "module.exports = 'bundled';",
  "node_modules/wraps/package.json": '{"name":"wraps","main":"index.js"}',
  "node_modules/wraps/index.js": "module.exports = require('sharp/lib');",
};

test("EXE-59 packages that are named stay external, with what lies in them, installed or not", async () => {
  const installed = {
    "node_modules/sharp/package.json": '{"name":"sharp","main":"index.js"}',
    "node_modules/sharp/index.js": "module.exports = 1;",
  };
  const names = ["@img/raw", "sharp"];
  const here = await bundleWorkflow(join(folderWith(RESIZING), "flows/a.ts"), names);
  const text = here.bundle?.bundle ?? "";
  expect(text).toMatch(/^import sharp from "sharp";$/m);
  expect(text).toMatch(/^import \{ raw \} from "@img\/raw\/deep\.js";$/m);
  expect(text).toContain('__require("sharp/lib")');
  expect(text).toContain('"bundled"');
  expect(here.bundle?.files.map(({ path }) => path)).toEqual(["a.ts"]);

  const path = join(folderWith({ ...RESIZING, ...installed }), "flows/a.ts");
  expect((await bundleWorkflow(path, names)).bundle?.bundle).toBe(text);
});

const TYPED = {
  "flows/order.ts": `import { workflow } from "@engine/sdk";
import type { Order } from "../shared/types.ts";
import { cents } from "./cents.ts";
export const order = workflow({ name: "order" }, async (order: Order) => cents(order.total));
`,
  "flows/cents.ts": `import { type Money } from "./money";
import { Named } from "./money";
export type { Unused } from "../shared/unused.js";
export const cents = (money: Money & Named): number => money;
`,
  "flows/money/index.ts": "export type Money = number;\nexport type Named = { name?: string };\n",
  "shared/types.ts": `import "./effect.ts";
import { schema } from "./schema";
import type { z } from "zod";
import type { Order as Again } from "../flows/order.ts";
import logo from "./logo.svg";
export * from "./items";
export type Order = z.infer<typeof schema>;
`,
  "shared/schema.mts": "export {};",
  "shared/schema.ts":
    'import { z } from "zod"; export const schema = z.object({ total: z.number() });',
  "shared/items.ts": 'export type { Item } from "./gone";',
  "shared/unused.ts": "export type Unused = 1;",
  "shared/effect.ts": "globalThis.effect = 1;",
  "shared/logo.svg": "<svg/>",
};
/** Such as carry no type. */
const NOT_SENT = ["shared/schema.mts", "shared/effect.ts", "shared/logo.svg"];

test("EXE-59 files that are imported for their types alone are sent too, as far as they lead", async () => {
  const folder = folderWith(TYPED);
  const { bundle, inputs } = await bundleWorkflow(join(folder, "flows/order.ts"));
  const sent = Object.keys(TYPED).filter((path) => !NOT_SENT.includes(path));
  expect(bundle).toMatchObject({ entry: "flows/order.ts", root: folder });
  expect(bundle?.files.map(({ path }) => path).sort()).toEqual(sent.sort());
  expect(inputs).toEqual(expect.arrayContaining(sent.map((path) => join(folder, path))));
  // Where a type would come from that is not there yet.
  expect(inputs).toContain(join(folder, "shared/gone.ts"));
});

test("a file of types, and where it lies, leaves the bytes of a bundle as they are", async () => {
  const { "flows/order.ts": entry, "flows/cents.ts": imported } = TYPED;
  const alone = folderWith({ "order.ts": entry, "cents.ts": imported });
  const untyped = await bundleWorkflow(join(alone, "order.ts"));
  const typed = await bundleWorkflow(join(folderWith(TYPED), "flows/order.ts"));
  expect(untyped.bundle?.files).toHaveLength(2);
  expect(typed.bundle?.bundle).toBe(untyped.bundle?.bundle);
});

test("a task named by its function keeps that name when two files use the same", async () => {
  const folder = folderWith({
    "a.ts": `import { other } from "./b"; export function load() {} ; export const names = [load.name, other.name];`,
    "b.ts": "function load() { return 1; } export const other = load;",
  });
  const { bundle } = await bundleWorkflow(join(folder, "a.ts"));
  const module = await import(`data:text/javascript,${encodeURIComponent(bundle?.bundle ?? "")}`);
  expect(module.names).toEqual(["load", "load"]);
});

test("a bundled CommonJS package may require a built-in module", async () => {
  const folder = folderWith({
    "a.ts": `import old from "old"; export const sep = old;`,
    "node_modules/old/package.json": '{"name":"old","main":"index.js"}',
    "node_modules/old/index.js": `module.exports = require("path").sep;`,
    "run.mjs": "",
  });
  const { bundle } = await bundleWorkflow(join(folder, "a.ts"));
  expect(bundle?.files.map(({ path }) => path)).toEqual(["a.ts"]);
  expect(bundle?.bundle).toMatch(/^import \{ createRequire as /);
});

test.each([
  ["alone", ""],
  ["behind the lines that give it require", `import old from "old"; old;`],
])(
  "a stack of a bundle, %s, names lines as the user wrote them and no folder",
  async (_, first) => {
    const folder = folderWith({
      "flows/a.ts": `${first}
import { where } from "../shared/where";
interface Unused { a: number }
console.log(where());`,
      "shared/where.ts": `// A comment that the bundle does not keep.
type Unused = 1;
export const where = (): string => new Error().stack ?? "";`,
      "node_modules/old/package.json": '{"name":"old","main":"index.js"}',
      "node_modules/old/index.js": `module.exports = require("path").sep;`,
    });
    const { bundle } = await bundleWorkflow(join(folder, "flows/a.ts"));
    const text = bundle?.bundle ?? "";
    const map = Buffer.from(text.slice(text.lastIndexOf("base64,") + 7), "base64").toString();
    expect(map).not.toContain(folder);
    expect(map).not.toContain("A comment");

    const file = join(folder, "bundle.mjs");
    writeFileSync(file, text);
    const stack = execFileSync(process.execPath, ["--enable-source-maps", file], {
      encoding: "utf8",
    });
    expect(stack).toContain("(workflow:///shared/where.ts:3:");
    expect(stack).toContain("(workflow:///flows/a.ts:4:");
  },
);

test.each([
  ["syntax_error", "const ü = 1;\nexport const a = (ü ;", { line: 2, column: 21 }],
  ["unresolved_import", 'import { x } from "./gone";\nexport { x };', { line: 1, column: 19 }],
  ["unresolved_import", 'import x from "left-pad";\nexport { x };', { line: 1, column: 15 }],
])("EXE-64 %s is reported with its place", async (rule, source, place) => {
  const file = join(folderWith({ "a.ts": source }), "a.ts");
  const { problems } = await bundleWorkflow(file);
  expect(problems).toEqual([expect.objectContaining({ rule, file, ...place })]);
});

test("a bundle names every local file that decides it, a linked entry by where it lies", async () => {
  const folder = folderWith(FILES);
  const local = Object.keys(FILES).map((path) => join(folder, path));
  symlinkSync(join(folder, "flows/checkout.ts"), join(folder, "link.ts"));
  const { bundle, inputs } = await bundleWorkflow(join(folder, "link.ts"));
  expect([...inputs].sort()).toEqual(local.sort());
  expect(bundle?.entry).toBe("flows/checkout.ts");
});

test("a refused file names where what it lacks would be found", async () => {
  const folder = folderWith({
    "flows/a.ts": 'import "../lib/gone";\nimport "@who/knows/deep";\nexport const a = 1;\n',
  });
  const { inputs } = await bundleWorkflow(join(folder, "flows/a.ts"));
  for (const path of [
    "flows/a.ts",
    "lib/gone.ts",
    "lib/gone/index.ts",
    "flows/node_modules/@who/knows/package.json",
    "node_modules/@who/knows/package.json",
  ]) {
    expect(inputs).toContain(join(folder, path));
  }
});
