import { expect, test } from "vitest";
import { type GuardedServer, guardedServer } from "./testing/guarded-server.ts";
import { AUDIENCE, ISSUER, Provider } from "./testing/provider.ts";

interface Users extends GuardedServer {
  readonly provider: Provider;
}

/** A server that takes tokens of a provider. */
async function users(oidc: object = {}, auth: object = {}, clock?: () => number): Promise<Users> {
  const provider = new Provider();
  const table = { enabled: true, issuer: ISSUER, audience: AUDIENCE, ...oidc };
  const server = await guardedServer({
    auth: { oidc: table, ...auth },
    fetch: provider.fetch,
    ...(clock && { clock }),
  });
  return Object.assign(server, { provider });
}

const reasonOf = ({ body }: Awaited<ReturnType<GuardedServer["ask"]>>) => body.error.details.reason;

test("AUTH-16 a user whom nobody let in is told so, and is not made", async () => {
  const { ask, provider, store } = await users();
  const refused = await ask("/auth/whoami", provider.token());
  expect([refused.status, reasonOf(refused)]).toEqual([401, "not_provisioned"]);
  expect(await store.principals.findBySubject("ada")).toEqual([]);
});

test("AUTH-16 AUD-2 a user who comes for the first time gets the default roles, once, and a name", async () => {
  const { ask, provider, store } = await users({ default_user_roles: ["viewer"] });
  const token = provider.token({ name: "Ada L.", preferred_username: "ada" });
  const answers = await Promise.all([1, 2, 3].map(() => ask("/auth/whoami", token)));
  for (const { status, body } of answers) {
    expect([status, body.subject, body.roles]).toEqual([200, "ada", ["viewer"]]);
    expect(body).toMatchObject({ issuer: ISSUER, type: "user", credential: { kind: "oidc" } });
  }
  const all = await store.principals.findBySubject("ada");
  expect(all).toMatchObject([{ type: "user", issuer: ISSUER, display_name: "Ada L." }]);
  const { items } = await store.audit.list({ limit: 10, offset: 0, action: "auth.login" });
  expect(items).toMatchObject([{ target: "ada", decision: "allow", actor: { subject: "ada" } }]);
  // Another token of hers, without a name: that of before stays, then the user name is taken.
  await ask("/auth/whoami", provider.token());
  expect(await store.principals.findBySubject("ada")).toMatchObject([{ display_name: "Ada L." }]);
  await ask("/auth/whoami", provider.token({ preferred_username: "al" }));
  expect(await store.principals.findBySubject("ada")).toMatchObject([{ display_name: "al" }]);
});

test("AUTH-16 claims give roles only where claim and mapping are set, and take none that was granted here", async () => {
  const without = await users({ default_user_roles: ["viewer"], roles_claim: "groups" });
  const roles = async (t: Users, claims: object) =>
    (await t.ask("/auth/whoami", t.provider.token({ ...claims }))).body.roles;
  expect(await roles(without, { groups: ["staff", "admin"] })).toEqual(["viewer"]);
  const mapped = await users({
    default_user_roles: ["viewer"],
    roles_claim: "groups",
    role_mapping: { staff: "operator" },
  });
  expect(await roles(mapped, { groups: ["staff", "admin"] })).toEqual(["operator", "viewer"]);
  expect(await roles(mapped, { groups: "staff", n: 1 })).toEqual(["operator", "viewer"]);
  expect(await roles(mapped, { groups: [7, { a: 1 }], n: 2 })).toEqual(["viewer"]);
  expect(await roles(mapped, { groups: ["toString", "__proto__"], n: 3 })).toEqual(["viewer"]);
});

test("AUTH-9 AUTH-14 wrong tokens are invalid, one that is right but for its age is expired", async () => {
  let now = Date.now();
  const t = await users({ default_user_roles: ["viewer"] }, {}, () => now);
  const ask = (claims: object) => t.ask("/auth/whoami", t.provider.token({ ...claims }, now));
  const other = new Provider().token();
  expect(reasonOf(await t.ask("/auth/whoami", other))).toBe("invalid");
  expect(reasonOf(await ask({ aud: "others" }))).toBe("invalid");
  expect(reasonOf(await ask({ iss: "https://other.example" }))).toBe("invalid");
  expect(reasonOf(await ask({ exp: 1 }))).toBe("expired");
  expect(reasonOf(await ask({ nbf: Math.floor(now / 1000) + 3600 }))).toBe("invalid");
  expect(reasonOf(await t.ask("/auth/whoami", "a.b.c"))).toMatch(/^(?:malformed|invalid)$/);
  // A token that is known ends with its time all the same (AUTH-56).
  const token = t.provider.token({}, now);
  expect((await t.ask("/auth/whoami", token)).status).toBe(200);
  now += 600_000 + 30_000 + 1;
  expect(reasonOf(await t.ask("/auth/whoami", token))).toBe("expired");
});

test("AUTH-22 a user who is disabled is told so with a token that is right", async () => {
  const t = await users({ default_user_roles: ["viewer"] }, { api_keys: { enabled: true } });
  const token = t.provider.token();
  expect((await t.ask("/auth/whoami", token)).status).toBe(200);
  const disable = `${t.server.url}/admin/principals/ada/disable`;
  const headers = { authorization: `Bearer ${t.adminKey}` };
  expect((await fetch(disable, { method: "POST", headers })).status).toBe(200);
  expect(reasonOf(await t.ask("/auth/whoami", token))).toBe("disabled");
  expect(reasonOf(await t.ask("/auth/whoami", t.provider.token({ name: "Eve" })))).toBe("disabled");
});

test("AUTH-15 while the keys of the provider cannot be had nobody is told that the token is wrong", async () => {
  const t = await users({ default_user_roles: ["viewer"] });
  t.provider.isAway = true;
  const away = await t.ask("/auth/whoami", t.provider.token());
  expect([away.status, away.body.error.code]).toEqual([503, "auth_unavailable"]);
  expect(away.headers.get("retry-after")).toBe("5");
});

test("AUTH-4 without API keys the first of the named subjects who logs in becomes admin", async () => {
  const t = await users({ initial_admins: ["ada", "bob"] }, { api_keys: { enabled: false } });
  const whoami = (sub: string) => t.ask("/auth/whoami", t.provider.token({ sub }));
  expect(reasonOf(await whoami("eve"))).toBe("not_provisioned");
  expect((await whoami("ada")).body.roles).toEqual(["admin"]);
  expect(reasonOf(await whoami("bob"))).toBe("not_provisioned");
  expect((await t.ask("/auth/config")).body).toEqual({
    ...{ auth_enabled: true, api_keys: false },
    oidc: {
      ...{ issuer: ISSUER, client_id: "engine-cli" },
      scopes: ["openid", "profile", "offline_access"],
    },
  });
});

test("a token of a user is tested without a login: nobody is made by that", async () => {
  const t = await users(
    { default_user_roles: ["viewer"], initial_admins: ["ada"] },
    { api_keys: { enabled: false } },
  );
  const admin = t.provider.token();
  expect((await t.ask("/auth/whoami", admin)).body.roles).toContain("admin");
  const token = t.provider.token({ sub: "bob" });
  const tested = await t.ask("/auth/test-token", admin, { token });
  expect(tested.body).toMatchObject({ valid: true, subject: "bob", roles: ["viewer"] });
  expect(await t.store.principals.findBySubject("bob")).toEqual([]);
});
