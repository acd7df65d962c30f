import type { Assignment, ExecutionRow, Json, NewEvent } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

/** A file whose workflow `hello` has these limits. */
function limited(limits: string, more = ""): { source: string } {
  const source = `import { workflow } from "@engine/sdk";
import { concurrency, input, limit, rate, routingInput } from "@engine/sdk/routing";
export const hello = workflow({ name: "hello", limits: [${limits}]${more} }, async (value: any) => value);
`;
  return { source };
}

async function register(t: TestEngine, limits: string, more?: string): Promise<void> {
  await t.engine.catalog.register(limited(limits, more), { by: null });
}

async function runAll(t: TestEngine, inputs: readonly Json[]): Promise<readonly ExecutionRow[]> {
  const rows: ExecutionRow[] = [];
  for (const input of inputs) rows.push(await t.run(input));
  await settled();
  return rows;
}

async function states(t: TestEngine, rows: readonly ExecutionRow[]): Promise<readonly string[]> {
  return Promise.all(rows.map(async ({ execution_id }) => (await t.row(execution_id)).state));
}

function call(worker: ScriptedWorker, n: number, input: Json = null): NewEvent {
  const start = { workflow: "default/hello", input, wait: true, detach: false };
  return worker.callEvent("TASK_STARTED", `call~${n}`, start);
}

test("FLW-1 no more executions of a workflow than its concurrency are given to workers", async () => {
  await using t = await TestEngine.start();
  await register(t, "concurrency(2)");
  const worker = await t.worker();
  const rows = await runAll(t, [1, 2, 3, 4]);
  expect(await states(t, rows)).toEqual(["CLAIMED", "CLAIMED", "CREATED", "CREATED"]);
  const [first, second] = [await worker.next("assign"), await worker.next("assign")];
  await worker.started(first);
  await worker.completed(first, null);
  expect(await worker.next("assign")).toMatchObject({ input: 3 });
  await worker.started(second);
  await worker.completed(second, null);
  expect(await worker.next("assign")).toMatchObject({ input: 4 });
});

test("FLW-1 a start, a version and a restart later the same places count", async () => {
  await using t = await TestEngine.start();
  await register(t, "concurrency(1)");
  const early = await t.worker("early");
  await t.run("first");
  const first = await early.next("assign");
  await register(t, "concurrency(1)", ', timeout: "1h"');
  const [row] = await runAll(t, ["second"]);
  expect(row?.version).toBeGreaterThan(first.version ?? 0);
  expect(await states(t, [row as ExecutionRow])).toEqual(["CREATED"]);
  await early.started(first);
  await early.completed(first, null);
  expect(await early.next("assign")).toMatchObject({ input: "second" });
});

test("FLW-1 an execution that parks gives its place back, and comes back by the gate", async () => {
  await using t = await TestEngine.start();
  await register(t, "concurrency(1)");
  const worker = await t.worker();
  await t.run("first");
  const first = await worker.next("assign");
  const [second] = await runAll(t, ["second"]);
  await worker.paused(first);
  const assigned = await worker.next("assign");
  expect(assigned).toMatchObject({ execution_id: second?.execution_id });
  const { execution_id } = first;
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ state: "RESUMING", session: null });
  await worker.started(assigned);
  await worker.completed(assigned, null);
  expect(await worker.next("assign")).toMatchObject({ execution_id, reason: "resume" });
});

test("FLW-1 with holdWhileWaiting the place stays with an execution that waits", async () => {
  await using t = await TestEngine.start();
  await register(t, "concurrency(1, { holdWhileWaiting: true })");
  const worker = await t.worker();
  await t.run("first");
  const first = await worker.next("assign");
  const rows = await runAll(t, ["second", "third"]);
  await worker.paused(first);
  await settled();
  expect(await states(t, rows)).toEqual(["CREATED", "CREATED"]);
  const { execution_id } = first;
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, reason: "resume" });
  await worker.started(again);
  await worker.completed(again, null);
  expect(await worker.next("assign")).toMatchObject({ input: "second" });
});

test("FLW-1 overflow: reject refuses a start that would wait", async () => {
  await using t = await TestEngine.start();
  await register(t, 'concurrency(1, { overflow: "reject" })');
  const worker = await t.worker();
  await t.run("first");
  const first = await worker.next("assign");
  await expect(t.engine.executions.start(hello("second"))).rejects.toMatchObject({
    code: "concurrency_limited",
    details: { limit: "concurrency", key: null, count: 1, held: 1 },
  });
  const { total } = await t.store.executions.list({ order: "created_asc", limit: 9, offset: 0 });
  expect(total).toBe(1);
  await worker.started(first);
  await worker.completed(first, null);
  await t.run("third");
  expect(await worker.next("assign")).toMatchObject({ input: "third" });
});

test("FLW-2 within a period no more begin than the rate, and the next as soon as it has passed", async () => {
  await using t = await TestEngine.start();
  await register(t, 'rate(2, "10s")');
  const worker = await t.worker();
  const rows = await runAll(t, [1, 2, 3, 4, 5]);
  const begun = async () => (await states(t, rows)).filter((state) => state !== "CREATED").length;
  expect(await begun()).toBe(2);
  for (let n = 0; n < 2; n++) {
    const assigned = await worker.next("assign");
    await worker.started(assigned);
    await worker.completed(assigned, null);
  }
  await t.time.advance(9_000);
  expect(await begun()).toBe(2);
  await t.time.advance(1_500);
  expect(await begun()).toBe(4);
  await t.time.advance(10_500);
  expect(await begun()).toBe(5);
});

