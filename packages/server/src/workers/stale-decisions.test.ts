import { expect, test } from "vitest";
import { DoubtfulStore } from "../testing/doubtful-store.ts";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

const OTHER_PROCESS = "01900000-0000-7000-8000-000000000002";

test("WRK-11 what was read of a worker before operators decided undoes nothing", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = await t.worker();
  const answer = doubtful.holdAnswers("workers.list");
  const refreshed = t.engine.workers.refresh();
  await settled();
  await t.engine.fleet.pause("w");
  answer();
  await refreshed;
  await settled();
  expect(worker.heard).toEqual(["welcome", "control"]);
  const { execution_id } = await t.run();
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED" });
});

test("WRK-12 a drain that was read before the next process of the name came does not drain that one", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  await t.worker();
  await t.engine.fleet.drain("w", undefined);
  const answer = doubtful.holdAnswers("workers.list");
  const refreshed = t.engine.workers.refresh();
  await settled();
  const next = await t.worker("w", { instance_id: OTHER_PROCESS });
  answer();
  await refreshed;
  await settled();
  expect(next.heard).toEqual(["welcome"]);
  const { execution_id } = await t.run();
  expect(await next.next("assign")).toMatchObject({ execution_id });
});

test("WRK-11 a resume while its worker registers is not lost on it", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const first = await t.worker();
  await t.engine.fleet.pause("w");
  await t.engine.workers.disconnect(first.ref);
  const worker = t.strangeWorker();
  const answer = doubtful.holdAnswers("workers.find");
  const registered = worker.register({ instance_id: OTHER_PROCESS });
  await settled();
  await t.engine.fleet.resume("w");
  answer();
  await registered;
  await worker.connect();
  const { execution_id } = await t.run();
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("WRK-11 a resume while a worker that was given up connects again is not lost on it", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = await t.worker();
  await t.engine.fleet.pause("w");
  const answer = doubtful.holdAnswers("sessions.connect");
  const connected = worker.connect();
  await settled();
  // It was silent for so long that its session is forgotten while the store is asked.
  await t.time.advance(60_000);
  await t.engine.fleet.resume("w");
  answer();
  await connected;
  const { execution_id } = await t.run();
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("WRK-4 a session that was read before the next process of the name came does not hide that one", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  await t.worker();
  const answer = doubtful.holdAnswers("sessions.listLive");
  const refreshed = t.engine.workers.refresh();
  await settled();
  const next = await t.worker("w", { instance_id: OTHER_PROCESS });
  answer();
  await refreshed;
  await t.engine.fleet.pause("w");
  await t.engine.fleet.resume("w");
  await settled();
  expect(next.heard).toEqual(["welcome", "control", "control"]);
  const { execution_id } = await t.run();
  expect(await next.next("assign")).toMatchObject({ execution_id });
});

test("WRK-4 a process of the name whose registration is slow does not hide the next one, which is connected", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const { store } = doubtful;
  await using other = await TestEngine.start({}, { shared: { store, time: t.time } });
  const answer = doubtful.holdAnswers("sessions.open");
  const registered = t.strangeWorker("w").register();
  await settled();
  const next = other.strangeWorker("w");
  await next.register({ instance_id: OTHER_PROCESS });
  const worker = t.strangeWorker("w");
  worker.ref = next.ref;
  await worker.connect();
  answer();
  await registered.catch(() => undefined);
  await t.engine.workers.refresh();
  await t.engine.fleet.pause("w");
  await t.engine.fleet.resume("w");
  await settled();
  expect(worker.heard).toEqual(["welcome", "control", "control"]);
  const { execution_id } = await t.run();
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("WRK-11 a worker that has missed a resume with its last stream is told again when it says that it is paused", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = await t.worker();
  await worker.beat([], { status: "paused" });
  expect(worker.heard).toEqual(["welcome", "control"]);
  expect(worker.frames.at(-1)).toMatchObject({ data: { command: "resume" } });
  await worker.beat([], { status: "draining" });
  await worker.beat([], { status: "active" });
  expect(worker.heard).toEqual(["welcome", "control"]);
});
