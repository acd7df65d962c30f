import { expect, test } from "vitest";
import { pause, task, workflow } from "../index.ts";
import { until } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

const never = () => new Promise<never>(() => {});

/** A task that calls others, whose first run a crash ends once they have outcomes. */
function crashedTask(calls: (run: number) => Promise<unknown>, recorded: number) {
  let run = 0;
  const outer = task({ name: "outer" }, async () => {
    const given = await calls(++run);
    return run === 1 ? never() : given;
  });
  const scene = new Scene([workflow({ name: "w" }, async () => outer())]);
  return {
    scene,
    async crash(): Promise<void> {
      await scene.start();
      await until(() => outcomes(scene).length === recorded);
      await scene.crash();
    },
  };
}

/** Outcomes of calls inside the task, as `id value`. */
function outcomes(scene: Scene): string[] {
  const inner = scene.log().filter(({ type, source_id }) => {
    return type === "TASK_COMPLETED" && source_id?.startsWith("outer~1/");
  });
  return inner.map(({ source_id, value }) => `${source_id} ${JSON.stringify(value)}`);
}

test("EXE-30 a call inside a task with another input runs as a new one: it does not take the record", async () => {
  const ran: number[] = [];
  const double = task({ name: "double" }, async (n: number) => {
    ran.push(n);
    return n * 2;
  });
  const { scene, crash } = crashedTask((run) => double(run * 10), 1);
  await crash();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: 40 });
  expect(ran).toEqual([10, 20]);
  expect(outcomes(scene)).toEqual(["outer~1/double~1 20", "outer~1/double~2 40"]);
});

test("I4 EXE-30 a call inside a task with the input that is recorded takes the record and does not run", async () => {
  const ran: number[] = [];
  const double = task({ name: "double" }, async (n: number) => {
    ran.push(n);
    return n * 2;
  });
  const { scene, crash } = crashedTask(() => double(10), 1);
  await crash();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: 20 });
  expect(ran).toEqual([10]);
  expect(outcomes(scene)).toEqual(["outer~1/double~1 20"]);
});

test("EXE-30 of several records each serves the call with its own input, one call at most", async () => {
  const ran: number[] = [];
  const double = task({ name: "double" }, async (n: number) => {
    ran.push(n);
    return n * 2;
  });
  const inputs = [
    [1, 2, 2],
    [2, 2, 2],
  ] as const;
  const { scene, crash } = crashedTask(async (run) => {
    const given: number[] = [];
    for (const n of inputs[run - 1] ?? []) given.push(await double(n));
    return given;
  }, 3);
  await crash();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [4, 4, 4] });
  // The second and the third are recorded with 2; the one that is missing runs.
  expect(ran).toEqual([1, 2, 2, 2]);
  expect(outcomes(scene)).toHaveLength(4);
});

test("EXE-30 inputs that differ in what JSON does not show are other inputs", async () => {
  const ran: unknown[] = [];
  const keep = task({ name: "keep" }, async (value: unknown) => {
    ran.push(value);
    return typeof value;
  });
  const { scene, crash } = crashedTask((run) => keep(run === 1 ? "1" : 1n), 1);
  await crash();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "bigint" });
  expect(ran).toEqual(["1", 1n]);
});

test("EXE-30 a pause inside a task takes no answer that was given to a pause of another name", async () => {
  let run = 0;
  const outer = task({ name: "outer" }, async () => pause(++run === 1 ? "one" : "other"));
  const scene = new Scene([workflow({ name: "w" }, async () => outer())]);
  await scene.start();
  expect(scene.row().waits).toMatchObject([{ kind: "pause", name: "one" }]);
  scene.engine.resume("e1", "to one");
  await scene.settle();
  expect(scene.row()).toMatchObject({ state: "PAUSED", waits: [{ kind: "pause", name: "other" }] });
  scene.engine.resume("e1", "to the other");
  run = 1;
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED", output: "to the other" });
});
