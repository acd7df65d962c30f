import { expect, test } from "vitest";
import { parallel, pause, task, workflow } from "../index.ts";
import { until } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

const never = task({ name: "never" }, () => new Promise<string>(() => {}));

test("I8 EXE-28 code that ends without a call that had begun has diverged, and does not succeed", async () => {
  let isNew = false;
  const wf = workflow({ name: "w" }, async () => (isNew ? "done" : never()));
  const scene = new Scene([wf]);
  await scene.start();
  await until(() => scene.types().includes("TASK_STARTED"));
  isNew = true;
  await scene.crash();
  expect(scene.row()).toMatchObject({
    state: "FAILED",
    output: null,
    failure: {
      type: "NondeterminismError",
      details: { position: 0, expected: { task_call_id: "never~1" }, found: null },
    },
  });
});

test("I8 EXE-28 a divergence ends the log: nobody runs the execution again, and nothing makes the log grow", async () => {
  let bodies = 0;
  let isNew = false;
  const wf = workflow({ name: "w" }, async () => {
    bodies++;
    await pause(isNew ? "after" : "before");
  });
  const scene = new Scene([wf]);
  await scene.start();
  isNew = true;
  scene.engine.resume("e1", null);
  await scene.settle();
  expect(scene.types().slice(-2)).toEqual(["WORKFLOW_RESUMED", "WORKFLOW_FAILED"]);
  const { head, wake_at } = scene.row();
  expect(wake_at).toBeNull();
  await scene.advance(86_400_000);
  await scene.crash();
  expect(scene.row()).toMatchObject({ state: "FAILED", head });
  expect(() => scene.engine.resume("e1", null)).toThrow(/is FAILED and cannot be resumed/);
  expect(scene.log()).toHaveLength(head);
  expect(bodies).toBe(2);
});

test("EXE-33 code of a copy that was stopped is not told that a sibling failed when it goes on", async () => {
  let open = () => {};
  const outside = new Promise<void>((resolve) => (open = resolve));
  const told: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    // Of another copy, which the test lets go on once it is stopped.
    if (told.length === 0) await outside;
    try {
      await parallel([() => never()]);
    } catch (error) {
      told.push(error);
    }
    told.push("went on");
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.copyOf("e1")?.stop("its worker is lost");
  open();
  for (let turn = 0; turn < 5; turn++) await new Promise((then) => setImmediate(then));
  expect(told).toEqual([]);
});
