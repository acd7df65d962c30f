import { expect, test } from "vitest";
import { parallel, pause, signal, sleep, workflow } from "../index.ts";
import { start } from "./testing/run-in-memory.ts";

test("I17 what a copy says while a slow checkpoint is on its way is sent after it, also when nobody waits for it", async () => {
  const waits = [() => sleep("1h"), () => signal("s", { timeout: "1h" })];
  const body = async () => {
    await parallel(waits, { settle: true });
    return pause("last");
  };
  const execution = start(workflow({ name: "w" }, body));
  // Longer than events linger for company: the pause is opened while WORKFLOW_RESUMED is on its way.
  execution.onDelta = () => new Promise((then) => setTimeout(then, 10));
  const copy = execution.claim();
  await copy.ended;
  execution.now = (execution.row.wake_at ?? 0) + 100;
  execution.engine.wakeDue();
  expect(await execution.engine.wake("e1", copy)?.ended).toBe("paused");
});
