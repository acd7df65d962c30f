import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A server that asks who calls, its first admin's key, and a user's command line. */
async function start() {
  const folder = temporaryFolder({});
  const store = await openSqliteStore({
    path: ":memory:",
    synchronous: "normal",
    clock: Date.now,
  });
  const config = Config.parse({
    home: join(folder.path, "engine"),
    server: { port: 0 },
    security: { auth: { enabled: true } },
  });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  onTestFinished(async () => {
    await server.close();
    await store.close();
    folder.remove();
  });
  const env = { HOME: folder.path, ENGINE_SERVER_URL: server.url };
  const engine = async (
    args: readonly string[],
    { stdin = "", token }: { stdin?: string; token?: string } = {},
  ) => {
    const io = capturedIo({
      cwd: folder.path,
      env: token === undefined ? env : { ...env, ENGINE_AUTH_TOKEN: token },
      readStdin: async () => stdin,
      now: Date.now,
    });
    const code = await runCli([...args], io);
    return { code, out: io.printed(), err: io.complained() };
  };
  const key = readFileSync(join(config.home, "admin-key"), "utf8");
  const kept = join(folder.path, ".engine", "credentials.json");
  return { engine, key, kept, url: server.url };
}

test("AUTH-60 a key from standard input is kept for the server, sent by every command, and forgotten", async () => {
  const { engine, key, kept, url } = await start();
  const refused = await engine(["execution", "list"]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("Authorization");
  expect((await engine(["auth", "status"])).out).toBe(`Not logged in to ${url}.\n`);

  expect(await engine(["auth", "login", "--api-key"], { stdin: key })).toMatchObject({
    code: 0,
    out: `Logged in to ${url}.\n`,
  });
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect((await engine(["execution", "list"])).code).toBe(0);
  expect((await engine(["auth", "whoami"])).out).toBe("admin (service_account, admin) may\n  *\n");
  expect((await engine(["auth", "status"])).out).toBe(`Logged in to ${url} by api_key.\n`);

  expect((await engine(["auth", "logout"])).code).toBe(0);
  expect((await engine(["execution", "list"])).code).toBe(1);
});

test("AUTH-60 a key that the server refuses is not kept, and neither is none", async () => {
  const { engine, key } = await start();
  const wrong = `${key.trim().slice(0, -2)}xx`;
  expect((await engine(["auth", "login", "--api-key"], { stdin: wrong })).code).toBe(1);
  expect((await engine(["auth", "login", "--api-key"])).code).toBe(2);
  expect((await engine(["auth", "login", "--api-key", key])).code).toBe(2);
  expect(await engine(["auth", "status", "--format", "json"])).toMatchObject({
    out: expect.stringContaining('"auth_method": "none"'),
  });
});

test("AUTH-60 the token of the environment wins, and a check exits 1 for what is not held", async () => {
  const { engine, key } = await start();
  const token = key.trim();
  const status = await engine(["auth", "status", "--format", "json"], { token });
  expect(JSON.parse(status.out)).toMatchObject({ logged_in: true, auth_method: "env_token" });
  expect(await engine(["auth", "check", "admin:roles:read"], { token })).toMatchObject({
    code: 0,
    out: "yes  admin:roles:read\n",
  });
  expect((await engine(["auth", "check", "admin:roles:read"])).code).toBe(1);
});

test("AUTH-61 a server without a provider is told to be logged in to with a key", async () => {
  const { engine } = await start();
  const { code, err } = await engine(["auth", "login"]);
  expect(code).toBe(1);
  expect(err).toContain("--api-key");
});
