import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";

/** Waits for a signal, with a time that it is not to be taken for. */
async function waiting(t: TestEngine) {
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const until = new Date(t.time.now + 5_000).toISOString();
  const call = worker.callEvent("TASK_STARTED", "signal~1", { name: "paid", until });
  await worker.parked(await worker.next("assign"), [call]);
  return { worker, execution_id };
}

test("I11 EXE-53 a signal of JSON null ends a wait with null, and is not taken for its timeout", async () => {
  await using t = await TestEngine.start();
  const { worker, execution_id } = await waiting(t);
  await t.engine.executions.signal({ execution_id, name: "paid", payload: null, by: null });
  const { history } = await worker.next("assign");
  expect(history.events.slice(-4)).toMatchObject([
    { type: "WORKFLOW_SIGNALED", value: { name: "paid", payload: null } },
    { type: "TASK_COMPLETED", source_id: "signal~1", value: null },
    { type: "WORKFLOW_RESUMING", meta: { cause: "signal" } },
    { type: "WORKFLOW_CLAIMED" },
  ]);
  await t.time.advance(10_000);
  const log = (await t.store.log.read(execution_id)).map(({ event }) => event);
  expect(log.filter(({ type }) => type === "TASK_COMPLETED")).toHaveLength(1);
});

test("I11 EXE-53 a timeout gives undefined, which no payload is", async () => {
  await using t = await TestEngine.start();
  const { worker } = await waiting(t);
  await t.time.advance(5_000);
  const { history } = await worker.next("assign");
  expect(history.events.slice(-3)).toMatchObject([
    { type: "TASK_COMPLETED", source_id: "signal~1", value: { $rich: expect.anything() } },
    { type: "WORKFLOW_RESUMING", meta: { cause: "timer" } },
    { type: "WORKFLOW_CLAIMED" },
  ]);
});
