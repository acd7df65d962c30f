/** The `park_ttl` that is configured holds for whatever starts an execution (DSP-8). */
import { type Json, NewSchedule } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

const CONFIG = { workers: { park_ttl: 20 } };
const TIMED_OUT = { state: "FAILED", failure: { type: "ParkTimeoutError" } };

test("DSP-8 an execution that a schedule started fails when no worker takes it in time", async () => {
  await using t = await TestEngine.start(CONFIG);
  const spec = { type: "interval", every_seconds: 3_600 };
  const schedule = NewSchedule.parse({ name: "hourly", workflow: "hello", spec });
  await t.engine.schedules.create(schedule);
  const { row } = await t.engine.schedules.trigger("hourly");
  await t.time.advance(3_600_000);
  await settled();
  await t.time.advance(21_000);
  const { items } = await t.engine.executions.list({ limit: 10, offset: 0, order: "created_desc" });
  expect(items.map(({ execution_id }) => execution_id)).toContain(row.execution_id);
  expect(items).toHaveLength(2);
  for (const item of items) expect(item).toMatchObject(TIMED_OUT);
});

test("DSP-8 a child that no worker takes in time fails, and its parent hears of it", async () => {
  await using t = await TestEngine.start(CONFIG);
  const worker = await t.worker("w", { slots: 1 });
  const { execution_id } = await t.run();
  const value = { workflow: "default/hello", input: null, wait: true, detach: false } as Json;
  const assigned = await worker.next("assign");
  const stay = worker.callEvent("TASK_STARTED", "busy~1");
  const call = worker.callEvent("TASK_STARTED", "call~1", value);
  await worker.started(assigned, [call, stay]);
  const { items } = await t.engine.executions.list({ limit: 10, offset: 0, order: "created_desc" });
  const child = items.find(({ parent_id }) => parent_id === execution_id);
  for (let s = 0; s < 21; s += 7) {
    await t.time.advance(7_000);
    await worker.beat([{ execution_id, generation: 1, seq: 5 }]);
  }
  expect(await t.row(child?.execution_id ?? "")).toMatchObject(TIMED_OUT);
  expect(await t.types(execution_id)).toContain("TASK_FAILED");
});

test.each([
  ["anew", {}],
  ["from an event", { from_seq: 3 }],
])("DSP-8 a fork that begins %s fails when no worker takes it in time", async (_, cut) => {
  await using t = await TestEngine.start(CONFIG);
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.completed(await worker.next("assign"), 1);
  await t.engine.workers.disconnect(worker.ref);
  const fork = await t.engine.executions.fork({ execution_id, by: null, ...cut });
  await t.time.advance(21_000);
  expect(await t.row(fork.row.execution_id)).toMatchObject(TIMED_OUT);
});
