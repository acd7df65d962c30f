import { expect, test } from "vitest";
import { parallel, pause, signal, sleep, workflow } from "../index.ts";
import { start } from "./run-in-memory.ts";

test("RUN-4 I17 a copy that waited goes on to a pause when two of its waits end in one commit", async () => {
  const waits = [() => sleep("1h"), () => signal("s", { timeout: "1h" })];
  const body = async () => {
    await parallel(waits, { settle: true });
    return pause("last");
  };
  const execution = start(workflow({ name: "w" }, body));
  // The time that a checkpoint takes on its way.
  execution.onDelta = () => new Promise((then) => setTimeout(then, 10));
  const copy = execution.claim();
  await copy.ended;
  execution.now = (execution.row.wake_at ?? 0) + 100;
  execution.engine.wakeDue();
  expect(await execution.engine.wake("e1", copy)?.ended).toBe("paused");
});
