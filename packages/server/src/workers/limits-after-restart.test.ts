import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

test("I16 DSP-3 a server that was restarted gives a full worker no more than it has slots", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 2 });
  await t.run(1);
  await t.run(2);
  const assigned = [await worker.next("assign"), await worker.next("assign")];
  for (const one of assigned) await worker.started(one);
  const waiting = await t.run(3);
  await t.restart();

  const back = t.strangeWorker("w");
  back.ref = worker.ref;
  await back.connect(
    assigned.map(({ execution_id, generation }) => ({ execution_id, generation, seq: 3 })),
  );
  await t.run(4);
  await t.time.advance(15_000);
  expect(await t.store.queue.listOwned((await t.row(waiting.execution_id)).session ?? "")).toEqual(
    [],
  );
  expect(await t.row(waiting.execution_id)).toMatchObject({ state: "CREATED", worker: null });
  expect(back.heard).not.toContain("assign");

  const [first] = assigned;
  if (!first) throw new Error("nothing was assigned");
  const end = back.event(first, "WORKFLOW_COMPLETED", 1);
  await back.checkpoint(first, 3, "COMPLETED", [end]);
  expect(await back.next("assign")).toMatchObject({ execution_id: waiting.execution_id });
});

test("I16 DSP-3 an execution that is run again after a loss takes a slot like any other", async () => {
  await using t = await TestEngine.start();
  const lost = await t.worker("a", { slots: 3 });
  const runs = [await t.run(1), await t.run(2), await t.run(3)];
  for (const _ of runs) await lost.started(await lost.next("assign"));
  const other = await t.worker("b", { slots: 1 });
  lost.connection?.close();
  await t.time.advance(1_000);
  const held = async () => {
    const rows = await Promise.all(runs.map(({ execution_id }) => t.row(execution_id)));
    return rows.filter(({ worker }) => worker === "b").length;
  };
  for (const _ of runs) {
    const assigned = await other.next("assign");
    expect(await held()).toBe(1);
    await other.completed(assigned, null);
  }
  expect(await held()).toBe(0);
});

test("I16 a start that the database did not take gives its slot back", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  t.failing.add("executions.create");
  await expect(t.engine.executions.start(hello(1))).rejects.toMatchObject({ code: "unavailable" });
  t.failing.clear();
  const { execution_id } = await t.run(2);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("I16 a claim that the database did not take gives its slot back", async () => {
  await using t = await TestEngine.start();
  const waiting = await t.run(1);
  t.failing.add("executions.change");
  const worker = await t.worker("w", { slots: 1 });
  await settled();
  expect(await t.row(waiting.execution_id)).toMatchObject({ state: "CREATED", worker: null });
  t.failing.clear();
  await t.time.advance(15_000);
  const { execution_id } = waiting;
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});
