import type { Assignment } from "@engine/contract";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

/** Behind a call whose child has not ended. */
async function callsChild(t: TestEngine, worker: ScriptedWorker): Promise<string> {
  const { execution_id } = await t.run("first");
  const assigned = await worker.next("assign");
  const start = { workflow: "default/hello", input: "child", wait: true, detach: false };
  await worker.parked(assigned, [
    worker.callEvent("TASK_STARTED", "charge~1"),
    worker.callEvent("TASK_COMPLETED", "charge~1", "receipt"),
    worker.callEvent("TASK_STARTED", "call~1", start),
  ]);
  return execution_id;
}

test("EXE-87 two forks of one event made at once are two executions, with children and ends of their own", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 64 });
  const source = await callsChild(t, worker);
  const sourceChild = await worker.next("assign");
  const { head } = await t.row(source);
  const before = await t.store.log.read(source);

  const made = await Promise.all(
    ["left", "right"].map((label) =>
      t.engine.executions.fork({ execution_id: source, from_seq: head, label, by: null }),
    ),
  );
  const forks = made.map(({ row }) => row.execution_id);
  expect(new Set([source, ...forks]).size).toBe(3);
  const rows = await Promise.all(forks.map((id) => t.row(id)));
  expect(rows.map(({ forked_from }) => forked_from)).toEqual(
    forks.map(() => ({ execution_id: source, seq: head })),
  );
  const children = rows.map(({ waits }) => waits[0]?.execution_id);
  expect(new Set([sourceChild.execution_id, ...children]).size).toBe(3);

  const assigned: Assignment[] = [];
  while (assigned.length < 4) assigned.push(await worker.next("assign"));
  const of = (id: string | undefined) => assigned.find(({ execution_id }) => execution_id === id);
  for (const [i, child] of children.entries()) {
    const parent = of(forks[i]);
    const its = of(child);
    if (!parent || !its) throw new Error("a fork or its child was not assigned");
    expect(its).toMatchObject({ parent_id: forks[i] });
    await worker.started(parent);
    await worker.completed(its, `child of ${i}`);
  }
  for (const [i, id] of forks.entries()) {
    const log = (await t.store.log.read(id)).map(({ event }) => event);
    expect(log.filter(({ type }) => type === "TASK_COMPLETED")).toMatchObject([
      { source_id: "charge~1", value: "receipt" },
      { source_id: "call~1", value: `child of ${i}` },
    ]);
  }
  expect(await t.store.log.read(source)).toEqual(before);
  expect(await t.row(source)).toMatchObject({
    waits: [{ execution_id: sourceChild.execution_id }],
  });
});
