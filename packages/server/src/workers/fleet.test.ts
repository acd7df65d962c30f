import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

const PAGE = { limit: 100, offset: 0 };

test("WMD-7 a worker's status is the first that applies, from offline to online", async () => {
  await using t = await TestEngine.start();
  const status = async () => (await t.engine.fleet.show("w")).status;
  const worker = t.strangeWorker("w");
  await worker.register();
  expect(await status()).toBe("disconnected");
  await worker.connect();
  expect(await status()).toBe("online");
  await worker.beat([], { healthy: false });
  await t.time.advance(5_000);
  expect(await status()).toBe("unhealthy");
  await t.engine.fleet.pause("w");
  expect(await status()).toBe("paused");
  await worker.beat([], { status: "draining" });
  await t.time.advance(5_000);
  expect(await status()).toBe("draining");
  worker.connection?.close();
  await settled();
  expect(await status()).toBe("disconnected");
  await t.time.advance(1_000);
  expect(await status()).toBe("offline");
});

test("WMD-6 WMD-7 the list has every worker by name, with load, labels and what it reported", async () => {
  await using t = await TestEngine.start();
  const b = await t.worker("b");
  const zone = t.strangeWorker("a");
  await zone.register({ labels: { zone: "eu" }, slots: 2 });
  await zone.connect();
  await t.engine.executions.start({ ...hello(), preferred_worker: "b" });
  await b.beat([], { metrics: { "engine.loop_lag_seconds": 0.5 } });
  await t.time.advance(5_000);
  const { items, total } = await t.engine.fleet.list(PAGE);
  expect(total).toBe(2);
  expect(items.map(({ name, load, slots_free }) => [name, load, slots_free])).toEqual([
    ["a", 0, 2],
    ["b", 1, 63],
  ]);
  expect(items[0]).toMatchObject({ labels: { zone: "eu" }, host: "here", desired_state: "active" });
  expect(items[1]?.metrics).toEqual({ "engine.loop_lag_seconds": 0.5 });
  const filtered = await t.engine.fleet.list({ ...PAGE, labels: { zone: "eu" } });
  expect(filtered.items.map(({ name }) => name)).toEqual(["a"]);
  const online = await t.engine.fleet.list({ ...PAGE, status: "offline" });
  expect(online).toMatchObject({ items: [], total: 0 });
  const second = await t.engine.fleet.list({ limit: 1, offset: 1 });
  expect(second).toMatchObject({ items: [{ name: "b" }], total: 2 });
});

test("WMD-6 one worker shows what it runs, and the answers outlive a restart of the server", async () => {
  await using t = await TestEngine.start();
  await t.worker("w");
  const { execution_id } = await t.run();
  const before = await t.engine.fleet.show("w");
  expect(before.executions).toEqual([execution_id]);
  await t.restart();
  expect(await t.engine.fleet.show("w")).toMatchObject({ executions: [execution_id], load: 1 });
});

test("WRK-12 a drain reaches the worker with its timeout; one that is offline is refused", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w");
  const drained = await t.engine.fleet.drain("w", 5);
  expect(drained).toMatchObject({ status: "draining", desired_state: "draining" });
  expect(await worker.next("control")).toEqual({ command: "drain", timeout_seconds: 5 });
  const { execution_id } = await t.run();
  expect(await t.row(execution_id)).toMatchObject({ worker: null });
  await t.engine.workers.disconnect(worker.ref);
  await expect(t.engine.fleet.drain("w", undefined)).rejects.toMatchObject({
    code: "worker_offline",
    status: 409,
  });
  // The next process of the name is active.
  const fresh = t.strangeWorker("w");
  await fresh.register({ instance_id: "01900000-0000-7000-8000-000000000009" });
  await fresh.connect();
  expect(await fresh.next("assign")).toMatchObject({ execution_id });
});

test("a worker's name can be forgotten once it is not connected", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w");
  await expect(t.engine.fleet.delete("w")).rejects.toMatchObject({ code: "worker_connected" });
  await t.engine.workers.disconnect(worker.ref);
  await t.engine.fleet.delete("w");
  await expect(t.engine.fleet.show("w")).rejects.toMatchObject({ code: "not_found" });
  await expect(t.engine.fleet.delete("w")).rejects.toMatchObject({ code: "not_found" });
});

test("WRK-4 a name that processes fight over is refused for a minute", async () => {
  await using t = await TestEngine.start();
  const process = (n: number) => ({ instance_id: `01900000-0000-7000-8000-00000000001${n}` });
  for (let n = 0; n < 4; n++) {
    const worker = t.strangeWorker("w");
    await worker.register(process(n));
    await worker.connect();
  }
  const fifth = t.strangeWorker("w");
  const refusal = { code: "worker_name_in_use", status: 409 };
  await expect(fifth.register(process(4))).rejects.toMatchObject(refusal);
  await t.time.advance(59_000);
  await expect(fifth.register(process(4))).rejects.toMatchObject(refusal);
  await t.time.advance(1_001);
  await fifth.register(process(4));
});
