import { expect, test } from "vitest";
import { registration, type ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const NEXT_PROCESS = "01900000-0000-7000-8000-000000000002";

const first = {
  labels: { zone: "eu" },
  slots: 2,
  packages: [{ name: "zod", version: "4.0.0" }],
  services: ["inference"],
};

async function joined(
  t: TestEngine,
  changes: Parameters<ScriptedWorker["register"]>[0],
): Promise<ScriptedWorker> {
  const worker = t.strangeWorker("w");
  await worker.register(changes);
  await worker.connect();
  return worker;
}

test("WRK-1 a name outlives its processes and keeps what operators want; the rest is of the process", async () => {
  await using t = await TestEngine.start();
  const before = await joined(t, first);
  const { registered_at } = await t.engine.fleet.show("w");
  await t.engine.fleet.pause("w");
  await t.engine.workers.disconnect(before.ref);
  await t.time.advance(60_000);
  expect(await t.engine.fleet.show("w")).toMatchObject({
    status: "offline",
    desired_state: "paused",
    registered_at,
  });

  await joined(t, {
    instance_id: NEXT_PROCESS,
    runners: ["process"],
    default_runner: "process",
    slots: 5,
  });
  const record = await t.engine.fleet.show("w");
  expect(record).toMatchObject({
    status: "paused",
    desired_state: "paused",
    registered_at,
    labels: {},
    slots: 5,
    runners: ["process"],
    packages: [],
    services: { offered: [] },
  });
});

test("WRK-1 WRK-4 what a process says of itself does not change: other labels are refused", async () => {
  await using t = await TestEngine.start();
  const worker = await joined(t, first);
  const other = registration("w", { ...first, labels: { zone: "us" } });
  await expect(t.engine.workers.register(other)).rejects.toMatchObject({
    code: "labels_immutable",
    status: 409,
  });
  // The session is as it was.
  await worker.beat();
  expect(await t.engine.fleet.show("w")).toMatchObject({ labels: { zone: "eu" }, slots: 2 });
});

test("WRK-3 registration answers whether the name is new, and the values the worker is to go by", async () => {
  await using t = await TestEngine.start({
    executions: { inline_wait: 3, max_events: 500 },
    workers: { heartbeat_interval: 7 },
  });
  const opened = await t.engine.workers.open(registration("w", first));
  expect(opened.isNew).toBe(true);
  expect(opened.registered).toMatchObject({
    worker: { name: "w", labels: { zone: "eu" }, slots: 2 },
    dispatch: "event",
    heartbeat_seconds: 7,
    executions: { inline_wait: 3, max_events: 500 },
  });
  const again = await t.engine.workers.open(registration("w", { instance_id: NEXT_PROCESS }));
  expect(again.isNew).toBe(false);
  expect(again.registered.session).not.toBe(opened.registered.session);
});
