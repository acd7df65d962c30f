import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { CliProcess, type CliResult } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { createHome, type Home } from "../harness/home.ts";

const ONE_LINE = /^error: [^\n]{15,}\n$/;

function startServer(home: Home, env: Record<string, string> = {}): CliProcess {
  return new CliProcess(["start", "server", "--port", "0"], {
    cwd: home.path,
    env: { ENGINE_HOME: home.file(".engine"), ...env },
  });
}

/** What every failed start looks like: exit 1 and one line that says why. */
function expectOneLine(result: CliResult, why: RegExp): void {
  expect(result.code, result.stdout + result.stderr).toBe(1);
  expect(result.stderr).toMatch(ONE_LINE);
  expect(result.stderr).toMatch(why);
}

test("a port in use stops the start with one line that names it", async () => {
  await using home = await createHome();
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as { port: number };
  try {
    const args = ["start", "server", "--port", String(port)];
    const env = { ENGINE_HOME: home.file(".engine") };
    const result = await new CliProcess(args, { cwd: home.path, env }).result();
    expectOneLine(result, new RegExp(`\\b${port}\\b`));
  } finally {
    taken.close();
  }
});

test("a second server on the same home exits 1 naming the lock; after a kill -9 the home is free", async () => {
  await using home = await createHome();
  await using first = startServer(home);
  await serverUrl(first);
  expectOneLine(await startServer(home).result(), /server\.lock/);
  await first.kill();
  await using next = startServer(home);
  await serverUrl(next);
});

test("a database file that is none stops the start with one line that names it", async () => {
  await using home = await createHome();
  await mkdir(home.file(".engine"));
  await writeFile(home.file(".engine/engine.db"), "this is not a database\n".repeat(1_000));
  expectOneLine(await startServer(home).result(), /engine\.db/);
});

test("a database that another program has locked stops the start with one line", async () => {
  await using home = await createHome();
  await mkdir(home.file(".engine"));
  const other = new DatabaseSync(home.file(".engine/engine.db"));
  try {
    other.exec("CREATE TABLE t (x); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)");
    expectOneLine(await startServer(home).result(), /locked/);
  } finally {
    other.close();
  }
});

test("EXE-96 a wrong configuration value stops the start and names the key", async () => {
  await using home = await createHome();
  const result = await startServer(home, { ENGINE_WORKERS__SLOTS: "many" }).result();
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(/ENGINE_WORKERS__SLOTS/);
});

test("a Node version below the minimum is one line that says what to do", async () => {
  await using home = await createHome();
  const old = "Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })";
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}` };
  const result = await new CliProcess(["--help"], { cwd: home.path, env }).result();
  expectOneLine(result, /needs Node 22/);
});
