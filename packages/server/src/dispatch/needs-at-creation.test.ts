import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

function source(runner: "process" | "inline"): string {
  return `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello", runner: "${runner}" }, async (input) => input);
`;
}

async function worker(t: TestEngine, runner: "process" | "inline"): Promise<ScriptedWorker> {
  const joined = t.strangeWorker(runner);
  await joined.register({ runners: [runner], default_runner: runner });
  await joined.connect();
  return joined;
}

test("DSP-2 what an execution needs is taken once, at its creation, whatever becomes of its workflow", async () => {
  await using t = await TestEngine.start();
  await t.engine.catalog.register({ source: source("process") }, { by: null });
  const early = await t.run("early");
  await t.engine.catalog.register({ source: source("inline") }, { by: null });
  const late = await t.run("late");
  await t.engine.catalog.delete("default", "hello");
  await t.restart();

  const inline = await worker(t, "inline");
  expect(await inline.next("assign")).toMatchObject({ input: "late", runner: "inline" });
  expect(await t.row(early.execution_id)).toMatchObject({ state: "CREATED", worker: null });
  const process = await worker(t, "process");
  expect(await process.next("assign")).toMatchObject({ input: "early", runner: "process" });
  expect(await t.row(late.execution_id)).toMatchObject({ requirements: { runner: "inline" } });
});

test("DSP-2 dispatch reads no input: what waits is known by what it needs alone", async () => {
  await using t = await TestEngine.start();
  const input = "x".repeat(100_000);
  const { execution_id } = await t.run(input);
  const queued = await t.store.queue.list({ limit: 10 });
  expect(queued).toMatchObject([{ execution_id, requirements: null }]);
  expect(JSON.stringify(queued).length).toBeLessThan(1_000);
  // Nor is the execution read before it is given to somebody.
  t.failing.add("executions.find");
  const joined = await t.worker();
  expect(await joined.next("assign")).toMatchObject({ execution_id, input });
});

test("DSP-2 a worker that a start requires is kept with it, through pauses and losses", async () => {
  await using t = await TestEngine.start();
  const wanted = await t.worker("wanted");
  const other = await t.worker("other");
  const { row } = await t.engine.executions.start({ ...hello(), required_worker: "wanted" });
  const { execution_id } = row;
  await wanted.paused(await wanted.next("assign"));
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  const again = await wanted.next("assign");
  await wanted.started(again);
  const items = [{ execution_id, generation: 2, reason: "runner_lost" as const }];
  await t.engine.workers.release(wanted.ref, items);
  expect(await wanted.next("assign")).toMatchObject({ execution_id, generation: 3 });
  expect(other.heard).toEqual(["welcome"]);
});
