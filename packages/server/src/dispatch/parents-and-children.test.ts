import type { Assignment, Json, NewEvent } from "@engine/contract";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

function call(worker: ScriptedWorker, n: number, input: Json = null): NewEvent {
  const start = { workflow: "default/hello", input, wait: true, detach: false };
  return worker.callEvent("TASK_STARTED", `call~${n}`, start);
}

test("DSP-10 a child goes to the worker of its parent before any other", async () => {
  await using t = await TestEngine.start();
  await t.worker("a");
  const home = await t.worker("b");
  await t.engine.executions.start({ ...hello("parent"), preferred_worker: "b" });
  const parent = await home.next("assign");
  await t.engine.executions.start({ ...hello("load"), preferred_worker: "b" });
  await home.next("assign");
  // `a` has nothing to do, and comes first by name.
  await home.started(parent, [call(home, 1, "child")]);
  expect(await home.next("assign")).toMatchObject({
    input: "child",
    parent_id: parent.execution_id,
  });
});

test("DSP-10 a child whose parent's worker is full goes elsewhere at once", async () => {
  await using t = await TestEngine.start();
  const home = await t.worker("b", { slots: 1 });
  await t.run("parent");
  const parent = await home.next("assign");
  const other = await t.worker("c");
  await home.started(parent, [call(home, 1, "child")]);
  expect(await other.next("assign")).toMatchObject({ input: "child" });
});

test("DSP-10 a child has the priority of its parent, and comes before what waits with less", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  await t.engine.executions.start({ ...hello("parent"), priority: 5 });
  await t.engine.executions.start({ ...hello("waits"), priority: 4 });
  const parent = await worker.next("assign");
  await worker.parked(parent, [call(worker, 1, "child")]);
  const child = await worker.next("assign");
  expect(child.input).toBe("child");
  expect(await t.row(child.execution_id)).toMatchObject({ priority: 5 });
  await worker.completed(child, null);
  // And so does the parent when it goes on.
  expect(await worker.next("assign")).toMatchObject({ input: "parent", reason: "resume" });
});

/** Plays a workflow that calls two of its kind, down to a depth, and then is done. */
async function play(t: TestEngine, worker: ScriptedWorker, assigned: Assignment): Promise<void> {
  const depth = assigned.input as number;
  if (assigned.reason === "start" && depth > 0) {
    await worker.parked(assigned, [call(worker, 1, depth - 1), call(worker, 2, depth - 1)]);
    return;
  }
  // A child may have ended since it was assigned.
  const events = (await t.store.log.read(assigned.execution_id)).map(({ event }) => event);
  const now = { ...assigned, head: events.length, history: { after: 0, events } };
  const count = (type: string) => events.filter((e) => e.kind === "call" && e.type === type).length;
  if (count("TASK_STARTED") > count("TASK_COMPLETED")) await worker.parked(now, []);
  else await worker.completed(now, depth);
}

test("DSP-10 EXE-100 parents that fill every slot do not keep their children from running", async () => {
  await using t = await TestEngine.start();
  const slots = 3;
  const worker = await t.worker("w", { slots });
  const parents = await Promise.all(Array.from({ length: 2 * slots }, () => t.run(3)));
  const total = parents.length * (2 ** 4 - 1);
  let ended = 0;
  while (ended < total) {
    const assigned = await worker.next("assign");
    await play(t, worker, assigned);
    if ((await t.row(assigned.execution_id)).state === "COMPLETED") ended++;
    await settled();
  }
  for (const { execution_id } of parents) {
    expect(await t.row(execution_id)).toMatchObject({ state: "COMPLETED", output: 3 });
  }
  const page = { order: "created_asc", limit: 1, offset: 0 } as const;
  expect((await t.engine.executions.list(page)).total).toBe(total);
});
