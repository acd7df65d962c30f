import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

/** More than the dispatcher reads of its queue in one go. */
const MANY = 1_010;
const OTHER_PROCESS = "01900000-0000-7000-8000-000000000002";

test("I17 a claim that failed is tried again, wherever in a long queue it stands", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w", { slots: 1 });
  await t.strangeWorker("away").register({ instance_id: OTHER_PROCESS });
  const waiting = async () => {
    for (let i = 0; i < MANY; i++) {
      await t.engine.executions.start({ ...hello(), required_worker: "away" });
    }
  };
  await waiting();
  await worker.beat([], { status: "paused" });
  const { execution_id } = await t.run();
  t.failing.add("executions.change");
  await worker.beat([], { status: "active" });
  await settled();
  t.failing.clear();
  await waiting();
  await t.time.advance(1_000);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
}, 60_000);
