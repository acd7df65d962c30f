/** Answers of the store, and news of other servers, that never come: nothing may stay as it was. */
import type { Holding } from "@engine/contract";
import { expect, test } from "vitest";
import { DoubtfulStore } from "../testing/doubtful-store.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

/** Lets time go by as a worker sees it, until something has come of it or much too much has passed. */
async function beats(
  t: Pick<TestEngine, "time">,
  worker: ScriptedWorker,
  isOver: () => boolean,
  running: readonly Holding[] = [],
): Promise<void> {
  for (let i = 0; i < 20 && !isOver(); i++) {
    await t.time.advance(10_000);
    await worker.beat(running);
  }
}

const assignments = (worker: ScriptedWorker) => worker.heard.filter((name) => name === "assign");

test("I16 I17 a slot whose end was told by nobody is free after two heartbeats", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker("w", { slots: 1 });
  await t.b.run("first");
  const first = await worker.next("assign");
  t.hears = false;
  const { execution_id, generation } = first;
  const events = [worker.begin(first), worker.event(first, "WORKFLOW_COMPLETED", null)];
  const item = { execution_id, generation, base_seq: 2, state: "COMPLETED" as const, events };
  await t.a.engine.workers.checkpoints(worker.ref, [item]);
  await t.time.advance(20);
  t.hears = true;
  await t.b.run("second");
  await beats(t, worker, () => assignments(worker).length === 2);
  expect(await worker.next("assign")).toMatchObject({ input: "second" });
});

test("I16 I17 CKP-3 an end whose answer was lost frees its slot though it is sent again", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = await t.worker("w", { slots: 1 });
  await t.run("first");
  const first = await worker.next("assign");
  doubtful.loseAnswer("executions.change");
  await expect(worker.completed(first, 1)).rejects.toMatchObject({ code: "unavailable" });
  expect(await worker.completed(first, 1)).toMatchObject({ state: "COMPLETED" });
  await t.run("second");
  await beats(t, worker, () => assignments(worker).length === 2);
  expect(await worker.next("assign")).toMatchObject({ input: "second" });
});

test("I17 LIV-2 what a leaving worker had goes elsewhere though the store was away as it said goodbye", async () => {
  await using t = await TestEngine.start();
  const leaving = await t.worker("leaving");
  await t.run();
  await leaving.started(await leaving.next("assign"));
  t.failing.add("sessions.end");
  const goodbye = t.engine.workers.disconnect(leaving.ref);
  await expect(goodbye).rejects.toMatchObject({ code: "unavailable" });
  t.failing.clear();
  leaving.connection?.close();
  const other = await t.worker("other");
  await beats(t, other, () => assignments(other).length > 0);
  expect(await other.next("assign")).toMatchObject({ generation: 2 });
});

test("I17 a goodbye that the store did not take may be said again", async () => {
  await using t = await TestEngine.start();
  const leaving = await t.worker("leaving");
  t.failing.add("sessions.end");
  await expect(t.engine.workers.disconnect(leaving.ref)).rejects.toThrow();
  t.failing.clear();
  await t.engine.workers.disconnect(leaving.ref);
  expect(await t.store.sessions.listLive()).toEqual([]);
});

test("I17 LIV-3 a worker that dies while the store's answer to its stream is lost is given up", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const dying = await t.worker("dying");
  const { execution_id } = await t.run();
  await dying.started(await dying.next("assign"));
  dying.connection?.close();
  doubtful.loseAnswer("sessions.connect");
  const again = dying.connect([{ execution_id, generation: 1, seq: 3 }]);
  await expect(again).rejects.toMatchObject({ code: "unavailable" });
  const other = await t.worker("other");
  await beats(t, other, () => assignments(other).length > 0);
  expect(await other.next("assign")).toMatchObject({ execution_id, generation: 2 });
});
