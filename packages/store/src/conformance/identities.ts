import type { AuditEntry } from "@engine/contract";
import { expect, test } from "vitest";
import type { FirstAdmin, Login, Logins } from "../ports/identities.ts";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { executionId, NOW } from "./sample.ts";

const KEYS: Logins = { api_keys: true, oidc_issuer: null };
const ISSUER = "https://id.example";
const page = { limit: 10, offset: 0 };

function firstAdmin(n: number, logins: Logins = KEYS): FirstAdmin {
  return { id: `p${n}`, key: { id: `key${n}`, secret_hash: `hash${n}` }, logins };
}

function entry(n: number): AuditEntry {
  return {
    id: executionId(n),
    at: NOW,
    actor: { subject: "ada", issuer: ISSUER, type: "user" },
    credential: { kind: "oidc", id: null },
    via_execution: null,
    action: "auth.login",
    target: "ada",
    decision: "allow",
    permissions: [],
    reason: null,
    client_address: null,
    request_id: null,
    changes: null,
  };
}

function login(n: number, fields: Partial<Login> = {}): Login {
  return {
    ...{ id: `p${n}`, subject: "ada", issuer: ISSUER, display_name: "Ada", entry: entry(n) },
    ...{ default_roles: ["viewer"], claimed_roles: null, admin_unless: null },
    ...fields,
  };
}

const epochOf = async (store: Store) => (await store.epochs.read()).identity;

export function conformance(open: Open): void {
  test("AUTH-4 AUTH-12 the first admin has the role and a key that never ends, and is found by that", async () => {
    const store = await opened(open);
    expect(await store.identities.makeFirstAdmin(firstAdmin(1))).toBe("admin");
    const found = await store.identities.findByKey("key1");
    const key = { id: "key1", secret_hash: "hash1", permissions: null, expires_at: null };
    expect(found?.key).toEqual(key);
    expect(found?.principal).toEqual({
      ...{ id: "p1", type: "service_account", subject: "admin", issuer: "engine" },
      ...{ display_name: null, enabled: true, banned: false },
      ...{ roles: ["admin"], claimed_roles: [], grants: ["*"] },
    });
    expect(await store.identities.find("p1")).toEqual(found?.principal);
    expect(await store.identities.findBySubject("admin", "engine")).toEqual(found?.principal);
    expect(await epochOf(store)).toBe(1);
  });

  test("AUTH-4 while somebody can log in as admin no other one is made, however many servers start", async () => {
    const store = await opened(open);
    const made = await Promise.all(
      [1, 2, 3].map((n) => store.identities.makeFirstAdmin(firstAdmin(n))),
    );
    expect(made.filter((subject) => subject !== undefined)).toEqual(["admin"]);
    expect(await store.identities.hasAdmin(KEYS)).toBe(true);
    expect(await store.identities.hasAdmin({ ...KEYS, api_keys: false })).toBe(false);
    expect(await epochOf(store)).toBe(1);
  });

  test("AUTH-4 an admin of another provider does not count: the one without a key is given one", async () => {
    const store = await opened(open);
    await store.identities.makeFirstAdmin(firstAdmin(1));
    // Keys are turned off and no user is admin: nobody could log in.
    const oidc: Logins = { api_keys: false, oidc_issuer: ISSUER };
    expect(await store.identities.makeFirstAdmin(firstAdmin(2, oidc))).toBe("admin");
    const { principal } = (await store.identities.findByKey("key2")) ?? {};
    expect(principal).toMatchObject({ id: "p1", subject: "admin" });
  });

  test("what nobody has is found by nothing", async () => {
    const store = await opened(open);
    expect(await store.identities.find("p1")).toBeUndefined();
    expect(await store.identities.findByKey("key1")).toBeUndefined();
    expect(await store.identities.findBySubject("ada", ISSUER)).toBeUndefined();
    expect(await store.identities.unknownRoles(["viewer", "nobody", "admin"])).toEqual(["nobody"]);
    expect(await store.identities.unknownRoles([])).toEqual([]);
  });

  test("AUTH-16 AUD-2 a user who comes for the first time is made once, with a row of the audit log", async () => {
    const store = await opened(open);
    const users = await Promise.all([1, 2, 3].map((n) => store.identities.login(login(n))));
    expect(new Set(users.map((user) => user?.id)).size).toBe(1);
    expect(users[0]).toMatchObject({ type: "user", roles: ["viewer"], display_name: "Ada" });
    const { items } = await store.audit.list(page);
    expect(items.map(({ action, target }) => [action, target])).toEqual([["auth.login", "ada"]]);
  });

  test("AUTH-16 a new user that gets no role is nobody, also where its roles do not exist", async () => {
    const store = await opened(open);
    for (const default_roles of [[], ["nobody"]]) {
      expect(await store.identities.login(login(1, { default_roles }))).toBeUndefined();
    }
    expect(await store.identities.findBySubject("ada", ISSUER)).toBeUndefined();
    expect(await store.audit.list(page)).toMatchObject({ total: 0 });
  });

  test("AUTH-16 claimed roles are those of the last login, and take away none that was granted here", async () => {
    const store = await opened(open);
    await store.identities.login(login(1, { claimed_roles: ["operator", "viewer", "nobody"] }));
    const before = await store.identities.findBySubject("ada", ISSUER);
    expect(before).toMatchObject({
      roles: ["operator", "viewer"],
      claimed_roles: ["operator", "viewer"],
    });
    const after = await store.identities.login(login(2, { claimed_roles: [] }));
    expect(after).toMatchObject({ id: "p1", roles: ["viewer"], claimed_roles: [] });
    const renamed = await store.identities.login(login(3, { display_name: "Ada L." }));
    expect(renamed).toMatchObject({ roles: ["viewer"], display_name: "Ada L." });
    const unnamed = await store.identities.login(login(4, { display_name: null }));
    expect(unnamed).toMatchObject({ display_name: "Ada L." });
  });

  test("AUTH-4 AUTH-20 a user becomes admin while nobody else could be, and not by a claim alone", async () => {
    const store = await opened(open);
    const admin_unless: Logins = { api_keys: false, oidc_issuer: ISSUER };
    await store.identities.login(login(1, { subject: "eve", claimed_roles: ["admin"] }));
    const none = { default_roles: [], admin_unless };
    const ada = await store.identities.login(login(2, none));
    expect(ada).toMatchObject({ subject: "ada", roles: ["admin"], claimed_roles: [] });
    const bob = await store.identities.login(login(3, { ...none, subject: "bob" }));
    expect(bob).toBeUndefined();
  });

  test("AUTH-13 the use of a key is noted at most once a minute", async () => {
    const store = await opened(open);
    await store.identities.makeFirstAdmin(firstAdmin(1));
    const used = { keys: ["key1", "gone"], principals: ["p1", "gone"] };
    for (const at of [NOW, NOW + 59_999, NOW + 60_000]) {
      await store.identities.noteUse({ at, ...used });
    }
    await store.identities.noteUse({ at: NOW, keys: [], principals: [] });
    expect(await store.identities.findByKey("key1")).toMatchObject({ key: { id: "key1" } });
    expect(await epochOf(store)).toBe(1);
  });
}
