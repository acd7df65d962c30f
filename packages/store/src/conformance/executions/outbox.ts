/** How events become deliveries of hooks, on every path that writes events. */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { DeliveryRow } from "../../hooks/delivery-row.ts";
import type { HookRow } from "../../hooks/hook-row.ts";
import type { Store } from "../../store.ts";
import { firedFor, hookedStore, newHook, outboxOf } from "../hooked.ts";
import type { Open } from "../opened.ts";
import { appending, event, executionId, NOW, newExecution, newSession } from "../sample.ts";
import { callChild, complete, run, startRunning } from "./family.ts";

const EVERYTHING = ["execution:*", "task:*"];

const started = (id: string) => event("TASK_STARTED", id);

function add(store: Store, n: number, ...ids: readonly string[]) {
  return store.executions.change(executionId(n), (row) => appending(row, ids.map(started)));
}

/** Deliveries of a hook, by their events: those of one millisecond come in any order else. */
async function rowsOf(store: Store, hook: Pick<HookRow, "id">): Promise<readonly DeliveryRow[]> {
  const rows = await outboxOf(store, hook);
  return rows.toSorted((a, b) => (a.event_key < b.event_key ? -1 : 1));
}

/** What the deliveries of a hook show of their events, by these. */
async function envelopes(store: Store, name: string) {
  const hook = await store.hooks.find(name);
  const rows = hook ? await rowsOf(store, hook) : [];
  const found = rows.map(({ hook_id, id }) => store.deliveries.find(hook_id, id));
  return (await Promise.all(found)).map((one) => JSON.parse(one?.envelope ?? "null"));
}