test("FLW-3 an execution under a limit that nobody has defined waits until somebody does", async () => {
  await using t = await TestEngine.start();
  await register(t, 'limit("openai")');
  const worker = await t.worker();
  const rows = await runAll(t, [1, 2]);
  expect(await states(t, rows)).toEqual(["CREATED", "CREATED"]);
  const [first] = rows;
  expect(await t.engine.whys.of(first as ExecutionRow, () => true)).toMatchObject({
    reasons: [
      {
        code: "limit_undefined",
        message:
          "limit openai is not defined; define it with `engine limit set openai --concurrency N`",
      },
    ],
  });
  await t.store.limits.set("openai", { concurrency: 1, rate: null });
  t.engine.limits.changed("openai");
  const assigned = await worker.next("assign");
  await settled();
  expect(await states(t, rows)).toEqual(["CLAIMED", "CREATED"]);
  await t.store.limits.set("openai", { concurrency: 0, rate: null });
  t.engine.limits.changed("openai");
  await worker.started(assigned);
  await worker.completed(assigned, null);
  await settled();
  expect(await states(t, rows)).toEqual(["COMPLETED", "CREATED"]);
  await t.store.limits.set("openai", { concurrency: 5, rate: null });
  t.engine.limits.changed("openai");
  expect(await worker.next("assign")).toMatchObject({ input: 2 });
});

test("FLW-4 each value of a key has its own places, absent ones share theirs, a list fails as it is created", async () => {
  await using t = await TestEngine.start();
  await register(t, 'concurrency(1, { key: input("tenant") })');
  await t.worker();
  const inputs = [
    { tenant: "a" },
    { tenant: "a" },
    { tenant: 1 },
    { tenant: "1" },
    {},
    { tenant: null },
  ];
  const rows = await runAll(t, inputs);
  expect(await states(t, rows)).toEqual([
    ...["CLAIMED", "CREATED"],
    ...["CLAIMED", "CREATED"],
    ...["CLAIMED", "CREATED"],
  ]);
  const failed = await t.run({ tenant: ["a"] });
  expect(failed).toMatchObject({
    state: "FAILED",
    failure: {
      type: "AffinityResolutionError",
      details: { input: "tenant", reason: "invalid" },
    },
  });
});

test("FLW-4 RIN-3 the value of a key that is routing input is shown nowhere", async () => {
  await using t = await TestEngine.start();
  await register(t, 'concurrency(1, { key: routingInput("region") })');
  await t.worker();
  const start = { ...hello(), routing_input: { region: "hidden-region" } };
  await t.engine.executions.start(start);
  const { row } = await t.engine.executions.start(start);
  await settled();
  const waiting = await t.row(row.execution_id);
  expect(waiting.state).toBe("CREATED");
  expect(JSON.stringify(waiting)).not.toContain("hidden-region");
  const why = await t.engine.whys.of(waiting, () => true);
  expect(why.reasons).toMatchObject([
    {
      code: "concurrency_limit",
      details: { limit: "concurrency", key: "(routing input)", count: 1, held: 1 },
    },
  ]);
  expect(JSON.stringify(why)).not.toContain("hidden-region");
});

test("FLW-7 a call that waits for places which only its callers hold fails, and names them", async () => {
  await using t = await TestEngine.start();
  await register(t, "concurrency(1, { holdWhileWaiting: true })");
  const worker = await t.worker();
  const parent = await t.run("parent");
  const assigned = await worker.next("assign");
  await worker.parked(assigned, [call(worker, 1, "child")]);
  await settled();
  const { items } = await t.store.executions.list({
    ...{ order: "created_asc", limit: 9, offset: 0 },
    parent_id: parent.execution_id,
  });
  expect(items).toMatchObject([
    {
      state: "FAILED",
      failure: {
        type: "LimitDeadlockError",
        details: { holders: [parent.execution_id] },
      },
    },
  ]);
  expect(await worker.next("assign")).toMatchObject({
    execution_id: parent.execution_id,
    reason: "resume",
  });
});

test("FLW-7 one that others may make room for goes on waiting", async () => {
  await using t = await TestEngine.start();
  await register(t, "concurrency(2, { holdWhileWaiting: true })");
  const worker = await t.worker();
  const parent = await t.run("parent");
  await t.run("other");
  const assigned: Assignment[] = [await worker.next("assign"), await worker.next("assign")];
  const [first, other] = assigned as [Assignment, Assignment];
  await worker.parked(first, [call(worker, 1, "child")]);
  await settled();
  const { items } = await t.store.executions.list({
    ...{ order: "created_asc", limit: 9, offset: 0 },
    parent_id: parent.execution_id,
  });
  expect(items).toMatchObject([{ state: "CREATED" }]);
  await worker.started(other);
  await worker.completed(other, null);
  expect(await worker.next("assign")).toMatchObject({ input: "child" });
});

test("FLW-5 a workflow's priority holds where a start states none", async () => {
  await using t = await TestEngine.start();
  await register(t, "", ", priority: 3");
  expect((await t.run()).priority).toBe(3);
  const { row } = await t.engine.executions.start({ ...hello(), priority: -2 });
  expect(row.priority).toBe(-2);
});

test("FLW-8 a place that another server gives back is taken here", async () => {
  await using two = await TwoServers.start();
  const { a, b } = two;
  await register(a, "concurrency(1)");
  const [here, there] = [await a.worker("here", { slots: 1 }), await b.worker("there")];
  await a.run("first");
  const first = await here.next("assign");
  await b.run("second");
  await settled();
  await here.started(first);
  await here.completed(first, null);
  await two.time.advance(50);
  const assigned = await Promise.race([here.next("assign"), there.next("assign")]);
  expect(assigned).toMatchObject({ input: "second" });
});
