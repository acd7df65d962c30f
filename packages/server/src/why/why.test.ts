import type { ExecutionRow, Why } from "@engine/contract";
import { expect, test } from "vitest";
import type { StartRequest } from "../executions/requests.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import type { MayRead } from "./why.ts";

const EVERYTHING: MayRead = () => true;

async function start(t: TestEngine, request: Partial<StartRequest> = {}): Promise<ExecutionRow> {
  return (await t.engine.executions.start({ ...hello(), ...request })).row;
}

async function why(
  t: TestEngine,
  { execution_id }: Pick<ExecutionRow, "execution_id">,
): Promise<Why> {
  return t.engine.whys.of(await t.row(execution_id), EVERYTHING);
}

test("WHY-1 without a worker an execution waits for one, and the answer says how to start it", async () => {
  await using t = await TestEngine.start();
  expect(await why(t, await start(t))).toMatchObject({
    state: "CREATED",
    summary: "CREATED: no worker is connected; start one with `engine start worker`",
    reasons: [{ code: "no_worker" }],
    workers: { connected: 0, matching: 0, free: 0 },
    nearest: [],
  });
});

test("WHY-1 a full worker is named with its load, and how many wait before", async () => {
  await using t = await TestEngine.start();
  await t.worker("a", { slots: 1 });
  await start(t);
  await start(t);
  expect(await why(t, await start(t))).toMatchObject({
    reasons: [
      {
        code: "workers_full",
        details: { workers: [{ worker: "a", load: 1, slots: 1 }], ahead: 1 },
      },
    ],
    workers: { connected: 1, matching: 1, free: 0 },
    queue: { ahead: 1 },
  });
});

test("WHY-1 workers that are paused are told apart from workers that are full", async () => {
  await using t = await TestEngine.start();
  await t.worker("a");
  await t.engine.fleet.pause("a");
  expect(await why(t, await start(t))).toMatchObject({
    reasons: [{ code: "workers_unavailable", details: { workers: [{ takes_work: false }] } }],
  });
});

test("WHY-1 a required worker that is away is named to those who may read it", async () => {
  await using t = await TestEngine.start();
  (await t.worker("gpu")).connection?.close();
  const row = await start(t, { required_worker: "gpu" });
  await t.time.advance(5_000);
  expect(await why(t, row)).toMatchObject({
    reasons: [{ code: "required_worker", details: { worker: "gpu" } }],
  });
  const hidden = await t.engine.whys.of(await t.row(row.execution_id), () => false);
  expect(hidden.reasons).toMatchObject([{ code: "required_worker", details: { worker: null } }]);
  expect(JSON.stringify(hidden)).not.toContain("gpu");
});

test("WHY-1 what runs is told with its worker and the calls that are open", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const row = await start(t);
  const assigned = await worker.next("assign");
  expect(await why(t, row)).toMatchObject({
    reasons: [{ code: "starting", details: { worker: "a" } }],
  });
  await worker.started(assigned, [
    worker.callEvent("TASK_STARTED", "charge~1"),
    worker.callEvent("TASK_COMPLETED", "charge~1"),
    worker.callEvent("TASK_STARTED", "ship~1"),
  ]);
  expect(await why(t, row)).toMatchObject({
    summary: "RUNNING: it runs on worker a: ship",
    reasons: [
      {
        code: "running",
        details: {
          worker: "a",
          generation: 1,
          open_calls: [{ task_call_id: "ship~1", name: "ship" }],
        },
      },
    ],
  });
  const hidden = await t.engine.whys.of(await t.row(row.execution_id), () => false);
  expect(hidden.reasons[0]).toMatchObject({ message: "it runs on a worker: ship" });
});

test("WHY-1 a pause is told with its name and the command that ends it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const row = await start(t);
  await worker.paused(await worker.next("assign"));
  expect(await why(t, row)).toMatchObject({
    state: "PAUSED",
    reasons: [
      {
        code: "paused",
        message: expect.stringContaining(`engine execution resume ${row.execution_id}`),
        details: { name: "answer" },
      },
    ],
  });
});

test("WHY-1 what waits for a signal says which one", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const row = await start(t);
  const wait = worker.callEvent("TASK_STARTED", "signal~1", { name: "paid" });
  await worker.parked(await worker.next("assign"), [wait]);
  expect(await why(t, row)).toMatchObject({
    state: "RUNNING",
    reasons: [{ code: "signal", details: { name: "paid" } }],
  });
});

