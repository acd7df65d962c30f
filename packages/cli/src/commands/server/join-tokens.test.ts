/** Join tokens that are asked of a server, from another machine (AUTH-54). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@engine/client";
import { Config, createUuidV7, WORKER_PROTOCOL } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A server with authorization on, and a machine that has nothing of it but its address. */
async function remote() {
  const folder = temporaryFolder({});
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock: Date.now });
  const home = join(folder.path, "server");
  const config = Config.parse({ home, server: { port: 0 }, security: { auth: { enabled: true } } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  onTestFinished(async () => {
    await server.close();
    await store.close();
    folder.remove();
  });
  const token = readFileSync(join(home, "admin-key"), "utf8").trim();
  const own = join(folder.path, "own");
  const engineAs = async (ENGINE_AUTH_TOKEN: string, ...args: string[]) => {
    const env = { ENGINE_HOME: own, HOME: folder.path, ENGINE_AUTH_TOKEN };
    const io = capturedIo({ cwd: folder.path, env });
    const code = await runCli(["server", ...args, "--server-url", server.url], io);
    return { code, out: io.printed(), err: io.complained() };
  };
  const engine = (...args: string[]) => engineAs(token, ...args);
  const client = createClient({ baseUrl: server.url, token });
  const actions = async () => {
    const { items } = await client.audit.list({ query: { actor: "admin" } });
    return items.map(({ action, target }) => `${action} ${target}`);
  };
  return { server, client, own, engine, engineAs, actions };
}

/** What registering a name with a token is answered with. */
async function registered(baseUrl: string, name: string, token: string): Promise<string> {
  const { workers } = createClient({ baseUrl, token });
  const body = {
    ...{ name, instance_id: createUuidV7(Date.now, () => crypto.randomUUID())() },
    ...{ protocol: WORKER_PROTOCOL, engine_version: "1.2.3", host: "here", pid: 1 },
    runtime: { os: "linux", arch: "x64", node: "24" },
  };
  return workers.register({ body }).then(
    () => "joined",
    ({ code }) => code,
  );
}

test("AUTH-54 AUTH-60 join tokens are made, listed and revoked on a server that is named, and its own store stays untouched", async () => {
  const { server, own, engine, actions } = await remote();
  const made = await engine("join-token", "--ttl", "600", "--subject", "gpu-1");
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^engine_jt_\S+\n$/) });
  expect(made.err).toMatch(/^expires at \d{4}-\S+\n$/);
  const left = Date.parse(made.err.trim().slice("expires at ".length)) - Date.now();
  expect(left).toBeGreaterThan(500_000);
  expect(left).toBeLessThanOrEqual(600_000);

  const json = await engine("join-token", "--format", "json");
  const unbound = JSON.parse(json.out);
  expect(unbound).toMatchObject({ subject: null, token: expect.stringMatching(/^engine_jt_/) });
  const listed = JSON.parse((await engine("join-tokens", "--format", "json")).out);
  expect(listed).toMatchObject({ total: 2, items: [{ id: unbound.id, created_by: "admin" }, {}] });
  const table = await engine("join-tokens");
  expect(table.out).toContain("gpu-1");
  expect(table.out).toContain("any new name");
  expect(table.out + JSON.stringify(listed)).not.toContain("engine_jt_");

  // A worker joins by what stood on standard output, once.
  const token = made.out.trim();
  expect(await registered(server.url, "gpu-2", token)).toBe("unauthenticated");
  expect(await registered(server.url, "gpu-1", token)).toBe("joined");
  expect(await registered(server.url, "gpu-1", token)).toBe("unauthenticated");

  expect(await engine("revoke-join-token", "--id", unbound.id)).toMatchObject({ code: 0, out: "" });
  const again = await engine("revoke-join-token", "--id", unbound.id);
  expect([again.code, again.err]).toEqual([1, `error: no join token ${unbound.id}\n`]);
  expect(await registered(server.url, "gpu-3", unbound.token)).toBe("unauthenticated");
  const bound = (await engine("join-token", "--subject", "gpu-4")).out.trim();
  expect(await engine("revoke-join-token", "--subject", "gpu-4")).toMatchObject({ code: 0 });
  expect(await registered(server.url, "gpu-4", bound)).toBe("unauthenticated");

  expect((await actions()).filter((row) => row.startsWith("joinTokens."))).toEqual([
    "joinTokens.revokeFor gpu-4",
    expect.stringMatching(/^joinTokens\.create /),
    `joinTokens.revoke ${unbound.id}`,
    `joinTokens.create ${unbound.id}`,
    expect.stringMatching(/^joinTokens\.create /),
  ]);
  expect(existsSync(own)).toBe(false);
});

test("AUTH-10 AUTH-54 who may not manage workers is told what is missing, and gets no token", async () => {
  const { client, engineAs } = await remote();
  await client.principals.create({
    body: { subject: "bot", type: "service_account", roles: ["operator"] },
  });
  const { key } = await client.principals.createKey({
    params: { subject: "bot" },
    body: { name: "k" },
  });
  for (const args of [["join-token"], ["join-tokens"], ["revoke-join-token", "--subject", "x"]]) {
    const { code, out, err } = await engineAs(key, ...args);
    expect([code, out], args[0]).toEqual([1, ""]);
    expect(err).toContain("admin:workers:manage");
    expect(err).not.toContain(key);
  }
});

test("AUTH-54 AUTH-60 a server and a database at once are a usage error, and so is what a server would refuse", async () => {
  const { engine } = await remote();
  for (const command of [["join-token"], ["join-tokens"], ["revoke-join-token", "--id", "x"]]) {
    const both = await engine(...command, "--database-url", "sqlite:x.db");
    expect([both.code, both.out], command[0]).toEqual([2, ""]);
    expect(both.err).toContain("--database-url");
  }
  expect((await engine("join-token", "--ttl", "59")).code).toBe(2);
});
