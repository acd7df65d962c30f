import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

test("RUN-1 RUN-2 an execution whose process is killed in a task goes on in another process", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("held");
  const worker = engine.startWorker("one", { ENGINE_WORKERS__DEFAULT_RUNNER: "process" });
  const file = engine.home.file("opened");
  const id = await engine.start("held", file);
  const other = await engine.start("held", file);
  const [pid, otherPid] = await Promise.all([pidOf(engine, id), pidOf(engine, other)]);
  expect(new Set([pid, otherPid, worker.pid]).size).toBe(3);
  process.kill(pid, "SIGKILL");
  await engine.untilIs(id, ({ generation }) => generation === 2);
  await engine.home.write("opened", "");

  const { state, output } = await engine.untilEnded(id);
  expect(state).toBe("COMPLETED");
  const [first, second] = output as [number, number];
  expect(first, "what was recorded before is not done again").toBe(pid);
  expect(second).not.toBe(pid);
  expect(await engine.untilEnded(other)).toMatchObject({
    state: "COMPLETED",
    generation: 1,
    output: [otherPid, otherPid],
  });
  expect(worker.output).toContain("SIGKILL");
});

test("RUN-3 an execution that loops for ever loses its thread; another one ends meanwhile", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("held", "hello");
  const worker = engine.startWorker("one", {
    ENGINE_WORKERS__THREADS: "2",
    ENGINE_WORKERS__STALL_WARN: "1",
    ENGINE_WORKERS__STUCK_AFTER: "2",
  });
  const file = engine.home.file("opened");
  const id = await engine.start("spinning", file);
  await pidOf(engine, id);
  const hello = await engine.start("hello_world", "Ada");
  expect(await engine.untilEnded(hello)).toMatchObject({ output: "Hello, Ada!" });

  await engine.untilIs(id, ({ generation }) => generation === 2);
  await engine.home.write("opened", "");
  expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", generation: 2 });
  const [claimed, claimedAgain] = await recordedAt(engine, id, "WORKFLOW_CLAIMED");
  const [ended] = await recordedAt(engine, hello, "WORKFLOW_COMPLETED");
  // While the loop still had its thread.
  expect(ended).toBeGreaterThan(claimed ?? Number.NaN);
  expect(ended).toBeLessThan(claimedAgain ?? Number.NaN);
  expect(worker.output).toContain(id);
  expect(worker.output).toContain("does not let its runner answer");
});

test("RUN-1 a workflow that asks for a process gets one on a worker whose default is a thread", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("held");
  const worker = engine.startWorker("one");
  const { state, output } = await engine.untilEnded(await engine.start("isolated"));
  expect(state).toBe("COMPLETED");
  expect(output).not.toBe(worker.pid);
});

/** When events of that type were recorded. */
async function recordedAt(engine: Engine, id: string, type: string): Promise<number[]> {
  const log = await engine.http.log(id);
  return log.filter((event) => event.type === type).map((one) => Date.parse(one.recorded_at));
}

/** What the first task of an execution has recorded: where it runs. */
async function pidOf(engine: Engine, id: string): Promise<number> {
  let pid: unknown;
  await engine.untilIs(id, () => true);
  while (typeof pid !== "number") {
    const log = await engine.http.log(id);
    pid = log.find(({ type }) => type === "TASK_COMPLETED")?.value;
  }
  return pid;
}
