import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import type { Store } from "../store.ts";
import { auditOf, identityWrite, madePrincipal } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

const page = { limit: 100, offset: 0 };

function created(store: Store, name: string, permissions: readonly string[] = ["hook:*"]) {
  return store.roles.create(
    { name, description: null, permissions },
    identityWrite("roles.create"),
  );
}

export function conformance(open: Open): void {
  test("AUTH-24 a role is read as it was written, and a name is taken once", async () => {
    const store = await opened(open);
    const role = await store.roles.create(
      { name: "reader", description: "Reads – ü", permissions: ["a:b", "hook:*"] },
      identityWrite("roles.create", { target: "reader" }),
    );
    expect(role).toMatchObject({ name: "reader", built_in: false, permissions: ["a:b", "hook:*"] });
    expect(role.created_at).toBe(role.updated_at);
    expect(await store.roles.find("reader")).toEqual(role);
    expect(await store.roles.find("Reader")).toBeUndefined();
    for (const name of ["reader", "admin"]) {
      await expect(created(store, name)).rejects.toMatchObject({ code: "conflict" });
    }
    expect(await auditOf(store)).toEqual([
      {
        action: "roles.create",
        target: "reader",
        changes: {
          description: { before: null, after: "Reads – ü" },
          permissions: { before: null, after: ["a:b", "hook:*"] },
        },
      },
    ]);
    expect((await store.epochs.read()).identity).toBe(1);
  });

  test("AUTH-24 roles are listed by name, the engine's own among them, page by page", async () => {
    const store = await opened(open);
    for (const name of ["zeta", "b-role", "b_role", "9"]) await created(store, name);
    const all = await store.roles.list(page);
    const names = ["9", "admin", "b-role", "b_role", "operator", "viewer", "worker", "zeta"];
    expect([all.items.map(({ name }) => name), all.total]).toEqual([names, 8]);
    const [, admin] = all.items;
    expect(admin).toMatchObject({ built_in: true, permissions: ["*"], created_at: null });
    const second = await store.roles.list({ limit: 3, offset: 3 });
    expect([second.items.map(({ name }) => name), second.total]).toEqual([names.slice(3, 6), 8]);
  });

  test("AUTH-24 a clone gives what its original gives, built in or not", async () => {
    const store = await opened(open);
    const write = identityWrite("roles.clone");
    const cloned = await store.roles.clone("viewer", "watcher", write);
    const viewer = await store.roles.find("viewer");
    expect(cloned).toMatchObject({ name: "watcher", built_in: false });
    expect(cloned?.permissions).toEqual(viewer?.permissions);
    expect(await store.roles.clone("none", "other", write)).toBeUndefined();
    await expect(store.roles.clone("viewer", "watcher", write)).rejects.toMatchObject({
      code: "conflict",
    });
  });

  test("AUTH-21 what a role gives that it did not give before is conferred, and only that", async () => {
    const store = await opened(open);
    const conferred: unknown[] = [];
    const confer = (permissions: readonly string[]) => void conferred.push(permissions);
    await store.roles.create(
      { name: "r", description: null, permissions: ["hook:*", "worker:*:read"] },
      identityWrite("roles.create", {}, { confer }),
    );
    const write = identityWrite("roles.update", {}, { confer });
    const permissions = ["hook:x:read", "secret:*:use", "worker:*:read"];
    await store.roles.change("r", () => ({ permissions }), write);
    expect(conferred).toEqual([["hook:*", "worker:*:read"], ["secret:*:use"]]);

    const refusal = new EngineError("privilege_escalation", "no");
    const refuse = () => {
      throw refusal;
    };
    const before = [await store.roles.find("r"), await auditOf(store), await store.epochs.read()];
    const refused = identityWrite("roles.update", {}, { confer: refuse });
    const widened = store.roles.change("r", () => ({ permissions: ["*"] }), refused);
    await expect(widened).rejects.toBe(refusal);
    expect([await store.roles.find("r"), await auditOf(store), await store.epochs.read()]).toEqual(
      before,
    );
  });

  test("AUD-2 a change that changes nothing leaves no trace, one of a role that is none neither", async () => {
    const store = await opened(open);
    const role = await created(store, "r");
    const write = identityWrite("roles.update");
    expect(await store.roles.change("r", () => ({ permissions: ["hook:*"] }), write)).toEqual(role);
    expect(await store.roles.change("none", () => ({ permissions: [] }), write)).toBeUndefined();
    // The engine's own are refused by whoever asks, and are not written in any case.
    expect(await store.roles.change("viewer", () => ({ permissions: [] }), write)).toMatchObject({
      built_in: true,
    });
    expect(await store.roles.delete("viewer", { force: true }, write)).toBe(false);
    expect((await store.audit.list(page)).total).toBe(1);
    expect((await store.epochs.read()).identity).toBe(1);
  });

  test("AUTH-24 a role that is assigned goes by force, with its assignments, and revives nothing", async () => {
    const store = await opened(open);
    await created(store, "r");
    for (const subject of ["ann", "bob"]) {
      await madePrincipal(store, subject, { roles: ["r", "viewer"] });
    }
    const write = identityWrite("roles.delete", { target: "r" });
    await expect(store.roles.delete("r", { force: false }, write)).rejects.toMatchObject({
      code: "role_in_use",
      details: { principals: 2 },
    });
    expect(await store.roles.delete("r", { force: true }, write)).toBe(true);
    expect(await store.roles.delete("r", { force: true }, write)).toBe(false);
    await created(store, "r");
    const [ann] = await store.principals.findBySubject("ann");
    expect(ann?.roles).toEqual(["viewer"]);
  });

  test("AUD-3 a change whose row of the audit log cannot be written is none", async () => {
    const store = await opened(open);
    await created(store, "r");
    const taken = (await store.audit.list(page)).items[0]?.id as string;
    const { entry, ...others } = identityWrite("roles.create");
    const write = { ...others, entry: { ...entry, id: taken } };
    const role = { name: "s", description: null, permissions: [] };
    await expect(store.roles.create(role, write)).rejects.toThrow();
    expect(await store.roles.find("s")).toBeUndefined();
    expect((await store.epochs.read()).identity).toBe(1);
  });
}
