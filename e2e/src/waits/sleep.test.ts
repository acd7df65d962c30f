import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";

const MS = 3_000;
const ONE_SLOT = { ENGINE_WORKERS__SLOTS: "1" };

test("EXE-50 a sleep gives the only slot to another execution and ends when its time has come", async () => {
  await using engine = await startEngine({ env: ONE_SLOT });
  await engine.register("nap", "hello");
  const id = await engine.start("nap", MS);
  const parked = await engine.untilParked(id, "sleep");
  const hello = await engine.http.post("/workflows/hello_world/run/sync", "meanwhile");
  expect(hello).toMatchObject({ status: 200, body: { output: "Hello, meanwhile!" } });
  expect(await engine.http.execution(id)).toMatchObject({ state: "RUNNING", worker: null });

  const { state, output } = await engine.untilEnded(id);
  expect(state).toBe("COMPLETED");
  expect(output).toBeGreaterThanOrEqual(MS);
  const log = await engine.http.log(id);
  const woken = log.find(({ type }) => type === "TASK_COMPLETED");
  const late =
    Date.parse(String(woken?.recorded_at)) - Date.parse(String(parked.waiting[0]?.until));
  // The bound is that of the requirement.
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThanOrEqual(1_000);
  expect(log.map(({ type }) => type)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
});

test("I1 EXE-50 a server that was killed while an execution slept wakes it, also when its time came meanwhile", async () => {
  await using engine = await startEngine();
  await engine.register("nap");
  const [overdue, later] = [await engine.start("nap", 1_100), await engine.start("nap", MS)];
  const { waiting } = await engine.untilParked(overdue, "sleep");
  const { waiting: waitingLater } = await engine.untilParked(later, "sleep");
  await engine.server.kill();
  const untilOverdue = Date.parse(String(waiting[0]?.until)) - Date.now();
  await new Promise((resolve) => setTimeout(resolve, untilOverdue + 1));
  engine.startServerAgain();

  for (const [id, ms] of [[overdue, 1_100] as const, [later, MS] as const]) {
    const { state, output } = await engine.untilEnded(id);
    expect(state).toBe("COMPLETED");
    expect(output).toBeGreaterThanOrEqual(ms);
    const ends = (await engine.http.log(id)).filter(({ type }) => type === "TASK_COMPLETED");
    expect(ends).toHaveLength(1);
  }
  const log = await engine.http.log(later);
  const woken = log.find(({ type }) => type === "TASK_COMPLETED");
  // It slept to the moment recorded before the kill; the restart did not begin it again.
  expect(log.find(({ type }) => type === "TASK_STARTED")?.value).toMatchObject({
    until: waitingLater[0]?.until,
  });
  expect(Date.parse(String(woken?.recorded_at))).toBeGreaterThanOrEqual(
    Date.parse(String(waitingLater[0]?.until)),
  );
});