test("WHY-1 a start for later, and one that workers have lost, say until when nobody gets them", async () => {
  await using t = await TestEngine.start();
  const start_at = t.time.clock() + 60_000;
  expect(await why(t, await start(t, { start_at }))).toMatchObject({
    reasons: [{ code: "delayed", details: { cause: "start_at" } }],
  });
  const worker = await t.worker("a");
  const row = await start(t);
  const { execution_id } = row;
  for (const generation of [1, 2]) {
    await worker.started(await worker.next("assign"));
    const items = [{ execution_id, generation, reason: "runner_lost" as const }];
    await t.engine.workers.release(worker.ref, items);
  }
  expect(await why(t, row)).toMatchObject({
    reasons: [
      { code: "delayed", details: { cause: "losses", losses: 2, last_reason: "runner_lost" } },
    ],
  });
});

test("WHY-1 the worker of what runs has lost its connection: the answer says how long it is waited for", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const row = await start(t);
  await worker.started(await worker.next("assign"));
  worker.connection?.close();
  await t.time.advance(100);
  expect(await why(t, row)).toMatchObject({
    reasons: [{ code: "owner_disconnected", details: { worker: "a" } }],
  });
});

test("WHY-1 a cancelled execution that unwinds, and one that has ended", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const row = await start(t);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.engine.executions.cancel({ execution_id: row.execution_id, by: null, reason: undefined });
  expect(await why(t, row)).toMatchObject({ reasons: [{ code: "cancelling" }] });
  const other = await start(t);
  await worker.completed(await worker.next("assign"), { total: 3 });
  expect(await why(t, other)).toMatchObject({
    summary: "Completed: it has completed",
    reasons: [{ code: "finished", details: { output: { total: 3 } } }],
  });
});

const FAMILY = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent", namespace: "shop" }, async (input) => input);
export const child = workflow({ name: "child", namespace: "shop" }, async (input) => input);
`;

test("WHY-1 what waits for a child says what the child waits for, to those who may read it", async () => {
  await using t = await TestEngine.start();
  await t.engine.catalog.register({ source: FAMILY }, { by: null });
  const worker = await t.worker("a", { slots: 1 });
  const row = await start(t, { namespace: "shop", workflow: "parent" });
  const called = { workflow: "shop/child", input: null, wait: true, detach: false };
  const call = worker.callEvent("TASK_STARTED", "call~1", called);
  await worker.parked(await worker.next("assign"), [call]);
  await worker.next("assign");
  await t.engine.fleet.pause("a");
  expect(await why(t, row)).toMatchObject({
    reasons: [
      {
        code: "child",
        message: expect.stringContaining("shop/child"),
        details: { count: 1, children: [{ workflow: "shop/child", state: "CLAIMED" }] },
      },
    ],
  });
  const hidden = await t.engine.whys.of(await t.row(row.execution_id), () => false);
  expect(hidden.reasons).toMatchObject([
    {
      code: "child",
      message: "it waits for the end of a child",
      details: { count: 1, children: [] },
    },
  ]);
});

const PLACED = `import { workflow } from "@engine/sdk";
import { input, label, meta, require, routingInput } from "@engine/sdk/routing";
export const placed = workflow(
  {
    name: "placed",
    affinity: require(label("region").eq(input("region")), meta("pool").eq(routingInput("pool"))),
  },
  async (input) => input,
);
`;

async function region(t: TestEngine, name: string, region: string): Promise<void> {
  const worker = t.strangeWorker(name);
  await worker.register({ labels: { region } });
  await worker.connect();
}

test("WHY-1 the workers that come nearest are told with the terms that each lacks", async () => {
  await using t = await TestEngine.start();
  await t.engine.catalog.register({ source: PLACED }, { by: null });
  await region(t, "paris", "eu");
  await region(t, "boston", "us");
  const row = await start(t, {
    ...{ workflow: "placed", input: { region: "eu" } },
    routing_input: { pool: "blue-secret" },
  });
  expect(await why(t, row)).toMatchObject({
    reasons: [{ code: "no_matching_worker" }],
    workers: { connected: 2, matching: 0, free: 0 },
    nearest: [{ worker: "boston", failing: ['label("region").eq("eu")'] }],
  });
});

test("WHY-2 a term that reads routing input is one line, without its key and its value", async () => {
  await using t = await TestEngine.start();
  await t.engine.catalog.register({ source: PLACED }, { by: null });
  await region(t, "paris", "eu");
  const row = await start(t, {
    ...{ workflow: "placed", input: { region: "eu" } },
    routing_input: { pool: "blue-secret" },
  });
  const told = await why(t, row);
  expect(told.reasons.map(({ message }) => message)).toEqual([
    "routing constraint: no connected worker satisfies it",
  ]);
  expect(told).toMatchObject({ workers: { connected: 1, matching: 0 }, nearest: [] });
  expect(JSON.stringify(told)).not.toMatch(/blue-secret|pool/);
});
