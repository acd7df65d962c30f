/** Servers that match, change and drain on one database at the same time. */
import { afterAll, expect, test } from "vitest";
import { change, OWNER, register, remove } from "../conformance/declared-hooks.ts";
import { firedFor, guardFor, HOOKS_ON, newHook, outboxOf, target } from "../conformance/hooked.ts";
import { opened } from "../conformance/opened.ts";
import {
  appending,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "../conformance/sample.ts";
import type { OutboxOptions } from "../hooks/outbox.ts";
import type { Store } from "../store.ts";
import { startTestPostgres } from "../testing/test-postgres.ts";
import { openPostgresStore } from "./postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

/** Hooks are read once, unless somebody says that they have changed. */
const SELDOM: OutboxOptions = { ...HOOKS_ON, snapshot_ttl_seconds: 3_600 };

async function two(hooks = HOOKS_ON): Promise<readonly [Store, Store]> {
  const url = await postgres.createDatabase();
  const open = () => opened(() => openPostgresStore({ url, clock: Date.now, hooks }));
  return [await open(), await open()];
}

async function claimant(store: Store) {
  await store.sessions.open(newSession("s1", { worker: "w" }));
  const { epoch = -1 } = (await store.sessions.connect("s1", "replica")) ?? {};
  return { worker: "w", session: "s1", epoch, now: NOW };
}

test("HOOK-26 of two servers that drain one backlog each row starts one execution and is delivered once", async () => {
  const [a, b] = await two();
  const numbers = Array.from({ length: 40 }, (_, i) => i + 1);
  const { hook, rows } = await firedFor(a, "page", numbers);
  const drain = async (store: Store, inOrder: typeof rows) => {
    const answers = inOrder.map((row) => {
      const n = 1_000 + rows.indexOf(row);
      return store.executions.create(target(n, { delivery: guardFor(row, hook) }));
    });
    return (await Promise.all(answers)).map(({ undelivered, existing }) => [undelivered, existing]);
  };
  const answers = (await Promise.all([drain(a, rows), drain(b, rows.toReversed())])).flat();
  expect(answers.filter(([undelivered]) => undelivered)).toHaveLength(rows.length);
  expect(answers.filter(([, existing]) => existing)).toHaveLength(0);
  // Targets have fired the hook as well, which is fired by everything.
  const after = (await outboxOf(a, hook)).filter(({ status }) => status === "delivered");
  expect(after.map(({ execution_id }) => execution_id)).toEqual(
    rows.map((_, place) => executionId(1_000 + place)),
  );
  expect(after.every(({ attempts }) => attempts === 1)).toBe(true);
  const all = await a.executions.list({ order: "created_asc", limit: 200, offset: 0 });
  expect(all.total).toBe(2 * numbers.length);
});

test("HOOK-26 a try that fails on one server and the start on another settle a row once", async () => {
  const [a, b] = await two();
  const numbers = Array.from({ length: 20 }, (_, i) => i + 1);
  const { hook, rows } = await firedFor(a, "page", numbers);
  const undelivered = { attempts: 1, error: "no", dead_reason: null, next_attempt_at: 1 } as const;
  const answers = await Promise.all(
    rows.map(async (row, place) => {
      const guard = guardFor(row, hook);
      const [failed, started] = await Promise.all([
        a.deliveries.fail(guard, undelivered),
        b.executions.create(target(1_000 + place, { delivery: guard })),
      ]);
      return [failed, !started.undelivered];
    }),
  );
  for (const [failed, started] of answers) expect(failed).toBe(!started);
});

test("HOOK-12 to disable a hook takes effect at once on all servers, whatever they know of it", async () => {
  const [a, b] = await two(SELDOM);
  const hook = await b.hooks.create(newHook("page"));
  await a.outbox.refresh();
  const by = await claimant(a);
  await a.executions.create(newExecution(1), by);
  expect(await outboxOf(a, hook)).toHaveLength(1);
  await b.hooks.change("page", { enabled: false }, { revision: 1, by: null });
  // By one statement, and by one under locks.
  await a.executions.create(newExecution(2), by);
  await a.executions.create(newExecution(3));
  expect(await outboxOf(a, hook)).toHaveLength(1);
  expect(a.outbox.hasHooks).toBe(true);
  await b.hooks.delete("page");
  await a.executions.create(newExecution(4), by);
  expect(await outboxOf(a, hook)).toHaveLength(0);
});

test("HOOK-12 while a hook is disabled events commit, each with its delivery or behind the answer", async () => {
  const [a, b] = await two(SELDOM);
  const hook = await b.hooks.create(newHook("page"));
  await a.outbox.refresh();
  let isDisabled = false;
  const behind: string[] = [];
  const numbers = Array.from({ length: 200 }, (_, i) => i + 1);
  const disabling = (async () => {
    await a.executions.create(newExecution(1_000));
    await b.hooks.change("page", { enabled: false }, { revision: 1, by: null });
    isDisabled = true;
  })();
  for (const n of numbers) {
    if (isDisabled) behind.push(executionId(n));
    await a.executions.create(newExecution(n));
  }
  await disabling;
  expect(behind.length).toBeGreaterThan(0);
  const sources = (await outboxOf(a, hook)).map((row) => row.source_execution_id);
  expect(sources.filter((id) => behind.includes(id))).toEqual([]);
});

test("HOOK-12 a hook that another server makes counts once this one has heard of it", async () => {
  const [a, b] = await two(SELDOM);
  await a.executions.create(newExecution(1));
  const hook = await b.hooks.create(newHook("page"));
  await b.outbox.refresh();
  await b.executions.create(newExecution(2));
  await a.executions.create(newExecution(3));
  expect(await outboxOf(a, hook)).toHaveLength(1);
  await a.outbox.refresh();
  await a.executions.create(newExecution(4));
  expect(await outboxOf(a, hook)).toHaveLength(2);
});

test("HOOK-12 where hooks may have no age they are read for each commit", async () => {
  const [a, b] = await two();
  const hook = await b.hooks.create(newHook("page"));
  await a.executions.create(newExecution(1), await claimant(a));
  expect(await outboxOf(a, hook)).toHaveLength(1);
  const before = a.statementCount();
  await a.executions.change(executionId(1), (row) => appending(row, [event("TASK_STARTED", "a")]));
  expect(a.statementCount() - before).toBe("epoch change".split(" ").length);
});

test("HOOK-14 HOOK-11 an event that fires hooks takes one statement, as one without", async () => {
  const [a] = await two(SELDOM);
  const hook = await a.hooks.create(newHook("all", { selectors: ["execution:*", "task:*"] }));
  await a.outbox.refresh();
  const by = await claimant(a);
  const before = a.statementCount();
  await a.executions.create(newExecution(1), by);
  await a.executions.change(executionId(1), (row) => appending(row, [event("TASK_STARTED", "a")]));
  expect(a.statementCount() - before).toBe(2);
  expect(await outboxOf(a, hook)).toHaveLength(3);
});

test("HOOK-30 the starts of a batch are one transaction of eight statements, whatever their number", async () => {
  const [a] = await two(SELDOM);
  const hook = await a.hooks.create(newHook("page"));
  await a.outbox.refresh();
  const numbers = Array.from({ length: 50 }, (_, i) => i + 1);
  await Promise.all(numbers.map((n) => a.executions.create(newExecution(n))));
  const rows = await outboxOf(a, hook);
  await a.hooks.change("page", { selectors: ["task:*"] }, { revision: 1, by: null });
  await a.outbox.refresh();
  const before = a.statementCount();
  const started = rows.map((row, place) => {
    const delivery = guardFor(row, { id: hook.id, revision: 2 });
    return a.executions.create(target(1_000 + place, { delivery }));
  });
  const answers = await Promise.all(started);
  expect(answers.some(({ undelivered }) => undelivered)).toBe(false);
  expect(a.statementCount() - before).toBe(
    "begin hooks deliveries lock rows segments settle commit".split(" ").length,
  );
});

test("HOOK-26 whoever starts, retries, changes, deletes or registers at the same time waits for nobody for ever", async () => {
  const [a, b] = await two(SELDOM);
  for (let round = 0; round < 5; round++) {
    const hooks = await Promise.all(
      ["x", "y", "k", "l", "m"].map((name) => {
        const owner = name < "x" ? OWNER : {};
        return a.hooks.create(newHook(name, { id: `${name}${round}`, ...owner }));
      }),
    );
    await Promise.all([a.outbox.refresh(), b.outbox.refresh()]);
    const numbers = Array.from({ length: 20 }, (_, i) => round * 100 + i + 1);
    await Promise.all(numbers.map((n) => a.executions.create(newExecution(n))));
    const of = await Promise.all(
      hooks.map(async (hook) => ({ hook, rows: await outboxOf(a, hook) })),
    );
    const dead = { attempts: 1, error: "no", dead_reason: "hop_limit", next_attempt_at: null };
    const asked = of.flatMap(({ hook, rows }, at) =>
      rows.flatMap((row, place): Promise<unknown>[] => {
        const n = 10_000 + round * 1_000 + at * 100 + place;
        const guard = guardFor(row, hook);
        return [
          (place % 2 ? a : b).executions.create(target(n, { delivery: guard })),
          b.deliveries.fail(guard, { ...dead, dead_reason: "hop_limit" }),
          a.deliveries.retry(hook.id, row.id),
        ];
      }),
    );
    const all = { settled_before: Date.now() + 10_000, limit: 100 };
    await Promise.all([
      ...asked,
      ...hooks.map(({ id }) => b.deliveries.retryMany(id, all)),
      a.hooks.change("x", { max_attempts: 2 }, { revision: 1, by: null }),
      b.hooks.delete("y"),
      register(b, `${round}`, ([k, l, m]) => [
        ...(m ? [remove(m)] : []),
        change(l, { max_attempts: 3 }),
        change(k, { max_attempts: 4 }),
      ]),
      a.deliveries.deleteSettled(Date.now() + 10_000, 5),
      ...numbers.map((n) =>
        b.executions.change(executionId(n), (row) => appending(row, [event("TASK_STARTED", "a")])),
      ),
    ]);
    await a.hooks.delete("x");
    await a.catalog.delete("default", "hello");
    expect((await a.hooks.list({ limit: 9, offset: 0 })).items).toEqual([]);
  }
});
