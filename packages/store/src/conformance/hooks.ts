import { expect, test } from "vitest";
import { declaredHookConformance } from "./declared-hooks.ts";
import { firedFor, guardFor, hookedStore, newHook, outboxOf, settled } from "./hooked.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

const page = { limit: 100, offset: 0 };

export function conformance(open: Open): void {
  declaredHookConformance(open);

  test("HOOK-1 a hook is read as it was written", async () => {
    const store = await opened(open);
    expect(await store.hooks.find("page")).toBeUndefined();
    const fresh = newHook("page", { selectors: ["task:*", "execution:*"], created_by: "ann" });
    const made = await store.hooks.create(fresh);
    const { created_at } = made;
    expect(made).toEqual({
      ...fresh,
      ...{ created_at, updated_at: created_at, updated_by: "ann", revision: 1 },
    });
    expect(await store.hooks.find("page")).toEqual(made);
    expect(await store.hooks.list(page)).toEqual({ items: [made], total: 1 });
  });

  test("HOOK-38 of those that make a hook of one name at once, one does, and the others hear whose it is", async () => {
    const store = await opened(open);
    const owner = { owner_type: "workflow", owner_ref: "shop/checkout" } as const;
    const made = await Promise.allSettled(
      ["1", "2", "3"].map((id) => store.hooks.create(newHook("page", { id, ...owner }))),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(made.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "hook_exists", details: owner },
    });
    expect((await store.hooks.list(page)).total).toBe(1);
  });

  test("HOOK-36 hooks are listed by name, page by page, or only some", async () => {
    const store = await opened(open);
    const of = (owner_ref: string) => ({ owner_type: "workflow", owner_ref }) as const;
    await store.hooks.create(newHook("b", of("shop/a")));
    await store.hooks.create(newHook("a_1", of("shop/b")));
    await store.hooks.create(newHook("a-1", { enabled: false }));
    await store.hooks.create(newHook("0"));
    const names = async (filter: object) => {
      const { items, total } = await store.hooks.list({ ...page, ...filter });
      return [items.map(({ name }) => name), total];
    };
    expect(await names({})).toEqual([["0", "a-1", "a_1", "b"], 4]);
    expect(await names({ limit: 1, offset: 1 })).toEqual([["a-1"], 4]);
    expect(await names({ enabled_only: true })).toEqual([["0", "a_1", "b"], 3]);
    expect(await names({ enabled_only: false })).toEqual([["0", "a-1", "a_1", "b"], 4]);
    expect(await names({ owner_type: "user" })).toEqual([["0", "a-1"], 2]);
    expect(await names({ owner_ref: "shop/a" })).toEqual([["b"], 1]);
  });

  test("HOOK-26 HOOK-37 a change holds at the revision at which it was checked, and counts that up", async () => {
    const store = await opened(open);
    const made = await store.hooks.create(newHook("page"));
    const at = { revision: 1, by: "ann" };
    const changed = await store.hooks.change("page", { max_attempts: 9, enabled: false }, at);
    expect(changed).toEqual({
      ...{ ...made, max_attempts: 9, enabled: false },
      ...{ revision: 2, updated_by: "ann", updated_at: expect.any(Number) },
    });
    expect(await store.hooks.find("page")).toEqual(changed);
    expect(await store.hooks.change("page", { enabled: true }, at)).toBe("stale");
    expect(await store.hooks.find("page")).toEqual(changed);
    expect(await store.hooks.change("other", { enabled: true }, at)).toBeUndefined();
  });

  test("HOOK-26 of two changes that were checked at one revision, one is written", async () => {
    const store = await opened(open);
    await store.hooks.create(newHook("page"));
    const at = { revision: 1, by: null };
    const both = await Promise.all([
      store.hooks.change("page", { max_attempts: 2 }, at),
      store.hooks.change("page", { max_attempts: 3 }, at),
    ]);
    expect(both.filter((one) => one === "stale")).toHaveLength(1);
    expect((await store.hooks.find("page"))?.revision).toBe(2);
  });

  test("HOOK-1 HOOK-41 what sends again what a hook has changes nothing of it", async () => {
    const store = await opened(open);
    const { max_attempts, selectors, ...made } = await store.hooks.create(newHook("page"));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const same = { max_attempts, selectors: [...selectors] };
    const at = { revision: 1, by: "bob" };
    const after = await store.hooks.change("page", same, at);
    expect(after).toEqual({ ...made, max_attempts, selectors });
    expect(await store.hooks.change("page", {}, at)).toEqual(after);
    expect(await store.hooks.find("page")).toEqual(after);
  });

  test("HOOK-4 with a hook go its deliveries, and it is said how many of them waited", async () => {
    const store = await hookedStore(open);
    const { hook, rows } = await firedFor(store, "page", [1, 2, 3]);
    const other = await firedFor(store, "other", [4]);
    const [first] = rows;
    if (!first) throw new Error("nothing fired");
    const dead = { attempts: 0, error: "no", next_attempt_at: null };
    await store.deliveries.fail(guardFor(first, hook), { ...dead, dead_reason: "hop_limit" });
    // The fourth execution fired both.
    expect(await store.hooks.delete("page")).toBe(3);
    expect(await outboxOf(store, hook)).toEqual([]);
    expect(await store.deliveries.find(hook.id, first.id)).toBeUndefined();
    expect(await outboxOf(store, other.hook)).toHaveLength(1);
    expect(await store.hooks.delete("page")).toBeUndefined();
    expect(await store.hooks.find("page")).toBeUndefined();
    await store.hooks.create(newHook("page", { id: "another" }));
  });

  test("HOOK-2 the status of a hook counts what waits and what is dead, and knows the last delivery", async () => {
    const store = await hookedStore(open);
    const { hook, rows } = await firedFor(store, "page", [1, 2, 3, 4]);
    expect(await store.hooks.status(hook.id)).toEqual({
      ...{ pending: 4, dead: 0, last_delivered_at: null },
    });
    const [first, second, third] = rows.map((row) => guardFor(row, hook));
    if (!first || !second || !third) throw new Error("nothing fired");
    await settled(store, second);
    await settled(store, first);
    const dead = { attempts: 5, error: "no", next_attempt_at: null } as const;
    await store.deliveries.fail(third, { ...dead, dead_reason: "attempts_exhausted" });
    const delivered = await store.deliveries.find(hook.id, first.delivery_id);
    expect(await store.hooks.status(hook.id)).toEqual({
      ...{ pending: 1, dead: 1, last_delivered_at: delivered?.settled_at },
    });
    expect(await store.hooks.status("nobody's")).toEqual({
      ...{ pending: 0, dead: 0, last_delivered_at: null },
    });
  });

  test("HOOK-12 each change raises the epoch of hooks, what changes nothing does not", async () => {
    const store = await opened(open);
    const epoch = async () => (await store.epochs.read()).hooks;
    await store.hooks.create(newHook("page"));
    expect(await epoch()).toBe(1);
    await store.hooks.change("page", { enabled: false }, { revision: 1, by: null });
    expect(await epoch()).toBe(2);
    await store.hooks.change("page", { enabled: false }, { revision: 2, by: null });
    await store.hooks.change("page", { enabled: true }, { revision: 1, by: null });
    await store.hooks.delete("other");
    expect(await epoch()).toBe(2);
    await store.hooks.delete("page");
    expect(await epoch()).toBe(3);
  });

  test("AUD-3 every change is in the audit log with what it changed", async () => {
    const store = await opened(open);
    const entry = (action: string) => identityWrite(action, { target: "page" }).entry;
    await store.hooks.create(newHook("page"), entry("create"));
    const at = { revision: 1, by: null };
    await store.hooks.change("page", { principal: "robot" }, at, entry("update"));
    await store.hooks.change("page", { principal: "robot" }, { ...at, revision: 2 }, entry("no"));
    await store.hooks.change("page", { principal: "other" }, at, entry("stale"));
    await store.hooks.delete("page", entry("delete"));
    await store.hooks.delete("page", entry("too late"));
    expect(await auditOf(store)).toMatchObject([
      { action: "create", changes: { workflow: { before: null, after: "ops/page" } } },
      { action: "update", changes: { principal: { before: "ops-bot", after: "robot" } } },
      { action: "delete", changes: { selectors: { after: null } } },
    ]);
  });
}
