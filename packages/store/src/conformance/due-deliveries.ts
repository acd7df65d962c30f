/** Which deliveries are due, and in which order: a part of the suite of deliveries. */
import { expect, test } from "vitest";
import type { DeliveryRow } from "../hooks/delivery-row.ts";
import type { HookRow } from "../hooks/hook-row.ts";
import type { Store } from "../store.ts";
import { firedFor, guardFor, hookedStore, newHook, outboxOf } from "./hooked.ts";
import type { Open } from "./opened.ts";
import { newExecution } from "./sample.ts";

const NOW_DUE = 1_000_000;

/** Hooks whose selectors tell their executions apart, and as many deliveries of each. */
async function backlog(
  store: Store,
  lengths: Readonly<Record<string, number>>,
): Promise<ReadonlyMap<string, { readonly hook: HookRow; readonly ids: readonly string[] }>> {
  let n = 0;
  for (const [name, length] of Object.entries(lengths)) {
    await store.hooks.create(newHook(name, { selectors: [`execution:${name}:*:created`] }));
    const numbers = Array.from({ length }, () => ++n);
    await Promise.all(
      numbers.map((one) => store.executions.create(newExecution(one, { namespace: name }))),
    );
  }
  const all = Object.keys(lengths).map(async (name) => {
    const hook = (await store.hooks.find(name)) as HookRow;
    return [name, { hook, ids: (await outboxOf(store, hook)).map(({ id }) => id) }] as const;
  });
  return new Map(await Promise.all(all));
}

/** What is due, as `<hook> <place among those of the hook>`. */
async function due(
  store: Store,
  of: Awaited<ReturnType<typeof backlog>>,
  asked: Partial<Parameters<Store["deliveries"]["due"]>[0]> = {},
): Promise<readonly string[]> {
  const found = await store.deliveries.due({
    ...{ now: NOW_DUE, limit: 100, after: null, but: [] },
    ...asked,
  });
  return found.map(({ hook, id }) => `${hook} ${of.get(hook)?.ids.indexOf(id)}`);
}

function defer(
  store: Store,
  row: Pick<DeliveryRow, "id" | "attempts">,
  { hook, until }: { readonly hook: HookRow; readonly until: number },
): Promise<boolean> {
  const undelivered = { attempts: 1, error: "busy", dead_reason: null, next_attempt_at: until };
  return store.deliveries.fail(guardFor(row, hook), undelivered);
}

