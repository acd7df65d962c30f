/** A copy has said that it waits, and the answer is late: what comes due meanwhile is not lost. */
import { expect, test } from "vitest";
import { signal, sleep, task, workflow } from "../index.ts";
import type { RunningExecution } from "../replay/port.ts";
import { Scene } from "./testing/scene.ts";

/** Keeps the first delta without events back, which says that an execution is parked. */
function keepParkBack(scene: Scene): PromiseWithResolvers<void> {
  const late = Promise.withResolvers<void>();
  let isKept = false;
  scene.engine.onDelta = (_, { events }) => {
    if (isKept || events !== "[]") return;
    isKept = true;
    return late.promise;
  };
  return late;
}

/** Lets the copy go on as a worker would: warm if it can, else from the log. */
async function goOn(scene: Scene, copy: RunningExecution): Promise<void> {
  expect(scene.row().session).toBeNull();
  scene.engine.wakeDue();
  if (!scene.wake(copy)) await scene.crash();
  await scene.settle();
}

test("I4 a retry that comes due while the park is under way runs once, after it", async () => {
  const ran: number[] = [];
  const flaky = task({ name: "flaky", retry: { maxAttempts: 2, delay: "2s" } }, async (_, ctx) => {
    ran.push(ctx.attempt);
    if (ctx.attempt === 1) throw new Error("not yet");
    return "done";
  });
  const scene = new Scene([workflow({ name: "w" }, async () => flaky(undefined))]);
  const late = keepParkBack(scene);
  await scene.start();
  const copy = scene.engine.copyOf("e1");
  await scene.advance(5_000);
  late.resolve();
  await scene.clock.still();
  if (copy && scene.row().session === null) await goOn(scene, copy);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "done" });
  expect(ran).toEqual([1, 2]);
});

test("code that goes on with something of its own while the park is under way is replayed", async () => {
  const foreign = Promise.withResolvers<string>();
  const step = task({ name: "step" }, async (given: string) => given);
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      const first = await Promise.race([signal("s"), foreign.promise]);
      await sleep("1h");
      return [await step(first as string)];
    }),
  ]);
  const late = keepParkBack(scene);
  await scene.start();
  const copy = scene.engine.copyOf("e1");
  if (!copy) throw new Error("no copy");
  foreign.resolve("own");
  await scene.clock.still();
  late.resolve();
  await scene.clock.still();
  scene.engine.signal("e1", "s", "from outside");
  await goOn(scene, copy);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED" });
});
