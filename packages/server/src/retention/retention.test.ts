import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const DAY_MS = 86_400_000;

async function ended(t: TestEngine, worker: ScriptedWorker): Promise<string> {
  const { execution_id } = await t.run();
  await worker.completed(await worker.next("assign"), 1);
  return execution_id;
}

function exists(t: TestEngine, execution_id: string): Promise<boolean> {
  return t.store.executions.find(execution_id).then((row) => row !== undefined);
}

/** Days go by for everything that is stored, without the timers in between. */
async function daysLater(t: TestEngine, days: number): Promise<void> {
  t.time.now += days * DAY_MS;
  await t.time.advance(3_600_000);
  await settled();
}

test("EXE-98 I23 what ended over 30 days ago is removed with its log and values, what lives never is", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const old = await ended(t, worker);
  await t.values.save(old, '"a large value"');
  const { execution_id: live } = await t.run();
  await worker.paused(await worker.next("assign"));
  await daysLater(t, 29);
  expect(await exists(t, old)).toBe(true);
  const again = t.strangeWorker("later");
  await again.register();
  await again.connect();
  const recent = await ended(t, again);
  await daysLater(t, 2);
  expect(await exists(t, old)).toBe(false);
  expect(await t.store.log.read(old)).toEqual([]);
  expect(t.values.texts.size).toBe(0);
  expect(await exists(t, live)).toBe(true);
  expect(await exists(t, recent)).toBe(true);
});

test("EXE-98 the first sweep is at the start of the server, and goes on until all is removed", async () => {
  await using t = await TestEngine.start({ retention: { batch_size: 2 } });
  const worker = await t.worker();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push(await ended(t, worker));
  t.time.now += 31 * DAY_MS;
  await t.restart();
  await t.time.advance(1_000);
  for (const id of ids) expect(await exists(t, id)).toBe(false);
});

test("EXE-98 I23 values of executions that were removed go too when the server died in between", async () => {
  await using t = await TestEngine.start();
  const old = await ended(t, await t.worker());
  await t.values.save(old, '"a large value"');
  const { deleteAll } = t.values;
  // What a process that is killed there never comes back from.
  t.values.deleteAll = () => new Promise(() => {});
  await daysLater(t, 31);
  expect(await exists(t, old)).toBe(false);
  expect(t.values.texts.size).toBe(1);

  t.values.deleteAll = deleteAll;
  await t.restart();
  await t.time.advance(1_000);
  await settled();
  expect(t.values.texts.size).toBe(0);
  expect(await t.store.forgottenValues.list(10)).toEqual([]);
});

test("EXE-98 nothing is removed where retention is off", async () => {
  await using t = await TestEngine.start({ retention: { enabled: false } });
  const old = await ended(t, await t.worker());
  await daysLater(t, 400);
  expect(await exists(t, old)).toBe(true);
});

test("EXE-98 EXE-84 with an execution its idempotency key is free again", async () => {
  await using t = await TestEngine.start();
  const start = () =>
    t.engine.executions.start({
      namespace: "default",
      workflow: "hello",
      input: 1,
      trigger: { kind: "api" },
      by: null,
      idempotency_key: "k",
    });
  const first = await start();
  const worker = await t.worker();
  await worker.completed(await worker.next("assign"), 1);
  expect((await start()).row.execution_id).toBe(first.row.execution_id);
  await daysLater(t, 31);
  expect((await start()).row.execution_id).not.toBe(first.row.execution_id);
});

test("WMD-6 names of workers that nobody used for a week are forgotten, paused ones are not", async () => {
  await using t = await TestEngine.start();
  for (const name of ["gone", "paused"]) {
    const worker = await t.worker(name);
    await t.engine.workers.disconnect(worker.ref);
  }
  await t.engine.fleet.pause("paused");
  const names = async () =>
    (await t.engine.fleet.list({ limit: 10, offset: 0 })).items.map(({ name }) => name);
  await daysLater(t, 6);
  expect(await names()).toEqual(["gone", "paused"]);
  await daysLater(t, 2);
  expect(await names()).toEqual(["paused"]);
});

const FAMILY = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent" }, async (input) => input);
export const child = workflow({ name: "child" }, async (input) => input);
`;

test("EXE-98 EXE-100 while a parent lives its ended children stay, and the deleted version that both are pinned to", async () => {
  await using t = await TestEngine.start();
  await t.engine.catalog.register({ source: FAMILY }, { by: null });
  const worker = await t.worker();
  const start = { namespace: "default", workflow: "parent", input: null, by: null };
  const parent = (await t.engine.executions.start({ ...start, trigger: { kind: "api" } })).row;
  const assigned = await worker.next("assign");
  const call = { workflow: "default/child", input: null, wait: true, detach: false };
  await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "call~1", call)]);
  const child = await worker.next("assign");
  await worker.completed(child, "grown up");
  await worker.paused(await worker.next("assign"));
  await t.engine.catalog.delete("default", "parent");
  await t.engine.catalog.delete("default", "child");

  await daysLater(t, 400);
  expect(await exists(t, child.execution_id)).toBe(true);
  expect(await t.types(child.execution_id)).toHaveLength(4);
  const { execution_id } = parent;
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  const later = t.strangeWorker("later");
  await later.register();
  await later.connect();
  const resumed = await later.next("assign");
  expect(resumed).toMatchObject({ version: 1, module: assigned.module });
  expect(await t.engine.workers.module(later.ref, resumed.module.hash)).toContain("child");
  await later.completed(resumed, "done");

  // Once the parent has ended long ago, nothing needs any of it.
  await daysLater(t, 31);
  expect(await exists(t, execution_id)).toBe(false);
  expect(await exists(t, child.execution_id)).toBe(false);
  await t.time.advance(3_600_000);
  expect(await t.store.catalog.readModule(assigned.module.hash)).toBeUndefined();
});