export function dueConformance(open: Open): void {
  test("HOOK-24 hooks take turns, each with its oldest row first, from behind the one at which the last pass stopped", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 4, c: 1, b: 2 });
    const all = ["a 0", "b 0", "c 0", "a 1", "b 1", "a 2", "a 3"];
    expect(await due(store, of)).toEqual(all);
    expect(await due(store, of, { limit: 5 })).toEqual(all.slice(0, 5));
    expect(await due(store, of, { limit: 2 })).toEqual(all.slice(0, 2));
    expect(await due(store, of, { limit: 4, after: "a" })).toEqual(["b 0", "c 0", "a 0", "b 1"]);
    expect(await due(store, of, { limit: 3, after: "b" })).toEqual(["c 0", "a 0", "b 0"]);
    expect(await due(store, of, { limit: 2, after: "c" })).toEqual(["a 0", "b 0"]);
    expect(await due(store, of, { limit: 2, after: "bb" })).toEqual(["c 0", "a 0"]);
  });

  test("HOOK-25 of some deliveries those come that are due, with their hooks; of none, none", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 3, b: 2, c: 1, d: 1 });
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => of.get(name));
    if (!a || !b || !c || !d) throw new Error("there is no backlog");
    const [a0, a1, a2] = a.ids as [string, string, string];
    await defer(store, { id: a1, attempts: 0 }, { hook: a.hook, until: NOW_DUE + 1 });
    const kill = { attempts: 1, error: "no", next_attempt_at: null } as const;
    const dead = { ...kill, dead_reason: "target_not_found" } as const;
    await store.deliveries.fail(guardFor({ id: a2, attempts: 0 }, a.hook), dead);
    const [b0] = b.ids as [string];
    await defer(store, { id: b0, attempts: 0 }, { hook: b.hook, until: NOW_DUE + 1 });
    await store.hooks.change("b", { enabled: false }, { revision: 1, by: null });
    const keysOf = ({ hook, ids }: typeof a) => ids.map((id) => ({ hook_id: hook.id, id }));
    const nobodys = { hook_id: c.hook.id, id: "01900000-0000-7000-8000-000000000000" };
    const of_another = { hook_id: c.hook.id, id: a0 };
    const asked = [...keysOf(a), { hook_id: b.hook.id, id: b0 }, ...keysOf(c), nobodys, of_another];
    const found = await store.deliveries.dueAmong(asked, NOW_DUE);
    const told = found.map(({ id, envelope, hook_row }) => [
      ...[id, hook_row?.name, hook_row?.enabled, typeof envelope],
    ]);
    expect(new Set(told.map((one) => JSON.stringify(one)))).toEqual(
      new Set(
        [
          [a0, "a", true, "string"],
          // Nothing that a disabled hook has left need wait (HOOK-23).
          [b0, "b", false, "string"],
          [c.ids[0], "c", true, "string"],
        ].map((one) => JSON.stringify(one)),
      ),
    );
    expect(
      await store.deliveries.dueAmong([{ hook_id: a.hook.id, id: a1 }], NOW_DUE + 1),
    ).toHaveLength(1);
    expect(await store.deliveries.dueAmong([], NOW_DUE)).toEqual([]);
  });

  test("HOOK-24 a batch of 20 settles 17 of a hook with many rows and 3 of one with three", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 60, b: 3 });
    const taken = await due(store, of, { limit: 20 });
    const places = (name: string, length: number) =>
      Array.from({ length }, (_, place) => `${name} ${place}`);
    expect(taken.filter((one) => one.startsWith("a"))).toEqual(places("a", 17));
    expect(taken.filter((one) => one.startsWith("b"))).toEqual(places("b", 3));
  });

  test("HOOK-24 more hooks than rows that are asked for have their turns in the next passes", async () => {
    const store = await hookedStore(open);
    const names = ["a", "b", "c", "d", "e"];
    const of = await backlog(store, Object.fromEntries(names.map((name) => [name, 2])));
    expect(await due(store, of, { limit: 2 })).toEqual(["a 0", "b 0"]);
    expect(await due(store, of, { limit: 2, after: "b" })).toEqual(["c 0", "d 0"]);
    expect(await due(store, of, { limit: 2, after: "d" })).toEqual(["e 0", "a 0"]);
  });

  test("HOOK-26 rows that are being tried are left out, also where a hook has no others", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 3, b: 1, c: 1 });
    const but = [of.get("a")?.ids[0], of.get("b")?.ids[0]].map((id) => id ?? "");
    expect(await due(store, of, { but })).toEqual(["a 1", "c 0", "a 2"]);
    expect(await due(store, of, { but, limit: 2 })).toEqual(["a 1", "c 0"]);
    expect(await due(store, of, { but, limit: 1, after: "a" })).toEqual(["c 0"]);
    const all = [...of.values()].flatMap(({ ids }) => ids);
    expect(await due(store, of, { but: all })).toEqual([]);
  });

  test("HOOK-23 HOOK-31 a row that is tried later is due at its time, in the order of its age", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 4 });
    const { hook, ids = [] } = of.get("a") ?? {};
    if (!hook) throw new Error("there is no hook");
    const later = async (place: number, until: number) => {
      const id = ids[place] ?? "";
      expect(await defer(store, { id, attempts: 0 }, { hook, until })).toBe(true);
    };
    expect(await store.deliveries.nextDueAt(0)).toBeUndefined();
    await later(1, NOW_DUE + 5);
    await later(2, NOW_DUE);
    expect(await due(store, of)).toEqual(["a 0", "a 2", "a 3"]);
    expect(await due(store, of, { limit: 2 })).toEqual(["a 0", "a 2"]);
    expect(await due(store, of, { now: NOW_DUE - 1 })).toEqual(["a 0", "a 3"]);
    expect(await due(store, of, { now: NOW_DUE + 5 })).toEqual(["a 0", "a 1", "a 2", "a 3"]);
    expect(await store.deliveries.nextDueAt(0)).toBe(NOW_DUE);
    expect(await store.deliveries.nextDueAt(NOW_DUE)).toBe(NOW_DUE + 5);
    expect(await store.deliveries.nextDueAt(NOW_DUE + 5)).toBeUndefined();
  });

  test("HOOK-24 hooks that have nothing due are no one's turn, however many rows they have", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 3, b: 2 });
    const { hook, ids = [] } = of.get("a") ?? {};
    if (!hook) throw new Error("there is no hook");
    for (const id of ids) await defer(store, { id, attempts: 0 }, { hook, until: NOW_DUE + 1 });
    expect(await due(store, of, { limit: 1 })).toEqual(["b 0"]);
    expect(await due(store, of, { limit: 9, after: "b" })).toEqual(["b 0", "b 1"]);
  });

  test("HOOK-23 all rows of a disabled hook are due, with the hook as it is now", async () => {
    const store = await hookedStore(open);
    const of = await backlog(store, { a: 2, b: 1 });
    const { hook, ids: [first = ""] = [] } = of.get("a") ?? {};
    if (!hook) throw new Error("there is no hook");
    await defer(store, { id: first, attempts: 0 }, { hook, until: NOW_DUE + 9 });
    const disabled = await store.hooks.change("a", { enabled: false }, { revision: 1, by: null });
    const asked = { now: NOW_DUE, limit: 9, after: null, but: [] };
    const found = await store.deliveries.due(asked);
    expect(found.map(({ id }) => id).sort()).toEqual(
      [...of.values()].flatMap(({ ids }) => ids).sort(),
    );
    expect(found.find(({ id }) => id === first)).toMatchObject({
      ...{ attempts: 1, error: "busy", next_attempt_at: NOW_DUE + 9 },
      ...{ hook_row: disabled, envelope: expect.stringContaining(first) },
    });
    // Nobody waits for a hook that starts nothing.
    expect(await store.deliveries.nextDueAt(0)).toBeUndefined();
  });

  test("HOOK-37 a row that was handed back is due at once", async () => {
    const store = await hookedStore(open);
    const { hook, rows } = await firedFor(store, "page", [1]);
    const [row] = rows;
    if (!row) throw new Error("nothing fired");
    const dead = { attempts: 5, error: "no", next_attempt_at: null } as const;
    const guard = guardFor(row, hook);
    await store.deliveries.fail(guard, { ...dead, dead_reason: "attempts_exhausted" });
    const asked = { now: NOW_DUE, limit: 9, after: null, but: [] };
    expect(await store.deliveries.due(asked)).toEqual([]);
    await store.deliveries.retry(hook.id, row.id);
    expect(await store.deliveries.due(asked)).toMatchObject([{ ...row, hook_row: hook }]);
  });
}
