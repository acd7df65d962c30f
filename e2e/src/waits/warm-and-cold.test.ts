import { readFile } from "node:fs/promises";
import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import type { CliProcess } from "../harness/cli-process.ts";
import { type Engine, startEngine } from "../harness/engine.ts";

const LINES = [
  "printed before the first question",
  "printed after one",
  "printed after two",
] as const;

async function ask(engine: Engine): Promise<{ id: string; file: string }> {
  await engine.register("interview");
  const file = engine.home.file("begun.txt");
  const id = await engine.start("interview", file);
  await engine.untilParked(id, "pause");
  return { id, file };
}

async function answer(engine: Engine, id: string, input: string): Promise<ExecutionRecord> {
  const path = `/workflows/default/interview/resume/${id}`;
  return (await engine.http.post<ExecutionRecord>(path, input)).body;
}

/** How often each line was printed, by all of these workers together. */
function printed(...workers: CliProcess[]): number[] {
  const output = workers.map((worker) => worker.output).join("");
  return LINES.map((line) => output.split(line).length - 1);
}

async function timesBegun(file: string): Promise<number> {
  return (await readFile(file, "utf8")).split("\n").length - 1;
}

test("EXE-31 a warm copy goes on where it stopped: its body begins once and prints each line once", async () => {
  await using engine = await startEngine({ workers: [] });
  const worker = engine.startWorker("warm");
  const { id, file } = await ask(engine);
  await answer(engine, id, "one");
  expect(await answer(engine, id, "two")).toMatchObject({ output: ["one", "two"] });
  await worker.printed(new RegExp(LINES[2]));
  expect(printed(worker)).toEqual([1, 1, 1]);
  expect(await timesBegun(file)).toBe(1);
});

test("EXE-27 EXE-31 without warm copies the body is replayed for each answer and prints each line once all the same", async () => {
  await using engine = await startEngine({ workers: [] });
  const worker = engine.startWorker("cold", { ENGINE_WORKERS__WARM_EXECUTIONS: "0" });
  const { id, file } = await ask(engine);
  await answer(engine, id, "one");
  expect(await answer(engine, id, "two")).toMatchObject({ output: ["one", "two"] });
  await worker.printed(new RegExp(LINES[2]));
  expect(printed(worker)).toEqual([1, 1, 1]);
  expect(await timesBegun(file)).toBe(3);
});

test("I4 EXE-27 EXE-31 when the worker with the warm copy is killed another one goes on, and prints what is new", async () => {
  await using engine = await startEngine({ workers: [] });
  const first = engine.startWorker("first");
  const { id } = await ask(engine);
  await answer(engine, id, "one");
  await first.printed(new RegExp(LINES[1]));
  await first.kill();
  const second = engine.startWorker("second");
  expect(await answer(engine, id, "two")).toMatchObject({ output: ["one", "two"] });
  await second.printed(new RegExp(LINES[2]));
  expect(printed(second)).toEqual([0, 0, 1]);
  expect(printed(first, second)).toEqual([1, 1, 1]);
});
