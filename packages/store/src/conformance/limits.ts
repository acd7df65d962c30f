import {
  decideCancel,
  decideClaim,
  EngineError,
  handOver,
  type NewExecution,
  type ResolvedLimit,
} from "@engine/contract";
import { expect, test } from "vitest";
import type { Changed } from "../ports/executions.ts";
import type { Store } from "../store.ts";
import { CALL, callStart, checkpoint, complete, run } from "./executions/family.ts";
import { auditOf, identityWrite } from "./identity.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, event, executionId, NOW, newExecution } from "./sample.ts";

const page = { limit: 100, offset: 0 };
const DAY = 86_400_000;

const two: ResolvedLimit = {
  kind: "concurrency",
  bucket: '["concurrency","shop/order"]',
  count: 2,
};
const one: ResolvedLimit = { kind: "concurrency", bucket: two.bucket, count: 1 };
const kept: ResolvedLimit = {
  ...{ kind: "concurrency", bucket: '["concurrency","shop/order"]', count: 1 },
  hold_while_waiting: true,
};
const rejecting: ResolvedLimit = { ...two, overflow: "reject" };
const hourly: ResolvedLimit = {
  ...{ kind: "rate", bucket: '["rate","shop/order"]', count: 2 },
  period_ms: 3_600_000,
};
const openai: ResolvedLimit = { kind: "limit", bucket: '["limit","openai"]', name: "openai" };

