import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

test("DSP-3 a worker that another server has paused gets nothing, although the news has not come", async () => {
  await using t = await TwoServers.start();
  const paused = await t.b.worker("a-paused");
  t.hears = false;
  await t.a.engine.fleet.pause("a-paused");
  const first = await t.b.run("first");
  await settled();
  expect(await t.b.row(first.execution_id)).toMatchObject({ state: "CREATED", worker: null });
  const other = await t.b.worker("other");
  expect(await other.next("assign")).toMatchObject({ input: "first" });
  expect(paused.heard).toEqual(["welcome", "control"]);
});

test("DSP-5 a server that was refused a claim looks why, and does not ask again and again", async () => {
  await using t = await TestEngine.start();
  await t.worker("w");
  await t.store.workers.desire("w", "paused");
  const before = t.store.statementCount();
  const { execution_id } = await t.run();
  await settled();
  await settled();
  const statements = t.store.statementCount() - before;
  expect(statements).toBeLessThan(30);
  await settled();
  await settled();
  expect(t.store.statementCount() - before).toBe(statements);
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", worker: null });
});

test("DSP-5 a worker that is free again after all gets what was refused to it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w");
  await t.store.workers.desire("w", "paused");
  const { execution_id } = await t.run();
  await settled();
  await t.store.workers.desire("w", "active");
  await t.engine.fleet.resume("w");
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});
