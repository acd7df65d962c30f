import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";

test("EXE-58 a transient execution ends with only its own events recorded", async () => {
  await using engine = await startEngine();
  await engine.register("fleeting");
  const id = await engine.start("fleeting", 1);
  expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", output: 1 });
  const log = await engine.http.log(id);
  expect(log.filter(({ type }) => type.startsWith("TASK_"))).toEqual([]);
});

test("EXE-58 a transient execution whose worker is killed has failed, and is not run again", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("fleeting");
  const worker = engine.startWorker("first");
  const id = await engine.start("fleeting", 60_000);
  await engine.untilIs(id, ({ state }) => state === "RUNNING");
  engine.startWorker("second");
  await worker.kill();
  expect(await engine.untilEnded(id)).toMatchObject({
    state: "FAILED",
    error: { code: "workflow_failed", details: { type: "WorkerLostError" } },
  });
  const claims = (await engine.http.log(id)).filter(({ type }) => type === "WORKFLOW_CLAIMED");
  expect(claims).toHaveLength(1);
});
