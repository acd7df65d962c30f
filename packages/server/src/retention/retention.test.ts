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
  return t.store.findExecution(execution_id).then((row) => row !== undefined);
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
  expect(await t.store.readLog(old)).toEqual([]);
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
  await daysLater(t, 8);
  const { items } = await t.engine.fleet.list({ limit: 10, offset: 0 });
  expect(items.map(({ name }) => name)).toEqual(["paused"]);
});
