import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

// Three seconds of work: a busy machine looks at it once in a while only.
const STEPS = 30;

test("LIV-4 EXE-20 when one of two workers is killed the other finishes its executions", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("slow");
  const workers = { a: engine.startWorker("a"), b: engine.startWorker("b") };
  await Promise.all([workers.a.printed(/connected/), workers.b.printed(/connected/)]);

  const ids = await startSlow(engine, 10, STEPS);
  const ownedByA = async () => {
    const all = await Promise.all(ids.map((id) => engine.http.execution(id)));
    return all.filter(({ worker, state }) => worker === "a" && state === "RUNNING");
  };
  await until("worker a runs some of them", async () => (await ownedByA()).length > 0);
  const orphaned = (await ownedByA()).map(({ execution_id }) => execution_id);
  await workers.a.kill();

  for (const id of ids) await engine.untilEnded(id);
  for (const id of ids) {
    const execution = await engine.http.execution(id);
    expect(execution).toMatchObject({ state: "COMPLETED", output: STEPS * 100 });
  }
  const handOvers = await Promise.all(orphaned.map((id) => claims(engine, id)));
  expect(handOvers).toEqual(
    orphaned.map(() => [
      expect.objectContaining({ worker: "a", reason: "start", generation: 1 }),
      expect.objectContaining({ worker: "b", reason: "recover", generation: 2 }),
    ]),
  );
});

test("WRK-12 a worker that is asked to stop hands its executions over and exits 0", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("slow");
  const leaving = engine.startWorker("leaving", { ENGINE_WORKERS__DRAIN_TIMEOUT: "1" });
  // Of several seconds: none of them ends within the drain.
  const steps = 40;
  const ids = await startSlow(engine, 4, steps);
  await until("they run", async () => {
    const all = await Promise.all(ids.map((id) => engine.http.execution(id)));
    return all.every(({ state }) => state === "RUNNING");
  });
  leaving.signal("SIGTERM");
  const { code } = await leaving.result(20_000);
  expect(code).toBe(0);

  engine.startWorker("next");
  for (const id of ids) {
    await engine.untilEnded(id);
    expect(await engine.http.execution(id)).toMatchObject({
      state: "COMPLETED",
      output: steps * 100,
    });
    expect(await claims(engine, id)).toEqual([
      expect.objectContaining({ worker: "leaving", generation: 1 }),
      expect.objectContaining({ worker: "next", generation: 2 }),
    ]);
  }
});

async function startSlow(engine: Engine, count: number, steps: number): Promise<string[]> {
  const path = "/workflows/default/slow/run/async";
  const starts = Array.from({ length: count }, () =>
    engine.http.post<ExecutionRecord>(path, { steps, ms: 100 }),
  );
  return (await Promise.all(starts)).map(({ body }) => body.execution_id);
}

/** Who was given the execution, when and why. */
async function claims(engine: Engine, id: string): Promise<unknown[]> {
  const log = await engine.http.log(id);
  return log.filter(({ type }) => type === "WORKFLOW_CLAIMED").map(({ value }) => value);
}
