import { expect, test } from "vitest";
import { auditOf, identityWrite, madePrincipal, newKey } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

const END = Date.parse("2999-01-01T00:00:00.000Z");
const page = { limit: 100, offset: 0 };
const write = () => identityWrite("principals.createKey", { target: "bot" });

export function conformance(open: Open): void {
  test("AUTH-13 a key is read as it was written, without its secret", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot");
    const fresh = newKey("bot", "ci", { permissions: ["hook:*"], expires_at: END });
    const key = await store.keys.create(fresh, write());
    const { secret_hash: _, principal_id: __, ...shown } = fresh;
    expect(key).toEqual({ ...shown, created_at: key?.created_at, last_used_at: null });
    expect(await store.keys.list("bot", page)).toEqual({ items: [key], total: 1 });
    expect(await store.keys.list("other", page)).toEqual({ items: [], total: 0 });
    expect((await auditOf(store)).at(-1)).toEqual({
      action: "principals.createKey",
      target: "bot",
      changes: {
        key: { before: null, after: "ci" },
        id: { before: null, after: fresh.id },
        permissions: { before: null, after: ["hook:*"] },
        expires_at: { before: null, after: "2999-01-01T00:00:00.000Z" },
      },
    });
    expect((await store.epochs.read()).identity).toBe(2);
  });

  test("AUTH-13 a name is taken once per principal, until it is revoked", async () => {
    const store = await opened(open);
    for (const subject of ["bot", "cat"]) await madePrincipal(store, subject);
    await store.keys.create(newKey("bot", "ci"), write());
    await store.keys.create(newKey("cat", "ci"), write());
    const again = newKey("bot", "ci", { id: "another" });
    await expect(store.keys.create(again, write())).rejects.toMatchObject({ code: "conflict" });
    expect(await store.keys.delete("bot", "ci", write())).toBe(true);
    expect(await store.keys.delete("bot", "ci", write())).toBe(false);
    expect(await store.keys.create(again, write())).toMatchObject({ id: "another" });
    expect((await store.keys.list("cat", page)).total).toBe(1);
  });

  test("AUTH-13 a principal has at most 20 live keys; expired ones do not count", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot");
    const create = (name: string, expires_at: number | null = null) =>
      store.keys.create(newKey("bot", name, { expires_at }), write());
    await create("expired", 1);
    for (let n = 1; n < 20; n++) await create(`k${n}`);
    // Of several that race for the last place one gets it.
    const raced = await Promise.allSettled(["x", "y", "z"].map((name) => create(name)));
    expect(raced.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(create("one-more")).rejects.toMatchObject({ code: "conflict" });
    await store.keys.delete("bot", "k7", write());
    expect(await create("one-more")).toMatchObject({ name: "one-more" });
    const first = await store.keys.list("bot", { limit: 2, offset: 0 });
    expect([first.items.map(({ name }) => name), first.total]).toEqual([["expired", "k1"], 21]);
  });

  test("AUTH-21 a key confers what its principal holds, and says what it is narrowed to", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot", { roles: ["worker"] });
    const conferred: unknown[] = [];
    const confer = (...what: unknown[]) => void conferred.push(what);
    const make = (name: string, permissions: string[] | null) =>
      store.keys.create(newKey("bot", name, { permissions }), { ...write(), confer });
    await make("whole", null);
    await make("narrow", ["worker:w1:connect"]);
    expect(conferred).toEqual([
      [["worker:*:connect"], null],
      [["worker:*:connect"], ["worker:w1:connect"]],
    ]);
  });

  test("AUTH-23 a principal that is gone gets no key", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot");
    await store.principals.delete("bot", { force: false }, identityWrite("principals.delete"));
    expect(await store.keys.create(newKey("bot", "ci"), write())).toBeUndefined();
  });
}
