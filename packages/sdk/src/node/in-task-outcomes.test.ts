/** A task whose copy was lost runs again, and what it waited for ends before it asks again. */
import { expect, test } from "vitest";
import { parallel, pause, signal, sleep, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

interface Waiting {
  readonly scene: Scene;
  /** Lets the task that runs again come to its wait. */
  readonly goOn: () => void;
}

/** A task that has come to wait, was lost there and runs again, not yet at its wait. */
async function lostWhile(wait: () => Promise<unknown>): Promise<Waiting> {
  let gate = Promise.withResolvers<void>();
  let entries = 0;
  const outer = task({ name: "outer" }, async () => {
    if (++entries > 1) await gate.promise;
    return [await wait()];
  });
  const scene = new Scene([
    workflow({ name: "w" }, async () => parallel([() => outer(), () => pause("gate")])),
  ]);
  await scene.start();
  expect(scene.row()).toMatchObject({ state: "PAUSED" });
  gate = Promise.withResolvers<void>();
  scene.engine.resume("e1", "open", "gate");
  await scene.settle();
  expect(entries).toBe(2);
  return { scene, goOn: gate.resolve };
}

test("I11 a signal that comes while the task that waits for it runs again reaches it", async () => {
  const { scene, goOn } = await lostWhile(() => signal("news"));
  scene.engine.signal("e1", "news", "good");
  await scene.settle();
  goOn();
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [["good"], "open"] });
});

test("I4 a sleep that ends while the task that sleeps runs again has one outcome", async () => {
  const { scene, goOn } = await lostWhile(() => sleep("1m"));
  await scene.advance(90_000);
  goOn();
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED" });
  const ends = scene.story().filter((line) => line === "TASK_COMPLETED parallel~1/outer~1/sleep~1");
  expect(ends).toHaveLength(1);
});

test("I11 an answer to a pause inside the task that runs again reaches it", async () => {
  const { scene, goOn } = await lostWhile(() => pause("inner"));
  scene.engine.resume("e1", 7, "inner");
  await scene.settle();
  goOn();
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [[7], "open"] });
});
