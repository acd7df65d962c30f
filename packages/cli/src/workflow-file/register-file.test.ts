import { join } from "node:path";
import { createClient } from "@engine/client";
import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { type RegisterOutcome, registerFile } from "./register-file.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Registers files that lie in folders of their own, all with one server. */
async function startRegistrar() {
  const store = await openSqliteStore({
    path: ":memory:",
    synchronous: "normal",
    clock: Date.now,
  });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  onTestFinished(async () => {
    await server.close();
    await store.close();
  });
  const client = createClient({ baseUrl: server.url });
  return {
    /** Registers `a.ts` of these files. */
    async register(files: Record<string, string>) {
      const folder = temporaryFolder(files);
      onTestFinished(() => folder.remove());
      return { folder: folder.path, ...(await registerFile(join(folder.path, "a.ts"), client)) };
    },
    async versions() {
      return (await client.catalog.versions({ params: { ns: "default", wf: "a" } })).total;
    },
  };
}

function bundleOf(outcome: RegisterOutcome): string {
  expect(outcome.problems).toEqual([]);
  return outcome.registered ? outcome.bundle : "";
}

const installed = (name: string, text: string) => ({
  [`node_modules/${name}/package.json`]: `{"name":"${name}","main":"index.js"}`,
  [`node_modules/${name}/index.js`]: text,
});

const A = `import { workflow } from "@engine/sdk";
import sharp from "sharp";
import { packages } from "./needs";
export const a = workflow({ name: "a", requests: { packages } }, async () => sharp);
`;
const SHARP = {
  "a.ts": A,
  "needs.ts": 'export const packages = ["zod@^4", "sharp@^0.33"];\n',
};

test("EXE-59 RES-1 what a workflow requests is left to the worker, wherever the file says so", async () => {
  const { register, versions } = await startRegistrar();
  const outcome = await register(SHARP);
  expect(bundleOf(outcome)).toContain('import sharp from "sharp"');
  expect(outcome.registered?.items).toMatchObject([
    { version: 1, requests: { packages: ["zod@^4", "sharp@^0.33"] } },
  ]);
  // Whatever the project has installed: equal sources are the same version.
  const elsewhere = await register({ ...SHARP, ...installed("sharp", "module.exports = 1;") });
  expect(bundleOf(elsewhere)).toBe(bundleOf(outcome));
  expect(elsewhere.registered?.items).toMatchObject([{ version: 1, created: false }]);
  expect(await versions()).toBe(1);
});

test("EXE-59 what no workflow requests is bundled, and refused at its line when it is not installed", async () => {
  const { register } = await startRegistrar();
  const other = 'export const packages = ["zod@^4"];\n';
  const files = { "a.ts": A, "needs.ts": other };
  const outcome = await register({ ...files, ...installed("sharp", "module.exports = 'inside';") });
  expect(bundleOf(outcome)).toContain('"inside"');
  const { folder, registered, problems } = await register(files);
  expect(registered).toBeUndefined();
  expect(problems).toMatchObject([
    { file: join(folder, "a.ts"), line: 2, column: 19, rule: "unresolved_import" },
  ]);
});

test("EXE-59 EXE-64 a request that cannot be read is refused at its line, before anything is bundled", async () => {
  const { register, versions } = await startRegistrar();
  const { folder, registered, problems } = await register({
    ...SHARP,
    "needs.ts": "export const packages = [process.env.PACKAGE];\n",
  });
  expect(registered).toBeUndefined();
  expect(problems).toEqual([
    expect.objectContaining({ file: join(folder, "needs.ts"), line: 1, rule: "not_static" }),
  ]);
  await expect(versions()).rejects.toThrow(/default\/a/);
});

test("EXE-59 one file has one bundle: what any of its workflows requests is left to the worker", async () => {
  const { register } = await startRegistrar();
  const outcome = await register({
    "a.ts": `${A}export const b = workflow({ name: "b" }, async () => 1);\n`,
    "needs.ts": SHARP["needs.ts"],
  });
  expect(bundleOf(outcome)).toContain('import sharp from "sharp"');
  expect(outcome.registered?.items).toHaveLength(2);
});
