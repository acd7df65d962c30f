import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { openSqliteStore, type Store, type StoreMethod } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";
import { ensureFirstAdmin } from "./first-admin.ts";
import { newSecretToken } from "./secret-token.ts";
import { adminKeyIn, guardedServer, homeFolder } from "./testing/guarded-server.ts";

let made = 0;

async function openStore(): Promise<Store> {
  const clock = Date.now;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  onTestFinished(() => store.close());
  return store;
}

/** A start on a store, with what it logs. */
function start(store: Store, home: string, lines: string[] = []): Promise<void> {
  const log = (fields: object, message: string) =>
    void lines.push(JSON.stringify([fields, message]));
  return ensureFirstAdmin({
    store,
    config: Config.parse({ home, security: { auth: { enabled: true } } }),
    ids: () => `id-${++made}`,
    token: () => `secret-${++made}`,
    log: { debug: log, info: log, warn: log, error: log },
  });
}

test("AUTH-4 the key lies in a file that only its owner reads, and nowhere in the log", async () => {
  const [store, home, lines] = [await openStore(), homeFolder(), [] as string[]];
  await start(store, home, lines);
  const key = adminKeyIn(home) ?? "";
  expect(key).toMatch(/^engine_sk_/);
  expect(statSync(join(home, "admin-key")).mode & 0o777).toBe(0o600);
  expect(readdirSync(home)).toEqual(["admin-key"]);
  expect(lines).toHaveLength(1);
  expect(lines.join()).not.toContain(key);
  expect(await store.identities.hasAdmin({ api_keys: true, oidc_issuer: null })).toBe(true);
});

test("AUTH-4 a later start changes nothing, also where the file was taken away", async () => {
  const [store, home] = [await openStore(), homeFolder()];
  await start(store, home);
  const key = adminKeyIn(home);
  await start(store, home);
  expect(adminKeyIn(home)).toBe(key);
  const elsewhere = homeFolder();
  await start(store, elsewhere);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("AUTH-4 of servers that start at once on one database one makes the admin, and its file has the key", async () => {
  const store = await openStore();
  const [shared, own] = [homeFolder(), homeFolder()];
  await Promise.all([start(store, shared), start(store, shared), start(store, own)]);
  const keys = [adminKeyIn(shared), adminKeyIn(own)].filter((key) => key !== undefined);
  expect(keys).toHaveLength(1);
  const found = await store.identities.findByKey((keys[0] ?? "").slice(10, 22));
  expect(found?.principal.subject).toBe("admin");
  expect([...readdirSync(shared), ...readdirSync(own)]).toEqual(["admin-key"]);
});

test("AUTH-4 a start that died before the store knew the key is made good by the next", async () => {
  await using t = await TestEngine.start();
  const home = homeFolder();
  const failing: StoreMethod = "identities.makeFirstAdmin";
  t.failing.add(failing);
  await expect(start(t.breakable, home)).rejects.toMatchObject({ code: "unavailable" });
  expect(adminKeyIn(home)).toBeUndefined();
  t.failing.delete(failing);
  await start(t.breakable, home);
  const found = await t.store.identities.findByKey((adminKeyIn(home) ?? "").slice(10, 22));
  expect(found?.principal).toMatchObject({ subject: "admin", roles: ["admin"] });
  expect(readdirSync(home)).toEqual(["admin-key"]);
});

test("AUTH-4 a start that died before the key was at its place is made good by the next", async () => {
  const [store, home] = [await openStore(), homeFolder()];
  const { id, token, secret_hash } = newSecretToken("engine_sk", { token: () => "died" });
  writeFileSync(join(home, `admin-key.${id}.new`), `${token}\n`, { mode: 0o600 });
  const logins = { api_keys: true, oidc_issuer: null };
  await store.identities.makeFirstAdmin({ id: "p1", key: { id, secret_hash }, logins });
  await start(store, home);
  expect(adminKeyIn(home)).toBe(token);
  expect(readdirSync(home)).toEqual(["admin-key"]);
});

test("AUTH-4 AUTH-22 an admin that may not come in is left alone, and another one is made", async () => {
  const { server, store, home, ask, adminKey } = await guardedServer();
  const create = (subject: string, roles: string[]) =>
    ask("/admin/principals", adminKey, { subject, type: "service_account", roles });
  await create("admin-2", ["viewer"]);
  await server.close();
  const write = {
    logins: { api_keys: false, oidc_issuer: null },
    confer: () => undefined,
    entry: {
      ...{ id: "a", at: 0, actor: null, credential: null, via_execution: null, changes: null },
      ...{ action: "x", target: "admin", decision: "allow" as const, permissions: [] },
      ...{ reason: null, client_address: null, request_id: null },
    },
  };
  const [admin] = await store.principals.findBySubject("admin");
  await store.principals.change(admin?.id ?? "", () => ({ enabled: false }), write);
  await start(store, home);
  expect(adminKeyIn(home)).not.toBe(adminKey);
  const found = await store.identities.findByKey((adminKeyIn(home) ?? "").slice(10, 22));
  expect(found?.principal).toMatchObject({ subject: "admin-3", roles: ["admin"] });
  const all = await store.identities.findBySubject("admin", "engine");
  expect(all).toMatchObject({ enabled: false, roles: ["admin"] });
});

test("AUTH-4 without API keys no service account is made", async () => {
  const [store, home] = [await openStore(), homeFolder()];
  const oidc = { enabled: true, issuer: "https://id.example", audience: "engine" };
  const auth = { api_keys: { enabled: false }, oidc };
  await guardedServer({ store, home, auth });
  expect(existsSync(join(home, "admin-key"))).toBe(false);
  expect(await store.identities.findBySubject("admin", "engine")).toBeUndefined();
});

test("AUTH-3 a key file that others may read is closed to them, with a warning", async () => {
  const [store, home] = [await openStore(), homeFolder()];
  const first = await guardedServer({ store, home });
  await first.server.close();
  chmodSync(join(home, "admin-key"), 0o644);
  const warnings: string[] = [];
  const ignore = () => undefined;
  const warn = (_: object, message: string) => void warnings.push(message);
  await guardedServer({ store, home, log: { debug: ignore, info: ignore, error: ignore, warn } });
  expect(statSync(join(home, "admin-key")).mode & 0o777).toBe(0o600);
  expect(warnings).toEqual([expect.stringContaining("could be read by others")]);
});
