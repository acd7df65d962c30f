import { expect, test } from "vitest";
import type { PrincipalPatch, PrincipalRow } from "../ports/principals.ts";
import type { Store } from "../store.ts";
import { newHook } from "./hooked.ts";
import { auditOf, identityWrite, madeAdmin, madePrincipal, newKey, PROVIDER } from "./identity.ts";
import { type Open, opened } from "./opened.ts";
import { executionId, newExecution } from "./sample.ts";
import { schedule } from "./schedules.ts";

const page = { limit: 100, offset: 0 };
const write = () => identityWrite("principals.update");
const disable = () => ({ enabled: false });
const ban = () => ({ enabled: false, banned: true, ban_reason: "left" });

const user = { type: "user", issuer: PROVIDER } as const;

async function subjects(store: Store, filter: object = {}): Promise<readonly string[]> {
  const { items } = await store.principals.list({ ...page, ...filter });
  return items.map(({ subject }) => subject);
}

export function conformance(open: Open): void {
  test("AUTH-18 AUTH-19 a principal is read as it was written, and a subject is taken once per issuer", async () => {
    const store = await opened(open);
    const made = await madePrincipal(store, "ann", {
      display_name: "Ann – ü",
      roles: ["viewer", "operator", "viewer"],
    });
    expect(made).toEqual({
      ...{ id: "ann", type: "service_account", subject: "ann", issuer: "engine" },
      ...{ display_name: "Ann – ü", enabled: true, banned: false, ban_reason: null },
      ...{ roles: ["operator", "viewer"], last_seen_at: null },
      ...{ created_at: made.created_at, updated_at: made.created_at },
    });
    expect(await store.principals.findBySubject("ann")).toEqual([made]);
    expect(await store.principals.findBySubject("Ann")).toEqual([]);
    const again = madePrincipal(store, "ann", { id: "other" });
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    await madePrincipal(store, "ann", { ...user, id: "user" });
    const both = await store.principals.findBySubject("ann");
    expect(both.map(({ issuer }) => issuer)).toEqual(["engine", PROVIDER]);
    expect((await auditOf(store))[0]?.changes).toEqual({
      id: { before: null, after: "ann" },
      type: { before: null, after: "service_account" },
      issuer: { before: null, after: "engine" },
      display_name: { before: null, after: "Ann – ü" },
      roles: { before: null, after: ["operator", "viewer"] },
    });
  });

  test("AUTH-18 of creations that race for a subject one succeeds", async () => {
    const store = await opened(open);
    const ids = ["a", "b", "c"];
    const raced = await Promise.allSettled(ids.map((id) => madePrincipal(store, "ann", { id })));
    expect(raced.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await store.principals.findBySubject("ann")).toHaveLength(1);
  });

  test("AUTH-24 a role that does not exist is given to nobody", async () => {
    const store = await opened(open);
    const unknown = { code: "unknown_role", details: { roles: ["none"] } };
    const made = madePrincipal(store, "ann", { roles: ["viewer", "none"] });
    await expect(made).rejects.toMatchObject(unknown);
    expect(await store.principals.findBySubject("ann")).toEqual([]);
    await madePrincipal(store, "bob");
    const granted = store.principals.grantRole("bob", "none", write());
    await expect(granted).rejects.toMatchObject(unknown);
  });

  test("principals are listed by subject, with filters and pages", async () => {
    const store = await opened(open);
    await madePrincipal(store, "b", { roles: ["viewer"] });
    await madePrincipal(store, "a", { ...user, roles: ["viewer", "operator"] });
    await madePrincipal(store, "C");
    await madePrincipal(store, "w", { type: "worker", issuer: "engine:workers" });
    await store.principals.change("C", ban, write());
    await store.principals.change("b", disable, write());
    expect(await subjects(store)).toEqual(["C", "a", "b", "w"]);
    expect(await subjects(store, { type: "user" })).toEqual(["a"]);
    expect(await subjects(store, { enabled: true })).toEqual(["a", "w"]);
    expect(await subjects(store, { enabled: false })).toEqual(["C", "b"]);
    expect(await subjects(store, { banned: true })).toEqual(["C"]);
    expect(await subjects(store, { banned: false, role: "viewer" })).toEqual(["a", "b"]);
    expect(await subjects(store, { role: "none" })).toEqual([]);
    const second = await store.principals.list({ limit: 2, offset: 1 });
    expect([second.items.map(({ subject }) => subject), second.total]).toEqual([["a", "b"], 4]);
    expect(second.items[0]?.roles).toEqual(["operator", "viewer"]);
  });

  test("AUTH-21 who is let in again has all its roles conferred, who is locked out nothing", async () => {
    const store = await opened(open);
    await madePrincipal(store, "ann", { roles: ["worker"] });
    await madePrincipal(store, "w", { type: "worker", issuer: "engine:workers" });
    const conferred: unknown[] = [];
    const confer = (permissions: readonly string[]) => void conferred.push(permissions);
    const change = (id: string, patch: PrincipalPatch) =>
      store.principals.change(id, () => patch, { ...write(), confer });
    await change("ann", { enabled: false });
    await change("ann", { display_name: "Ann" });
    await change("ann", { banned: true });
    expect(conferred).toEqual([]);
    await change("ann", { banned: false });
    await change("ann", { enabled: true });
    await change("ann", { enabled: true });
    await change("w", { enabled: false });
    await change("w", { enabled: true });
    const connect = ["worker:*:connect"];
    expect(conferred).toEqual([connect, connect, connect]);
  });

  test("AUTH-22 a ban revokes the keys, disabling leaves them", async () => {
    const store = await opened(open);
    await madePrincipal(store, "ann");
    for (const name of ["one", "two"]) await store.keys.create(newKey("ann", name), write());
    await store.principals.change("ann", disable, write());
    expect((await store.keys.list("ann", page)).total).toBe(2);
    const banned = await store.principals.change("ann", ban, write());
    expect(banned).toMatchObject({ enabled: false, banned: true, ban_reason: "left" });
    expect((await store.keys.list("ann", page)).total).toBe(0);
    expect((await auditOf(store)).at(-1)?.changes).toEqual({
      banned: { before: false, after: true },
      ban_reason: { before: null, after: "left" },
    });
  });

  test("AUTH-16 a role by claims is not revoked here, and one granted besides stays with it", async () => {
    const store = await opened(open);
    await madePrincipal(store, "ann", { ...user, roles: ["viewer"] });
    const granted = await store.principals.grantRole("ann", "operator", write());
    expect(granted?.roles).toEqual(["operator", "viewer"]);
    const epoch = (await store.epochs.read()).identity;
    expect(await store.principals.grantRole("ann", "operator", write())).toEqual(granted);
    expect((await store.epochs.read()).identity).toBe(epoch);
    const revoked = await store.principals.revokeRole("ann", "viewer", write());
    expect(revoked?.roles).toEqual(["operator"]);
    expect(await store.principals.revokeRole("ann", "viewer", write())).toEqual(revoked);
    expect(await store.principals.revokeRole("none", "viewer", write())).toBeUndefined();
    expect((await auditOf(store)).at(-1)?.changes).toEqual({
      roles: { before: ["operator", "viewer"], after: ["operator"] },
    });
  });

  test("AUTH-23 a principal in use goes by force, with its keys and roles; its subject is free", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot", { roles: ["viewer"] });
    await store.keys.create(newKey("bot", "ci"), write());
    await store.keys.create(newKey("bot", "expired", { expires_at: 1 }), write());
    for (const n of [1, 2]) await store.executions.create({ ...newExecution(n), by: "bot" });
    await store.executions.change(executionId(2), () => ({
      events: [],
      patch: { state: "COMPLETED", finished_at: 1 },
    }));
    await store.schedules.create(schedule("nightly", { run_as: "bot" }));
    await store.hooks.create(newHook("page", { principal: "bot" }));
    await store.hooks.create(newHook("off", { principal: "bot", enabled: false }));
    await store.hooks.create(newHook("other", { principal: "ann" }));
    const refused = store.principals.delete("bot", { force: false }, write());
    await expect(refused).rejects.toMatchObject({
      code: "principal_in_use",
      message: expect.stringContaining("schedules (1), hooks (2)"),
      details: { keys: 1, executions: 1, schedules: 1, hooks: 2 },
    });
    expect(await store.principals.delete("bot", { force: true }, write())).toBe(true);
    expect(await store.principals.delete("bot", { force: true }, write())).toBe(false);
    expect(await store.principals.findBySubject("bot")).toEqual([]);
    expect(await subjects(store)).toEqual([]);
    expect((await store.keys.list("bot", page)).total).toBe(0);
    expect(
      await store.principals.change("bot", () => ({ enabled: true }), write()),
    ).toBeUndefined();
    expect((await store.executions.find(executionId(1)))?.run_as).toBe("bot");
    const later = await madePrincipal(store, "bot", { id: "another" });
    expect([later.id, later.roles]).toEqual(["another", []]);
  });

  test("AUTH-23 a user is not the account of a schedule or a hook, whose subject is that of a service account", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot", user);
    await store.schedules.create(schedule("nightly", { run_as: "bot" }));
    await store.hooks.create(newHook("page", { principal: "bot" }));
    expect(await store.principals.delete("bot", { force: false }, write())).toBe(true);
  });

  test.each<[string, (store: Store) => Promise<unknown>]>([
    ["disabled", (store) => store.principals.change("root", disable, write())],
    ["banned", (store) => store.principals.change("root", ban, write())],
    ["deleted", (store) => store.principals.delete("root", { force: true }, write())],
    ["without its role", (store) => store.principals.revokeRole("root", "all", write())],
    ["without its key", (store) => store.keys.delete("root", "k", write())],
    ["without the role itself", (store) => store.roles.delete("all", { force: true }, write())],
    [
      "with a narrower role",
      (store) => store.roles.change("all", () => ({ permissions: ["hook:*"] }), write()),
    ],
  ])("AUTH-20 the last admin is not %s, and nothing changes", async (_, attempt) => {
    const store = await opened(open);
    await store.roles.create({ name: "all", description: null, permissions: ["*"] }, write());
    await madePrincipal(store, "root", { roles: ["all"] });
    await store.keys.create(newKey("root", "k"), write());
    // None of these counts: a key that ends, a narrower one, one who is locked out, none at all.
    await madePrincipal(store, "ends", { roles: ["admin"] });
    await store.keys.create(newKey("ends", "k", { expires_at: 4e12 }), write());
    await madePrincipal(store, "narrow", { roles: ["admin"] });
    await store.keys.create(newKey("narrow", "k", { permissions: ["hook:*"] }), write());
    await madeAdmin(store, "disabled");
    await store.principals.change("disabled", disable, write());
    await madePrincipal(store, "keyless", { roles: ["admin"] });
    await madePrincipal(store, "elsewhere", { ...user, issuer: "https://x", roles: ["admin"] });
    const contents = async () => [
      await store.principals.list(page),
      await store.roles.list(page),
      await store.keys.list("root", page),
      await store.audit.list(page),
      await store.epochs.read(),
    ];
    const before = await contents();
    await expect(attempt(store)).rejects.toMatchObject({ code: "last_admin" });
    expect(await contents()).toEqual(before);
    // A second one, and it is allowed.
    await madePrincipal(store, "boss", { ...user, roles: ["admin"] });
    await attempt(store);
  });

  test("AUTH-20 of two admins that are locked out at once one stays", async () => {
    const store = await opened(open);
    for (const subject of ["a", "b", "c"]) await madeAdmin(store, subject);
    const attempts = [
      store.principals.change("a", disable, write()),
      store.keys.delete("b", "k", write()),
      store.principals.revokeRole("c", "admin", write()),
      store.principals.delete("b", { force: true }, write()),
    ];
    const settled = await Promise.allSettled(attempts);
    const refused = settled.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) {
      expect((one as PromiseRejectedResult).reason).toMatchObject({ code: "last_admin" });
    }
  });

  test("AUTH-20 who can log in is a matter of the configuration", async () => {
    const store = await opened(open);
    const change = (id: string, logins: { api_keys: boolean; oidc_issuer: string | null }) =>
      store.principals.change(id, disable, { ...write(), logins });
    await madeAdmin(store, "root");
    await madePrincipal(store, "boss", { ...user, roles: ["admin"] });
    const lastAdmin = { code: "last_admin" };
    await expect(change("root", { api_keys: true, oidc_issuer: null })).rejects.toMatchObject(
      lastAdmin,
    );
    await expect(change("boss", { api_keys: false, oidc_issuer: PROVIDER })).rejects.toMatchObject(
      lastAdmin,
    );
    // Where nobody could before, nothing is lost.
    const disabled = await change("root", { api_keys: false, oidc_issuer: null });
    expect(disabled).toMatchObject<Partial<PrincipalRow>>({ enabled: false });
  });
}
