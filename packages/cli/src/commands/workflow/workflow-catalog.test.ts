import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Config } from "@engine/contract";
import { type Server, startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A server, and the command line of a user of it in a folder of their own. */
async function startCatalog() {
  const clock = Date.now;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  const config = Config.parse({ server: { port: 0 } });
  const server: Server = await startServer({ config, store, log: silent, version: "1.2.3" });
  const folder = temporaryFolder({});
  onTestFinished(async () => {
    await server.close();
    await store.close();
    folder.remove();
  });
  return {
    cwd: folder.path,
    async register(name: string, result: number, namespace = "shop") {
      const source = `import { workflow } from "@engine/sdk";
/** Gives ${name}. */
export const it = workflow({ name: "${name}", namespace: "${namespace}" }, async () => ${result});
`;
      const response = await fetch(`${server.url}/workflows`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ source }),
      });
      expect(response.status).toBe(201);
    },
    /** Runs `engine workflow …`; `answer` is what the user says when asked. */
    async workflow(args: readonly string[], answer?: boolean) {
      const asked: string[] = [];
      const io = capturedIo({
        cwd: folder.path,
        env: { ENGINE_SERVER_URL: server.url },
        confirm: async (question) => {
          asked.push(question);
          return answer;
        },
      });
      const code = await runCli(["workflow", ...args], io);
      return { code, out: io.printed(), err: io.complained(), asked };
    },
  };
}

test("EXE-70 EXE-95 delete asks, says what goes and what stays, and deletes on a yes only", async () => {
  const { register, workflow } = await startCatalog();
  for (const result of [1, 2]) await register("order", result);
  const no = await workflow(["delete", "shop/order", "--version", "2"], false);
  expect(no).toMatchObject({ code: 1, out: "", err: "Nothing was deleted.\n" });
  expect(no.asked).toEqual([
    `This deletes version 2 of shop/order: new runs use version 1, unless they ask for another.
Executions that were created before keep the code of their version and go on.
Delete it?`,
  ]);
  const yes = await workflow(["delete", "shop/order", "--version", "2"], true);
  expect(yes).toMatchObject({ code: 0, err: "" });
  expect(yes.out).toMatch(/^Deleted version 2 of shop\/order: /);
  expect((await workflow(["versions", "shop/order"])).out).not.toMatch(/^2 /m);
  const last = await workflow(["delete", "shop/order", "--version", "1"], false);
  expect(last.asked[0]).toMatch(/it is the only one, and new runs are refused/);
});

test("EXE-95 delete with neither a terminal nor --yes is a usage error that says what it would do", async () => {
  const { register, workflow } = await startCatalog();
  for (const result of [1, 2]) await register("order", result);
  const refused = await workflow(["delete", "shop/order"]);
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.err).toMatch(
    /^error: This deletes shop\/order: all its 2 versions go, and new runs are refused\. Add --yes/,
  );
  expect((await workflow(["list"])).out).toContain("shop/order");

  const deleted = await workflow(["delete", "shop/order", "--yes", "--format", "json"]);
  expect(deleted).toMatchObject({ code: 0, asked: [] });
  expect(JSON.parse(deleted.out)).toEqual({ namespace: "shop", name: "order", version: null });
  expect((await workflow(["namespaces"])).out).toMatch(/No namespaces yet/);
});

test("EXE-70 deleting what is unknown is one clear line, and asks nothing", async () => {
  const { register, workflow } = await startCatalog();
  await register("order", 1);
  for (const [args, message] of [
    [["bye"], "error: no workflow default/bye; see all of them with: npx engine workflow list\n"],
    [["shop/order", "--version", "7"], "error: no version 7 of shop/order\n"],
  ] as const) {
    expect(await workflow(["delete", ...args], true)).toMatchObject({
      code: 1,
      err: message,
      asked: [],
    });
  }
  expect((await workflow(["delete", "shop/order", "--version", "0"])).code).toBe(2);
});

