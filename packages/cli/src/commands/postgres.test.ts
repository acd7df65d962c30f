/** `ENGINE_DATABASE_URL=postgres://…` is all that a user changes: real processes, a real server. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

vi.setConfig({ testTimeout: 60_000 });

const BIN = fileURLToPath(new URL("../../bin/engine.js", import.meta.url));
const FLOWS = `
import { pause, task, workflow } from "@engine/sdk";
const greet = task({ name: "greet" }, async (name: string) => "Hello, " + name);
export const hello = workflow({ name: "hello" }, async (name: string) => greet(name));
export const review = workflow({ name: "review" }, async () => await pause("approve"));
`;

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

async function folderOnPostgres() {
  const folder = temporaryFolder({ "flows.ts": FLOWS });
  onTestFinished(() => folder.remove());
  const url = await postgres.createDatabase();
  const env = { PATH: process.env["PATH"], ENGINE_DATABASE_URL: url };
  return { cwd: folder.path, url, env };
}

type Place = Awaited<ReturnType<typeof folderOnPostgres>>;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function engine({ cwd, env }: Place, args: readonly string[], more = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...env, ...more } };
    execFile(process.execPath, [BIN, ...args], options, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

/** Starts a command that stays; resolves with all of its output once that holds the pattern. */
async function started({ cwd, env }: Place, args: readonly string[], until: RegExp) {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let printed = "";
  const found = new Promise<RegExpExecArray>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        const match = until.exec(printed);
        if (match) resolve(match);
      });
    }
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${printed}`)));
  });
  const match = await found;
  return { match, child, ended, printed: () => printed };
}

const placeOf = (url: string) => `postgres://${new URL(url).host}${new URL(url).pathname}`;

test("`engine exec` keeps its runs in the PostgreSQL database that the environment names", async () => {
  const place = await folderOnPostgres();
  expect(await engine(place, ["exec", "flows.ts", "hello", '"World"'])).toMatchObject({
    code: 0,
    out: '"Hello, World"\n',
  });
  const paused = await engine(place, ["exec", "flows.ts", "review"]);
  const [, id = ""] = /--execution-id (\S+)/.exec(paused.err) ?? [];
  const resumed = await engine(place, ["exec", "flows.ts", "review", "7", "--execution-id", id]);
  expect(resumed).toMatchObject({ code: 0, out: "7\n" });
  const store = await openStore(place.url);
  onTestFinished(() => store.close());
  const page = await store.executions.list({ order: "created_asc", limit: 10, offset: 0 });
  expect(page.items.map(({ workflow, state }) => [workflow, state])).toEqual([
    ["hello", "COMPLETED"],
    ["review", "COMPLETED"],
  ]);
  expect(existsSync(join(place.cwd, ".engine/engine.db"))).toBe(false);
});

test("`engine dev` runs on it, and shows the database without its password", async () => {
  const place = await folderOnPostgres();
  const args = ["dev", "--port", "0", "--no-watch"];
  const dev = await started(place, args, /server +(http:\S+)[\s\S]*Try, in another terminal/);
  const [, serverUrl = ""] = dev.match;
  const ran = await engine(place, ["workflow", "run", "hello", '"World"', "--mode", "sync"], {
    ENGINE_SERVER_URL: serverUrl,
  });
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("Hello, World") });
  dev.child.kill("SIGTERM");
  expect(await dev.ended).toEqual([0, null]);
  expect(dev.printed()).toContain(`database   ${placeOf(place.url)}`);
  expect(dev.printed()).not.toContain("test-secret");
});

test("two servers of one home folder run on it side by side", async () => {
  const place = await folderOnPostgres();
  const args = ["start", "server", "--port", "0"];
  const ready = /engine server on (http:\S+), database (\S+)\n/;
  const [a, b] = [await started(place, args, ready), await started(place, args, ready)];
  for (const server of [a, b]) {
    const [, url = "", database] = server.match;
    expect(database).toBe(placeOf(place.url));
    const health = await engine(place, ["health", "--server-url", url, "--format", "json"]);
    expect(JSON.parse(health.out)).toMatchObject({ database: "postgres" });
  }
  for (const { child, ended, printed } of [a, b]) {
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(printed()).not.toContain("test-secret");
  }
});

test.each([
  ["start", "server", "--port", "0"],
  ["dev", "--port", "0", "--no-watch"],
  ["exec", "flows.ts", "hello", '"World"'],
])(
  "`engine %s` with a database URL of an unknown scheme is one line that names the key",
  async (...args) => {
    const place = await folderOnPostgres();
    const url = "mysql://ann:test-secret@db.internal/engine";
    const { code, out, err } = await engine(place, args, { ENGINE_DATABASE_URL: url });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      /^error: database_url: expected a database URL [^\n]*begins with mysql:\n$/,
    );
  },
);

test("`engine start server --database-url` wins over the environment", async () => {
  const place = await folderOnPostgres();
  const args = ["start", "server", "--port", "0", "--database-url", place.url];
  const env = { ...place.env, ENGINE_DATABASE_URL: "mysql://nobody/nothing" };
  const server = await started({ ...place, env }, args, /database (\S+)\n/);
  expect(server.match[1]).toBe(placeOf(place.url));
});
