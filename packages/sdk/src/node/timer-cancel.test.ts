// A timer of the body is a sleep, also when a cancel comes.
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { CancelledError, sleep, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

const caught: unknown[] = [];
const bodies: [string, () => Promise<unknown>][] = [
  ["sleep()", () => sleep("1h")],
  ["setTimeout of node:timers/promises", () => wait(3_600_000)],
  ["setTimeout with a callback", () => new Promise((resolve) => setTimeout(resolve, 3_600_000))],
  [
    "setInterval with a callback",
    () => new Promise((resolve) => setInterval(() => resolve(1), 3_600_000)),
  ],
  [
    "a timer beside another promise",
    () => Promise.race([new Promise(() => {}), new Promise((r) => setTimeout(r, 3_600_000))]),
  ],
];

test.each(bodies)(
  "EXE-42 a body that awaits %s ends with its cancel, not after the grace",
  async (_, body) => {
    const scene = new Scene([workflow({ name: "w" }, body)]);
    await scene.start();
    const before = scene.clock.now;
    scene.engine.cancel("e1");
    await scene.settle();
    expect(scene.row()).toMatchObject({ state: "CANCELLED" });
    expect(scene.clock.now - before).toBeLessThan(100);
  },
);

test.each(bodies)(
  "EXE-44 a timeout of the workflow ends a body that awaits %s in time",
  async (_, body) => {
    const scene = new Scene([workflow({ name: "w", timeout: "1s" }, body)]);
    await scene.start();
    const begun = scene.clock.now;
    await scene.toEnd();
    expect(scene.row()).toMatchObject({
      state: "FAILED",
      failure: { type: "WorkflowTimeoutError" },
    });
    expect(scene.clock.now - begun).toBeLessThan(1_200);
  },
);

test("EXE-42 a timer that is a promise rejects as a sleep does, and the code cleans up", async () => {
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      try {
        await wait(3_600_000);
      } catch (error) {
        caught.push(error);
        throw error;
      }
    }),
  ]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.settle();
  expect(scene.row()).toMatchObject({ state: "CANCELLED" });
  expect(caught).toHaveLength(1);
  expect(caught[0]).toBeInstanceOf(CancelledError);
});

test("EXE-42 a task that goes on beside a timer still gets its grace to stop", async () => {
  let isStopped = false;
  const stops = task({ name: "stops" }, async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await new Promise((resolve) => setImmediate(resolve));
    isStopped = true;
  });
  const body = async () =>
    Promise.all([stops(), new Promise((resolve) => setTimeout(resolve, 3_600_000))]);
  const scene = new Scene([workflow({ name: "w" }, body)]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.settle();
  await new Promise((resolve) => setImmediate(resolve));
  await scene.settle();
  expect(scene.row()).toMatchObject({ state: "CANCELLED" });
  expect(isStopped).toBe(true);
});
