/** A cancel that arrives before a replay has begun: what is recorded comes before it. */
import { expect, test } from "vitest";
import { type StandardSchema, signal, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

const step = task({ name: "step" }, (given: number) => given);

test("I8 I13 a cancel that arrives while the input schema of a replay takes its time does not make it diverge", async () => {
  let passes = 0;
  let arrives = () => {};
  const slowInput: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      async validate(value) {
        await new Promise((resolve) => setImmediate(resolve));
        if (++passes === 2) arrives();
        for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
        return { value };
      },
    },
  };
  const body = async () => {
    const waited = signal("s");
    await step(1);
    await step(2);
    await waited;
    return step(3);
  };
  const scene = new Scene([workflow({ name: "w", input: slowInput }, body)]);
  arrives = () => scene.engine.cancel("e1");
  const goesOn = async () => {
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      await scene.settle();
    }
  };
  await scene.start();
  await goesOn();
  expect(scene.row().waits).toHaveLength(1);
  scene.engine.signal("e1", "s", "news");
  await goesOn();
  expect(passes).toBe(2);
  expect(scene.row(), scene.story().join(", ")).toMatchObject({ state: "CANCELLED" });
});
