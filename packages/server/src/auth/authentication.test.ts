import { request } from "node:http";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type GuardedServer, guardedServer } from "./testing/guarded-server.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 300);
vi.setConfig({ testTimeout: 60_000 + numRuns * 20 });

/** A service account with a role and a key. */
async function account(
  { ask, adminKey }: GuardedServer,
  { subject = "bot", roles = ["viewer"], key = {} as object } = {},
): Promise<string> {
  const type = "service_account";
  const made = await ask("/admin/principals", adminKey, { subject, type, roles });
  expect(made.status).toBe(201);
  const minted = await ask(`/admin/principals/${subject}/keys`, adminKey, { name: "k", ...key });
  expect(minted.status).toBe(201);
  return minted.body.key;
}

/** Sends headers as they are, which `fetch` would join. */
async function raw(url: string, headers: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: ["host", "localhost", ...headers] }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });
}

const reasonOf = ({ body }: Awaited<ReturnType<GuardedServer["ask"]>>) => body.error.details.reason;

test("AUTH-4 AUTH-9 with the key in the file an admin is let in, and nobody without", async () => {
  const { adminKey = "", ask } = await guardedServer();
  expect(adminKey).toMatch(/^engine_sk_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  expect((await ask("/executions", adminKey)).status).toBe(200);
  const missing = await ask("/executions");
  expect(missing).toMatchObject({ status: 401, body: { error: { code: "unauthenticated" } } });
  expect(reasonOf(missing)).toBe("missing");
  expect(missing.headers.get("www-authenticate")).toBe('Bearer realm="engine"');
  const invalid = await ask("/executions", `${adminKey}x`);
  expect(reasonOf(invalid)).toBe("invalid");
  expect(invalid.headers.get("www-authenticate")).toContain('error="invalid_token"');
});

test("AUTH-9 AUTH-11 unknown, wrong and turned off credentials are told by one text, shapeless ones by another", async () => {
  const { adminKey = "", ask } = await guardedServer();
  const unknown = `engine_sk_000000000000${adminKey.slice(22)}`;
  const messages = new Set<string>();
  for (const token of [unknown, `${adminKey}x`, "a.b.c", "engine_et_a.b.c", "engine_jt_a"]) {
    const refused = await ask("/executions", token);
    expect([token, refused.status, reasonOf(refused)]).toEqual([token, 401, "invalid"]);
    messages.add(refused.body.error.message);
  }
  expect(messages.size).toBe(1);
  for (const token of ["", "x", "engine_sk_x", `${adminKey}!`]) {
    expect(reasonOf(await ask("/executions", token))).toBe("malformed");
  }
});

test("AUTH-8 two credentials are refused, and none is read from elsewhere", async () => {
  const { server, adminKey, ask } = await guardedServer();
  const bearer = `Bearer ${adminKey}`;
  const url = `${server.url}/executions`;
  expect(await raw(url, ["authorization", bearer])).toBe(200);
  expect(await raw(url, ["authorization", bearer, "Authorization", bearer])).toBe(400);
  expect(await raw(url, ["cookie", `authorization=${bearer}; token=${adminKey}`])).toBe(401);
  expect((await ask(`/executions?access_token=${adminKey}`)).status).toBe(401);
});

test("AUTH-5 AUTH-59 an open route looks at no credential", async () => {
  const { server, ask } = await guardedServer();
  expect((await ask("/health", "nonsense")).status).toBe(200);
  expect((await ask("/auth/config", "nonsense")).body).toEqual({
    auth_enabled: true,
    api_keys: true,
    oidc: null,
  });
  const twice = ["authorization", "x", "authorization", "y"];
  expect(await raw(`${server.url}/health`, twice)).toBe(200);
});

test("AUTH-5 no route, a too large body and a refused caller are answered in this order", async () => {
  const { server, ask } = await guardedServer();
  expect((await ask("/nowhere/at/all/of/these")).status).toBe(404);
  const refused = await fetch(`${server.url}/auth/check`, { method: "POST", body: "{" });
  expect(refused.status).toBe(401);
  const large = await fetch(`${server.url}/auth/check`, {
    method: "POST",
    body: "x".repeat(2_000_000),
  });
  expect(large.status).toBe(413);
});

test("AUTH-10 AUTH-11 AUTH-49 a key is of no use on the routes of workers, once it is proven", async () => {
  const { ask, adminKey = "" } = await guardedServer();
  const refused = await ask("/workers/w/heartbeat", adminKey, {});
  expect(refused).toMatchObject({
    status: 403,
    body: { error: { code: "permission_denied", details: { reason: "credential_kind" } } },
  });
  expect((await ask("/workers/w/heartbeat", `${adminKey}x`, {})).status).toBe(401);
});

test("AUTH-2 with authorization off a credential is ignored, valid or not, and everybody is anonymous", async () => {
  const { server, adminKey, ask } = await guardedServer({ auth: {} });
  expect(adminKey).toBeUndefined();
  expect((await ask("/executions", "nonsense")).status).toBe(200);
  const twice = ["authorization", "x", "authorization", "y"];
  expect(await raw(`${server.url}/executions`, twice)).toBe(200);
  expect((await ask("/auth/config")).body.auth_enabled).toBe(false);
  expect((await ask("/auth/whoami")).body).toEqual({
    ...{ subject: "anonymous", issuer: "engine", type: null, roles: [], permissions: ["*"] },
    ...{ credential: null, auth_enabled: false },
  });
});

test("AUTH-1 a provider that is set to true turns authorization on", async () => {
  const { ask } = await guardedServer({ auth: { api_keys: { enabled: true } } });
  expect((await ask("/executions")).status).toBe(401);
});

test("AUTH-10 a viewer reads, and is told what it lacks", async () => {
  const t = await guardedServer();
  const key = await account(t);
  expect((await t.ask("/executions", key)).status).toBe(200);
  const refused = await t.ask("/workflows/default/none/run/async", key, {});
  expect(refused).toMatchObject({ status: 403, body: { error: { code: "permission_denied" } } });
  expect(refused.body.error.details).toEqual({
    missing_permissions: ["workflow:default:none:run"],
  });
});

test("AUTH-13 AUTH-56 a key that is narrower than its account has what both have", async () => {
  const t = await guardedServer();
  const permissions = ["workflow:shop:*", "schedule:*:read"];
  const key = await account(t, { key: { permissions } });
  const { body } = await t.ask("/auth/whoami", key);
  expect(body).toMatchObject({ subject: "bot", type: "service_account", roles: ["viewer"] });
  expect(body.permissions).toEqual(["schedule:*:read", "workflow:shop:*:read"]);
  const asked = [
    "workflow:shop:a:read",
    "workflow:bank:a:read",
    "workflow:shop:a:run",
    "execution:*:read",
  ];
  expect((await t.ask("/auth/check", key, { permissions: asked })).body).toEqual({
    allowed: {
      "workflow:shop:a:read": true,
      "workflow:bank:a:read": false,
      "workflow:shop:a:run": false,
      "execution:*:read": false,
    },
  });
  const wide = await account(t, { subject: "root", roles: ["admin"], key: { permissions } });
  expect((await t.ask("/admin/roles", wide)).status).toBe(403);
  expect((await t.ask("/workflows", wide)).status).toBe(200);
});

test("AUTH-9 AUTH-22 AUTH-57 what is revoked is refused at the next request", async () => {
  const t = await guardedServer();
  const key = await account(t);
  const read = () => t.ask("/executions", key);
  const manage = async (path: string, method = "POST") => {
    const headers = { authorization: `Bearer ${t.adminKey}` };
    const url = `${t.server.url}/admin/principals/bot/${path}`;
    expect((await fetch(url, { method, headers })).ok).toBe(true);
  };
  expect((await read()).status).toBe(200);
  await manage("disable");
  const disabled = await read();
  expect([disabled.status, reasonOf(disabled)]).toEqual([401, "disabled"]);
  // The state of the account is told only to who has the key.
  expect(reasonOf(await t.ask("/executions", `${key}x`))).toBe("invalid");
  await manage("enable");
  expect((await read()).status).toBe(200);
  await manage("roles/viewer", "DELETE");
  expect((await read()).status).toBe(403);
  await manage("ban");
  expect(reasonOf(await read())).toBe("invalid");
});

test("AUTH-9 AUTH-56 a key that ends is refused from then on, however well it is known", async () => {
  let now = Date.UTC(2026, 0, 1);
  const t = await guardedServer({ clock: () => now });
  const key = await account(t, { key: { expires_in_days: 1 } });
  const read = () => t.ask("/executions", key);
  expect((await read()).status).toBe(200);
  now += 86_400_000 - 1;
  expect((await read()).status).toBe(200);
  now += 1;
  const expired = await read();
  expect([expired.status, reasonOf(expired)]).toEqual([401, "expired"]);
});

test("AUTH-13 when a key was used last is written outside of the request, and when the server ends", async () => {
  const t = await guardedServer();
  await t.ask("/executions", t.adminKey);
  await t.server.close();
  const admin = await t.store.principals.findBySubject("admin");
  expect(admin[0]?.last_seen_at).toBeGreaterThan(0);
});

test("what running a workflow takes is listed for one that may be read, and for all of them", async () => {
  const t = await guardedServer();
  const source = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async () => 1);
export const pay = workflow({ name: "pay", namespace: "shop" }, async () => charge());
`;
  await t.server.engine.catalog.register({ source }, { by: null });
  const pay = [
    "workflow:shop:pay:read",
    "workflow:shop:pay:run",
    "workflow:shop:pay:task:charge:execute",
  ];
  const viewer = await account(t);
  const of = (workflow: string, key: string) =>
    t.ask(`/auth/permissions?workflow=${workflow}`, key);
  expect((await of("shop/pay", viewer)).body).toEqual({ permissions: pay });
  expect((await of("shop/none", viewer)).status).toBe(404);
  expect((await of("pay", viewer)).status).toBe(422);
  expect((await t.ask("/auth/permissions", viewer)).body).toEqual({ items: { "shop/pay": pay } });
  const bank = await account(t, { subject: "b", key: { permissions: ["workflow:bank:*"] } });
  // Whether it exists is nobody's business who may not read it.
  expect((await of("shop/pay", bank)).status).toBe(403);
  expect((await of("shop/none", bank)).status).toBe(403);
  expect((await t.ask("/auth/permissions", bank)).body).toEqual({ items: {} });
});

test("a token of somebody else is tested without letting anybody in", async () => {
  const t = await guardedServer();
  const key = await account(t);
  const test = async (token: string) =>
    (await t.ask("/auth/test-token", t.adminKey, { token })).body;
  expect(await test(key)).toMatchObject({
    ...{ valid: true, subject: "bot", issuer: "engine", roles: ["viewer"], expires_at: null },
    permissions: expect.arrayContaining(["execution:*:read"]),
  });
  expect(await test(`${key}x`)).toEqual({ valid: false, reason: "invalid" });
  expect(await test("what is this")).toEqual({ valid: false, reason: "malformed" });
  expect((await t.ask("/auth/test-token", key, { token: key })).status).toBe(403);
});

test("AUTH-8 AUTH-9 no header makes the server fail", async () => {
  const { server, adminKey = "" } = await guardedServer({
    config: { security: { auth: { enabled: true }, rate_limits: { auth_failures: "" } } },
  });
  const piece = fc.constantFrom(
    ...["Bearer ", "bearer ", " ", ".", "engine_sk_", "engine_et_", "engine_wk_", "=", "a.b.c"],
    ...[adminKey, adminKey.slice(0, 22), adminKey.slice(22), "eyJhbGciOiJub25lIn0"],
  );
  const any = fc.string({ unit: "grapheme-ascii" });
  const value = fc.array(fc.oneof(piece, any), { maxLength: 5 }).map((parts) => parts.join(""));
  const path = fc.constantFrom("/executions", "/workers/w/poll", "/auth/whoami", "/health");
  await fc.assert(
    fc.asyncProperty(path, fc.array(value, { maxLength: 2 }), async (asked, values) => {
      const headers = values.flatMap((one) => ["authorization", one]);
      const status = await raw(server.url + asked, headers);
      expect([200, 400, 401, 403, 404, 405]).toContain(status);
    }),
    { numRuns },
  );
});
