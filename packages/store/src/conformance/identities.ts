import type { AuditEntry } from "@engine/contract";
import { expect, test } from "vitest";
import type { FirstAdmin, Login, Logins, RotatedAdminKey } from "../ports/identities.ts";
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

function rotated(n: number, old_id: string | null): RotatedAdminKey {
  const audited = { ...entry(n), action: "server.admin_key.rotate", target: null };
  return { ...firstAdmin(n), old_id, entry: audited };
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

  test("AUTH-60 AUD-3 a new key takes the place of the first admin's, with its row in the audit log, and raises the epoch", async () => {
    const store = await opened(open);
    await store.identities.makeFirstAdmin(firstAdmin(1));
    expect(await store.identities.rotateAdminKey(rotated(2, "key1"))).toBe("admin");
    expect(await store.identities.findByKey("key1")).toBeUndefined();
    const found = await store.identities.findByKey("key2");
    expect(found?.key).toEqual({
      ...{ id: "key2", secret_hash: "hash2", permissions: null, expires_at: null },
    });
    expect(found?.principal).toMatchObject({ id: "p1", subject: "admin" });
    expect(await epochOf(store)).toBe(2);
    expect((await store.audit.list(page)).items).toMatchObject([
      { target: "admin", changes: { keys: { before: ["key1"], after: ["key2"] } } },
    ]);
    // Nobody knows the text of the old one any more: those that the engine itself made go.
    expect(await store.identities.rotateAdminKey(rotated(3, null))).toBe("admin");
    expect(await store.identities.findByKey("key2")).toBeUndefined();
    expect(await store.identities.rotateAdminKey(rotated(4, "gone"))).toBe("admin");
    expect(await store.identities.findByKey("key3")).toBeUndefined();
    expect(await store.keys.list("p1", page)).toMatchObject({
      items: [{ id: "key4", name: "bootstrap" }],
    });
  });

  test("AUTH-20 AUTH-60 a new admin's key makes an admin only where nobody could log in as one", async () => {
    const store = await opened(open);
    expect(await store.identities.rotateAdminKey(rotated(1, null))).toBe("admin");
    const entry1 = { ...entry(9), action: "x" };
    const write = { entry: entry1, logins: { ...KEYS, api_keys: false }, confer: () => undefined };
    await store.principals.change("p1", () => ({ enabled: false }), write);
    expect(await store.identities.rotateAdminKey(rotated(2, "key1"))).toBe("admin-2");
    expect(await store.identities.findByKey("key1")).toBeUndefined();
    expect(await store.identities.findBySubject("admin", "engine")).toMatchObject({
      enabled: false,
    });
    // Somebody else is admin, and the account of the key is none any more: nothing is changed.
    const ops = { id: "ops", type: "service_account" as const, subject: "ops", issuer: "engine" };
    const made = { ...ops, display_name: null, roles: ["admin"] };
    await store.principals.create(made, { ...write, entry: { ...entry1, id: executionId(21) } });
    const key = { principal_id: "ops", id: "opskey", name: "k", secret_hash: "ops" };
    const fresh = { ...key, permissions: null, expires_at: null };
    await store.keys.create(fresh, { ...write, entry: { ...entry1, id: executionId(22) } });
    const third = { ...write, entry: { ...entry1, id: executionId(23) } };
    await store.principals.change("p2", () => ({ enabled: false }), third);
    const [epoch, rows] = [await epochOf(store), (await store.audit.list(page)).total];
    expect(await store.identities.rotateAdminKey(rotated(3, "key2"))).toBeUndefined();
    expect(await store.identities.findByKey("key2")).toBeDefined();
    expect([await epochOf(store), (await store.audit.list(page)).total]).toEqual([epoch, rows]);
    // A key of theirs is as good as the first one.
    expect(await store.identities.rotateAdminKey(rotated(4, "opskey"))).toBe("ops");
    expect(await store.identities.findByKey("opskey")).toBeUndefined();
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