export function outboxConformance(open: Open): void {
  test("HOOK-14 every event has its delivery, however it came into the log", async () => {
    const store = await hookedStore(open);
    const hook = await store.hooks.create(newHook("all", { selectors: EVERYTHING }));
    await store.executions.create(newExecution(1));
    await store.sessions.open(newSession("s1", { worker: "w" }));
    const { epoch = -1 } = (await store.sessions.connect("s1", "replica")) ?? {};
    const claimant = { worker: "w", session: "s1", epoch, now: NOW };
    await store.executions.create(newExecution(2), claimant);
    await add(store, 2, "a");
    await add(store, 2, "b", "c");
    const parent = await startRunning(store, 3);
    await callChild(store, parent, 4);
    await run(store, executionId(4));
    await complete(store, executionId(4), "done");
    await Promise.all([5, 6, 7].map((n) => store.executions.create(newExecution(n))));
    const expected: string[] = [];
    for (const n of [1, 2, 3, 4, 5, 6, 7]) {
      const log = await store.log.read(executionId(n));
      expected.push(...log.map((line) => `${executionId(n)}:${line.event.seq}`));
    }
    expect(expected.length).toBeGreaterThan(15);
    const rows = await outboxOf(store, hook);
    expect(rows.map(({ event_key }) => event_key).sort()).toEqual(expected.sort());
    expect(new Set(rows.map(({ id }) => id)).size).toBe(expected.length);
  });

  test("HOOK-10 each event of a commit has one delivery for each hook, with what it says itself", async () => {
    const store = await hookedStore(open);
    const selectors = ["task:*:*:greet:*", "task:*"];
    await store.hooks.create(newHook("tasks", { selectors }));
    await store.hooks.create(newHook("failures", { selectors: ["task:*:*:*:failed"] }));
    await store.executions.create(newExecution(1));
    await store.executions.change(executionId(1), (row) =>
      appending(row, [started("a"), event("TASK_FAILED", "a", { message: "no" })]),
    );
    const shown = (await envelopes(store, "tasks")).map(({ selector, event_key, event }) => [
      ...[selector, event_key, event.type, event.value, event.task_name],
    ]);
    const key = (seq: number) => `${executionId(1)}:${seq}`;
    expect(shown).toEqual([
      ["task:*:*:greet:*", key(2), "started", null, "greet"],
      ["task:*:*:greet:*", key(3), "failed", { message: "no" }, "greet"],
    ]);
    expect(await envelopes(store, "failures")).toMatchObject([{ event_key: key(3) }]);
  });

  test("HOOK-14 what is refused, or changes nothing, leaves no delivery", async () => {
    const store = await hookedStore(open);
    const { hook, rows } = await firedFor(store, "page", [1]);
    const again = store.executions.create(newExecution(1));
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    const [refused, other] = await Promise.allSettled([
      store.executions.change(executionId(1), () => {
        throw new Error("no");
      }),
      store.executions.create(newExecution(2)),
    ]);
    expect([refused.status, other.status]).toEqual(["rejected", "fulfilled"]);
    await store.executions.change(executionId(1), () => undefined);
    const found = await rowsOf(store, hook);
    expect(found.map(({ event_key }) => event_key)).toEqual([
      rows[0]?.event_key,
      `${executionId(2)}:1`,
    ]);
  });

  test("HOOK-12 a hook counts from its creation on, and no longer once it is disabled or deleted", async () => {
    const store = await hookedStore(open);
    await store.executions.create(newExecution(1));
    const { hook } = await firedFor(store, "page", [2]);
    const sources = async () =>
      (await rowsOf(store, hook)).map(({ source_execution_id }) => source_execution_id);
    expect(await sources()).toEqual([executionId(2)]);
    const at = { revision: 1, by: null };
    await store.hooks.change("page", { enabled: false }, at);
    await store.executions.create(newExecution(3));
    await store.hooks.change("page", { enabled: true }, { ...at, revision: 2 });
    await store.executions.create(newExecution(4));
    const selectors = ["execution:*:*:failed"];
    await store.hooks.change("page", { selectors }, { ...at, revision: 3 });
    await store.executions.create(newExecution(5));
    expect(await sources()).toEqual([executionId(2), executionId(4)]);
    await store.hooks.delete("page");
    await store.executions.change(executionId(5), (row) =>
      appending(row, [event("WORKFLOW_FAILED", executionId(5))]),
    );
    expect(await sources()).toEqual([]);
  });

  test("HOOK-12 a hook that is made and an event that are asked for at once leave both or the event alone", async () => {
    const store = await hookedStore(open);
    await Promise.allSettled([
      store.hooks.create(newHook("page")),
      store.executions.create(newExecution(1)),
      // The name is taken, so that what was asked together is undone on the way.
      store.hooks.create(newHook("page", { id: "another" })),
      store.executions.create(newExecution(2)),
    ]);
    await store.executions.create(newExecution(3));
    const hook = await store.hooks.find("page");
    const rows = hook ? await outboxOf(store, hook) : [];
    const sources = rows.map(({ source_execution_id }) => source_execution_id);
    expect(sources).toContain(executionId(3));
    expect(await store.executions.find(executionId(1))).toBeDefined();
  });

  test("HOOK-13 where hooks are off no event is matched, and what is there stays", async () => {
    const store = await hookedStore(open, { enabled: false });
    const { hook, rows } = await firedFor(store, "page", [1, 2]);
    expect(rows).toEqual([]);
    expect(await store.hooks.find("page")).toEqual(hook);
    expect(store.outbox.hasHooks).toBe(false);
    await store.outbox.refresh();
  });

  test("HOOK-16 HOOK-20 without a known set of masks the marker stands, and the event is written", async () => {
    const store = await hookedStore(open, { redact: undefined });
    await store.hooks.create(newHook("page"));
    await store.executions.create(newExecution(1));
    store.outbox.redactWith((json) => json.replaceAll("hello", "***"));
    await store.executions.create(newExecution(2, { name: "say hello" }));
    store.outbox.redactWith(() => {
      throw new Error("the set of masks is not current");
    });
    await store.executions.create(newExecution(3));
    const values = (await envelopes(store, "page")).map(({ event }) => event.value);
    const failed = { $omitted: { reason: "redaction_failed" } };
    expect(values).toEqual([failed, expect.objectContaining({ label: "say ***" }), failed]);
  });

  test("HOOK-16 while there is a hook, a commit waits until it is known what is masked", async () => {
    const store = await hookedStore(open, { redact: undefined });
    // From then on it is known that there are none.
    await store.executions.create(newExecution(1));
    let mask: ((json: string) => string) | undefined;
    let asked = 0;
    const known = Promise.withResolvers<void>();
    store.outbox.redactWith(
      (json) => {
        if (!mask) throw new Error("it is not known what is masked");
        return mask(json);
      },
      (hasHooks) => {
        if (!hasHooks) return undefined;
        asked++;
        return mask ? undefined : known.promise;
      },
    );
    await store.executions.create(newExecution(4));
    expect(asked).toBe(0);
    await store.hooks.create(newHook("page"));
    await store.outbox.refresh();
    const both = [2, 3].map((n) => store.executions.create(newExecution(n, { name: "say hello" })));
    let isWritten = false;
    void Promise.race(both).then(() => {
      isWritten = true;
    });
    await setTimeout(50);
    expect([isWritten, await store.executions.find(executionId(2))]).toEqual([false, undefined]);
    mask = (json) => json.replaceAll("hello", "***");
    known.resolve();
    await Promise.all(both);
    const labels = (await envelopes(store, "page")).map(({ event }) => event.value);
    expect(labels).toEqual(Array(2).fill(expect.objectContaining({ label: "say ***" })));
  });

  test("HOOK-16 a store that closes commits what waits for that first", async () => {
    const store = await hookedStore(open);
    await store.hooks.create(newHook("page"));
    await store.outbox.refresh();
    const known = Promise.withResolvers<void>();
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    store.outbox.redactWith(
      (json) => json,
      (hasHooks) => {
        if (hasHooks) asked();
        return hasHooks ? known.promise : undefined;
      },
    );
    const written = store.executions.create(newExecution(1));
    await isAsked;
    const closed = store.close();
    known.resolve();
    await expect(written).resolves.toMatchObject({ row: { execution_id: executionId(1) } });
    await closed;
  });

  test("HOOK-20 a value that is too large is left out, as the options say", async () => {
    const store = await hookedStore(open, { max_value_bytes: 1_024 });
    await store.hooks.create(newHook("tasks", { selectors: ["task:*"] }));
    await store.executions.create(newExecution(1));
    await store.executions.change(executionId(1), (row) =>
      appending(row, [event("TASK_COMPLETED", "a", "x".repeat(1_023))]),
    );
    const [envelope] = await envelopes(store, "tasks");
    expect(envelope.event.value.$omitted).toMatchObject({ reason: "too_large", bytes: 1_025 });
  });

  test("HOOK-14 EXE-87 events that a fork copies have no delivery, its own have", async () => {
    const store = await hookedStore(open);
    const hook = await store.hooks.create(newHook("all", { selectors: EVERYTHING }));
    const from = { execution_id: executionId(1), seq: 3 };
    const history = [event("WORKFLOW_STARTED", executionId(1)), started("a")];
    const fork = { from, history, calls: new Map() };
    const { events } = await store.executions.create(newExecution(2, { fork }));
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const keys = (await outboxOf(store, hook)).map(({ event_key }) => event_key);
    expect(keys.sort()).toEqual([1, 4].map((seq) => `${executionId(2)}:${seq}`));
  });

  test("HOOK-33 HOOK-34 the hook behind an execution is kept on its row, and its events are a hop further", async () => {
    const store = await hookedStore(open);
    const made = await store.hooks.create(newHook("page"));
    const hooks = [
      { name: "page", delivery_id: "0192f0c1", hop: 2 },
      { name: null, delivery_id: null, hop: 0 },
      null,
    ];
    for (const [i, hook] of hooks.entries()) {
      const { row } = await store.executions.create(newExecution(i + 1, { hook }));
      expect(row.hook).toEqual(hook);
      const changed = await add(store, i + 1, "a");
      expect(changed.row.hook).toEqual(hook);
      expect(await store.executions.find(row.execution_id)).toEqual(changed.row);
    }
    const rows = await rowsOf(store, made);
    expect(rows.map(({ hop }) => hop)).toEqual([3, 1, 0]);
    const { items } = await store.executions.list({ order: "created_asc", limit: 9, offset: 0 });
    expect(items.map(({ hook }) => hook)).toEqual(hooks);
  });

  test("HOOK-25 whoever drains is told of a commit that wrote deliveries, and of no other", async () => {
    const store = await hookedStore(open);
    const told: string[] = [];
    const stop = store.outbox.onDeliveries(
      (written) => void told.push(...written.map(({ hook }) => hook)),
    );
    await store.executions.create(newExecution(1));
    expect(store.outbox.hasHooks).toBe(false);
    await store.hooks.create(newHook("page"));
    await store.hooks.create(newHook("tasks", { selectors: ["task:*"] }));
    await store.outbox.refresh();
    expect(store.outbox.hasHooks).toBe(true);
    expect(told).toEqual([]);
    await store.executions.create(newExecution(2));
    expect(told).toEqual(["page"]);
    await store.executions.create(newExecution(2)).catch(() => undefined);
    expect(told).toEqual(["page"]);
    await add(store, 2, "a", "b");
    expect(told).toEqual(["page", "tasks", "tasks"]);
    await store.sessions.open(newSession("s1", { worker: "w" }));
    const { epoch = -1 } = (await store.sessions.connect("s1", "replica")) ?? {};
    await store.executions.create(newExecution(3), { worker: "w", session: "s1", epoch, now: NOW });
    await add(store, 3, "a");
    expect(told.slice(3)).toEqual(["page", "tasks"]);
    stop();
    await add(store, 2, "c");
    expect(told).toHaveLength(5);
  });
}