export function conformance(open: Open): void {
  test("FLW-1 FLW-8 no more executions than the limit says are owned at once", async () => {
    const store = await opened(open);
    const created = await createAll(store, [1, 2, 3, 4], [two]);
    expect(created.map(({ limited }) => limited)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const claims = await Promise.all([1, 2, 3, 4].map((n) => claim(store, n)));
    const waiting = claims.filter(({ unchanged }) => unchanged);
    expect(waiting).toHaveLength(2);
    for (const { row, limited } of waiting) {
      expect(row).toMatchObject({ state: "CREATED", session: null, generation: 0 });
      expect(limited).toMatchObject({ reason: "concurrency_limit", count: 2, held: 2 });
    }
    const owned = claims.filter(({ unchanged }) => !unchanged).map(({ row }) => row.execution_id);
    const [{ limited } = { limited: undefined }] = waiting;
    expect(limited?.reason === "concurrency_limit" && limited.holders).toEqual(owned.sort());
    expect(await holdersIn(store, two)).toEqual(owned);
  });

  test("FLW-1 an execution that ends or is given back frees its place, and takes one again", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2, 3], [one]);
    await claim(store, 1);
    expect((await claim(store, 2)).limited).toBeDefined();
    await store.executions.change(executionId(1), (row) =>
      handOver(row, { now: NOW, cancel_timeout_ms: 1 }),
    );
    expect((await claim(store, 2)).row.generation).toBe(1);
    expect((await claim(store, 1)).limited).toBeDefined();
    await begin(store, 2);
    await complete(store, executionId(2), "done");
    expect((await claim(store, 1)).row.generation).toBe(2);
    expect(await holdersIn(store, two)).toEqual([executionId(1)]);
  });

  test("FLW-1 FLW-8 what is given back and claimed together is counted in its order", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2], [one]);
    await claim(store, 1);
    const [, claimed] = await Promise.all([
      store.executions.change(executionId(1), (row) =>
        handOver(row, { now: NOW, cancel_timeout_ms: 1 }),
      ),
      claim(store, 2),
    ]);
    expect(claimed.limited?.reason ?? claimed.row.generation).toBe(1);
  });

  test("FLW-1 holdWhileWaiting keeps the place while the execution waits, until its end", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2], [kept]);
    await claim(store, 1);
    await store.executions.change(executionId(1), (row) =>
      handOver(row, { now: NOW, cancel_timeout_ms: 1 }),
    );
    expect((await claim(store, 2)).limited).toMatchObject({ held: 1, holders: [executionId(1)] });
    expect((await claim(store, 1)).row.generation).toBe(2);
    await begin(store, 1);
    await complete(store, executionId(1), "done");
    expect(await holdersIn(store, kept)).toEqual([]);
    expect((await claim(store, 2)).row.generation).toBe(1);
  });

  test("FLW-1 FLW-8 a fresh execution is claimed with its creation while there is room", async () => {
    const store = await opened(open);
    const made = await createAll(store, [1, 2, 3], [two], claimant);
    expect(made.map(({ row }) => row.generation)).toEqual([1, 1, 0]);
    expect(made[2]?.limited).toMatchObject({ reason: "concurrency_limit", held: 2 });
    expect((await store.executions.find(executionId(3)))?.state).toBe("CREATED");
  });

  test("FLW-1 a start that would wait is refused where its workflow rejects overflow", async () => {
    const store = await opened(open);
    const some = [1, 2, 3, 4].map((n) =>
      store.executions.create(limited(n, [rejecting]), claimant).catch((error: unknown) => error),
    );
    const made = await Promise.all(some);
    expect(made[1]).toMatchObject({ row: { generation: 1 } });
    for (const error of [made[2], made[3]] as EngineError[]) {
      expect(error).toBeInstanceOf(EngineError);
      expect(error.code).toBe("concurrency_limited");
      expect(error.details).toEqual({ limit: "concurrency", key: null, count: 2, held: 2 });
    }
    // Also where no worker would be free for it.
    await expect(store.executions.create(limited(5, [rejecting]))).rejects.toMatchObject({
      code: "concurrency_limited",
    });
    for (const n of [3, 4, 5]) expect(await store.executions.find(executionId(n))).toBeUndefined();
    const later = await store.executions.create(
      limited(6, [rejecting], { not_before: NOW + 1_000 }),
    );
    expect(later.row.state).toBe("CREATED");
  });

  test("FLW-1 a call of a workflow that rejects overflow fails at once", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2], [rejecting], claimant);
    await store.executions.create(newExecution(3));
    await run(store, executionId(3));
    const changed = await checkpoint(
      store,
      executionId(3),
      () => ({ state: "RUNNING", events: [callStart(false)] }),
      ({ execution_id, depth }) => [
        4,
        {
          parent: { execution_id, depth, call_id: CALL, detached: false },
          requirements: { limits: [rejecting] },
        },
      ],
    );
    const child = await store.executions.find(executionId(4));
    expect(child).toMatchObject({
      state: "FAILED",
      failure: { type: "ConcurrencyLimitedError", code: "concurrency_limited" },
    });
    expect(changed.row.waits).toEqual([]);
    const log = await store.log.read(executionId(3), {});
    expect(log.at(-1)?.event).toMatchObject({ type: "TASK_FAILED", source_id: CALL });
  });

  test("FLW-2 no more than so many begin within the period; what goes on does not count", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2, 3], [hourly]);
    const first = await claim(store, 1);
    await store.executions.change(executionId(1), (row) =>
      handOver(row, { now: NOW, cancel_timeout_ms: 1 }),
    );
    expect((await claim(store, 1)).row.generation).toBe(2);
    expect((await claim(store, 2)).row.generation).toBe(1);
    const denied = await claim(store, 3);
    expect(denied.limited).toEqual({
      ...{ reason: "rate_limit", limit: hourly, count: 2, period_ms: 3_600_000 },
      free_at: first.recorded_at + 3_600_000,
    });
    expect(denied.row.generation).toBe(0);
  });

  test("FLW-2 what begins under one rate of a bucket counts under every other one, by whichever version it was declared", async () => {
    const store = await opened(open);
    const rate = (count: number, period_ms = 3_600_000): ResolvedLimit => {
      return { kind: "rate", bucket: hourly.bucket, count, period_ms };
    };
    await createAll(store, [1, 5], [rate(3)]);
    await createAll(store, [2], [rate(10)]);
    await createAll(store, [3, 4], [rate(10, DAY)]);
    for (const n of [1, 2, 3]) expect((await claim(store, n)).row.generation).toBe(1);
    expect((await claim(store, 5)).limited).toMatchObject({ reason: "rate_limit", count: 3 });
    expect((await claim(store, 4)).row.generation).toBe(1);
    expect((await claim(store, 5)).limited).toMatchObject({ reason: "rate_limit", count: 3 });
  });

  test("FLW-1 what is owned under one limit of a bucket counts under every other one", async () => {
    const store = await opened(open);
    const places = { kind: "concurrency", bucket: two.bucket } as const;
    await createAll(store, [1, 5], [{ ...places, count: 3 }]);
    await createAll(store, [2, 3], [{ ...places, count: 6 }]);
    await createAll(store, [4], [{ ...places, count: 6, hold_while_waiting: true }]);
    for (const n of [1, 2, 3]) expect((await claim(store, n)).row.generation).toBe(1);
    expect((await claim(store, 5)).limited).toMatchObject({ count: 3, held: 3 });
    expect((await claim(store, 4)).row.generation).toBe(1);
    expect((await claim(store, 5)).limited).toMatchObject({ count: 3, held: 4 });
  });

  test("FLW-2 FLW-8 of those that begin together no more than the rate do", async () => {
    const store = await opened(open);
    const made = await createAll(store, [1, 2, 3, 4], [hourly], claimant);
    expect(made.filter(({ row }) => row.generation === 1)).toHaveLength(2);
  });

  test("FLW-3 an operators' limit is read with each claim, and stops nobody when it is lowered", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2, 3, 4], [openai]);
    expect((await claim(store, 1)).limited).toEqual({
      ...{ reason: "limit_undefined", limit: openai, name: "openai" },
    });
    await store.limits.set("openai", { concurrency: 2, rate: null });
    expect((await claim(store, 1)).row.generation).toBe(1);
    expect((await claim(store, 2)).row.generation).toBe(1);
    await store.limits.set("openai", { concurrency: 1, rate: null });
    expect((await claim(store, 3)).limited).toMatchObject({ count: 1, held: 2 });
    expect(await holdersIn(store, openai)).toEqual([executionId(1), executionId(2)]);
    await store.limits.set("openai", { concurrency: 0, rate: null });
    expect((await claim(store, 3)).limited).toMatchObject({ count: 0 });
    const rate = { count: 1, period_ms: DAY };
    await store.limits.set("openai", { concurrency: null, rate });
    expect((await claim(store, 3)).row.generation).toBe(1);
    expect((await claim(store, 4)).limited).toMatchObject({ reason: "rate_limit", count: 1 });
    await store.limits.delete("openai");
    expect((await claim(store, 4)).limited).toMatchObject({ reason: "limit_undefined" });
  });

  test("FLW-4 each value of a key has places of its own, and all limits apply together", async () => {
    const store = await opened(open);
    const of = (key: string): ResolvedLimit => ({
      ...{
        kind: "concurrency",
        bucket: JSON.stringify(["concurrency", "shop/order", key]),
        count: 1,
      },
    });
    await createAll(store, [1, 2], [two, of("a")]);
    await createAll(store, [3, 4], [two, of("b")]);
    expect((await claim(store, 1)).row.generation).toBe(1);
    expect((await claim(store, 2)).limited).toMatchObject({ limit: of("a") });
    expect((await claim(store, 3)).row.generation).toBe(1);
    expect((await claim(store, 4)).limited).toMatchObject({ limit: two });
    // What was denied by one of them has taken no place under the other.
    expect(await holdersIn(store, of("a"))).toEqual([executionId(1)]);
  });

  test("FLW-8 EXE-43 a cancelled execution is unwound whatever is full, and counts meanwhile", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2, 3], [one]);
    await claim(store, 1);
    await begin(store, 1);
    await store.executions.change(executionId(1), (row) =>
      handOver(row, { now: NOW, cancel_timeout_ms: 1 }),
    );
    await claim(store, 2);
    await store.executions.change(executionId(1), (row) => {
      const cancel = { cause: "request", by: null, cancel_timeout_ms: 1_000, now: NOW } as const;
      const decided = decideCancel(row, { ...cancel, hasWorker: () => true });
      if (decided instanceof EngineError) throw decided;
      return decided;
    });
    expect((await claim(store, 1)).row).toMatchObject({ state: "CANCELLING", generation: 2 });
    expect(await holdersIn(store, two)).toEqual([executionId(1), executionId(2)]);
    expect((await claim(store, 3)).limited).toMatchObject({ held: 2 });
  });

  test("FLW-8 a guard that does not hold takes no place", async () => {
    const store = await opened(open);
    await createAll(store, [1, 2], [one]);
    const guard = { session: "nobody's", epoch: 1, active: true };
    const unclaimed = await claim(store, 1, { guard });
    expect(unclaimed).toMatchObject({ unchanged: true });
    expect(unclaimed.limited).toBeUndefined();
    expect((await claim(store, 2)).row.generation).toBe(1);
  });

  test("FLW-8 RET-1 what retention deletes holds no place any more", async () => {
    const store = await opened(open);
    await createAll(store, [1], [kept]);
    await run(store, executionId(1));
    await complete(store, executionId(1), "done");
    await store.retention.deleteFinished(Date.now() + DAY, 10);
    expect(await store.executions.find(executionId(1))).toBeUndefined();
    expect(await holdersIn(store, kept)).toEqual([]);
    expect(await store.limits.forgetStarts(10)).toBe(0);
  });

  test("FLW-3 limits are defined, listed, changed and deleted, each in the audit log", async () => {
    const store = await opened(open);
    const entry = (action: string) => identityWrite(action, { target: "openai" }).entry;
    expect(await store.limits.find("openai")).toBeUndefined();
    const rate = { count: 100, period_ms: 60_000 };
    const made = await store.limits.set("openai", { concurrency: 5, rate }, entry("set"));
    expect(made).toEqual({
      ...{ name: "openai", concurrency: 5, rate },
      ...{ created_at: made.created_at, updated_at: made.created_at },
    });
    expect(await store.limits.find("openai")).toEqual(made);
    await store.limits.set("openai", { concurrency: 5, rate }, entry("nothing"));
    const changed = await store.limits.set("openai", { concurrency: 6, rate: null }, entry("set"));
    expect(changed).toMatchObject({ concurrency: 6, rate: null, created_at: made.created_at });
    await store.limits.set("a", { concurrency: 1, rate: null });
    expect((await store.limits.list(page)).items.map(({ name }) => name)).toEqual(["a", "openai"]);
    expect(await store.limits.list({ limit: 1, offset: 1 })).toEqual({
      items: [changed],
      total: 2,
    });
    expect(await store.limits.defined(["openai", "b", "a"])).toEqual(["a", "openai"]);
    expect(await store.limits.delete("openai", entry("delete"))).toBe(true);
    expect(await store.limits.delete("openai", entry("too late"))).toBe(false);
    expect(await auditOf(store)).toMatchObject([
      {
        action: "set",
        changes: { concurrency: { before: null, after: 5 }, rate: { after: rate } },
      },
      { action: "set", changes: { concurrency: { before: 5, after: 6 } } },
      { action: "delete", changes: { concurrency: { before: 6, after: null } } },
    ]);
  });

  test("FLW-3 the holders of a limit are those under its name, whatever their key", async () => {
    const store = await opened(open);
    const of = (name: string, ...key: readonly string[]): ResolvedLimit => ({
      ...{ kind: "limit", bucket: JSON.stringify(["limit", name, ...key]), name },
    });
    for (const name of ["a", "a-b", "aa"]) {
      await store.limits.set(name, { concurrency: 5, rate: null });
    }
    await createAll(store, [1], [of("a")], claimant);
    await createAll(store, [2], [of("a", "input", "tenant", "x")], claimant);
    await createAll(store, [3], [of("a-b"), of("aa")], claimant);
    const { items, total } = await store.limits.holders("a", page);
    expect(items.map(({ execution_id }) => execution_id).sort()).toEqual([1, 2].map(executionId));
    expect(total).toBe(2);
    const among = await store.limits.holdersAmong(of("a").bucket, [1, 2, 3].map(executionId));
    expect(among).toEqual([executionId(1)]);
  });
}

function limited(
  n: number,
  limits: readonly ResolvedLimit[],
  fields: Partial<NewExecution> = {},
): NewExecution {
  return newExecution(n, { requirements: { limits }, ...fields });
}

function createAll(
  store: Store,
  ns: readonly number[],
  limits: readonly ResolvedLimit[],
  by?: typeof claimant,
): Promise<readonly Changed[]> {
  return Promise.all(ns.map((n) => store.executions.create(limited(n, limits), by)));
}

function claim(
  store: Store,
  n: number,
  options: Parameters<Store["executions"]["change"]>[2] = {},
): Promise<Changed> {
  return store.executions.change(executionId(n), (row) => decideClaim(row, claimant), options);
}

function begin(store: Store, n: number): Promise<Changed> {
  return checkpoint(store, executionId(n), (row) => ({
    state: "RUNNING",
    events: [event("WORKFLOW_STARTED", row.execution_id)],
  }));
}

async function holdersIn(store: Store, { bucket }: ResolvedLimit): Promise<readonly string[]> {
  const { items } = await store.limits.holdersIn(bucket, page);
  return items.map(({ execution_id }) => execution_id);
}
