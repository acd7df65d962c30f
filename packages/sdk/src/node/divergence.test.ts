import { expect, test } from "vitest";
import { pause, task, workflow } from "../index.ts";
import { double, run } from "./run-in-memory.ts";

test("EXE-28 code that makes another call than the log has fails, naming both", async () => {
  const other = task({ name: "other" }, async () => 0);
  let isChanged = false;
  const wf = workflow({ name: "w" }, async () => {
    await (isChanged ? other() : double(1));
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  isChanged = true;
  await execution.run();
  expect(execution.row.failure).toMatchObject({
    type: "NondeterminismError",
    code: "nondeterminism",
    details: {
      position: 0,
      expected: { task_call_id: "double~1" },
      found: { task_call_id: "other~1" },
    },
  });
  expect(execution.types.slice(-2)).toEqual(["WORKFLOW_RESUMED", "WORKFLOW_FAILED"]);
});

test("EXE-28 a recorded call that the code no longer makes is a divergence", async () => {
  let isChanged = false;
  const wf = workflow({ name: "w" }, async () => {
    if (!isChanged) await double(1);
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  isChanged = true;
  await execution.run();
  expect(execution.row.failure).toMatchObject({ type: "NondeterminismError" });
});

test("EXE-28 a pause under another name is a divergence that names both labels", async () => {
  let name = "before";
  const wf = workflow({ name: "w" }, async () => pause(name));
  const execution = await run(wf);
  execution.resume(null);
  name = "after";
  await execution.run();
  expect(execution.row.failure?.details).toMatchObject({
    expected: { label: "before" },
    found: { label: "after" },
  });
});
