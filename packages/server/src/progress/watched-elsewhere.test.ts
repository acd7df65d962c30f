import { expect, test } from "vitest";
import { TwoServers } from "../testing/two-servers.ts";

test("PRG-2 PRG-6 a reader of whose coming the other server was not told is listened for from the safety tick on", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  await worker.started(await worker.next("assign"));
  t.hears = false;
  const reader = await t.a.engine.executions.follow({ execution_id });
  await t.time.advance(20);
  expect(worker.heard).not.toContain("listen");
  t.hears = true;
  await t.time.advance(15_000);
  expect(await worker.next("listen")).toEqual({ execution_id, on: true });
  reader.close();
});

test("PRG-2 a worker sends nothing more for a reader whose leaving the other server was not told", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  await worker.started(await worker.next("assign"));
  const reader = await t.a.engine.executions.follow({ execution_id });
  await t.time.advance(20);
  expect(await worker.next("listen")).toEqual({ execution_id, on: true });
  t.hears = false;
  reader.close();
  await t.time.advance(1_020);
  t.hears = true;
  await t.time.advance(15_000);
  expect(await worker.next("listen")).toEqual({ execution_id, on: false });
});