test("EXE-90 EXE-95 types writes declarations of the catalog to a file, or prints them", async () => {
  const { cwd, register, workflow } = await startCatalog();
  await register("order", 1);
  await register("hello", 1, "default");
  const written = await workflow(["types", "--out", "workflows.d.ts"]);
  expect(written).toMatchObject({ code: 0, out: "Wrote 2 workflows to workflows.d.ts\n" });
  const declarations = readFileSync(`${cwd}/workflows.d.ts`, "utf8");
  expect(declarations).toContain(`export interface Workflows {
  /** Gives hello. */
  readonly "default/hello": {
    readonly "~input"?: unknown;
    readonly "~output"?: number;
  };
  /** Gives order. */
  readonly "shop/order": {`);
  expect((await workflow(["types", "--out", "-"])).out).toBe(declarations);

  const shop = await workflow(["types", "-n", "shop", "--out", "-", "--format", "json"]);
  expect(JSON.parse(shop.out)).toMatchObject({
    file: null,
    workflows: ["shop/order"],
    declarations: expect.not.stringContaining("default/hello"),
  });
});

test("EXE-95 types without --out, or to a file that cannot be written, is a usage error", async () => {
  const { cwd, workflow } = await startCatalog();
  expect(await workflow(["types"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/required option '--out <file>'/),
  });
  expect(await workflow(["types", "--out", "gone/workflows.d.ts"])).toMatchObject({
    code: 2,
    err: "error: --out gone/workflows.d.ts: the file cannot be written (ENOENT)\n",
  });
  expect(existsSync(`${cwd}/gone`)).toBe(false);
});

/** The text of a file with one workflow. */
function fileOf(name: string, body = "async () => 1"): string {
  return `import { workflow } from "@engine/sdk";
export const it = workflow({ name: "${name}" }, ${body});
`;
}

test("EXE-95 a folder is registered with all workflow files in it, each with a line, and a summary", async () => {
  const { cwd, workflow } = await startCatalog();
  mkdirSync(`${cwd}/src/more`, { recursive: true });
  writeFileSync(`${cwd}/src/a.ts`, fileOf("a"));
  writeFileSync(`${cwd}/src/a.test.ts`, fileOf("tested"));
  writeFileSync(`${cwd}/src/helper.ts`, "export const one = 1;");
  writeFileSync(`${cwd}/src/more/b.ts`, fileOf("b"));
  const registered = await workflow(["register", "src"]);
  expect(registered).toMatchObject({ code: 0, err: "" });
  expect(registered.out.split("\n").map((line) => line.replace(/ {2,}/g, "  "))).toEqual([
    "FILE  WORKFLOW  VERSION  RESULT  TASKS",
    "src/a.ts  a  1  created",
    "src/more/b.ts  b  1  created",
    "2 files, 2 workflows created, 0 unchanged",
    "",
  ]);

  writeFileSync(`${cwd}/src/more/b.ts`, fileOf("b").replace("export ", ""));
  const refused = await workflow(["register", "src"]);
  expect(refused.code).toBe(1);
  expect(refused.out).toMatch(/^src\/more\/b\.ts +refused$/m);
  expect(refused.out).toContain("2 files, 0 workflows created, 1 unchanged, 1 file refused\n");
  expect(refused.err).toMatch(/src\/more\/b\.ts:2:12 not_exported/);
  expect(refused.err).toContain(
    "error: 1 of 2 files cannot be registered; nothing of it was saved",
  );
});

test("EXE-95 a file that is missing, and a folder without workflows, are one line that says what to do", async () => {
  const { cwd, workflow } = await startCatalog();
  expect(await workflow(["register", "nope.ts"])).toMatchObject({
    code: 2,
    out: "",
    err: `error: nope.ts does not exist (looked for ${cwd}/nope.ts); correct the path, or name the folder that the file is in\n`,
  });
  mkdirSync(`${cwd}/empty`);
  expect(await workflow(["register", "empty"])).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringMatching(/^error: empty has no workflow file: TypeScript that imports .*\n$/),
  });
});

test("EXE-90 EXE-95 show prints what goes in and what comes out", async () => {
  const { cwd, workflow } = await startCatalog();
  const body =
    "async (order: { id: string; tags?: string[] }): Promise<{ ok: boolean }> => ({ ok: true })";
  writeFileSync(`${cwd}/a.ts`, fileOf("a", body));
  expect((await workflow(["register", "a.ts"])).code).toBe(0);
  const { out } = await workflow(["show", "a"]);
  expect(out).toContain(`  input        {
                 id: string
                 tags?: string[]
               }
  output       {
                 ok: boolean
               }
`);
});
