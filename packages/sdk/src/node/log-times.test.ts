import { parseEventTime } from "@engine/contract";
import { expect, test } from "vitest";
import { signal, task, workflow } from "../index.ts";
import { nodeHost } from "./host.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";

test("EXE-23 what a copy wrote before it heard of an early signal is not older than the signal in the log", async () => {
  let now = 1_700_000_000_000;
  const host = { ...nodeHost(), now: () => now };
  const wf = workflow({ name: "w" }, async () => signal("paid"));
  const execution = new MemoryExecution(wf, null, host, { clock: () => now });
  let isFirst = true;
  execution.onDelta = () => {
    // The signal is there before the copy's first delta, which was written earlier.
    if (isFirst) {
      now += 5;
      execution.engine.signal(execution.id, "paid", 7);
    }
    isFirst = false;
  };
  await execution.run();
  while (execution.row.session === null && execution.row.state === "RESUMING")
    await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: 7 });
  const times = execution.events.map(({ time }) => parseEventTime(time));
  expect([...times].sort((a, b) => a - b)).toEqual(times);
  expect(execution.types.indexOf("WORKFLOW_SIGNALED")).toBeLessThan(
    execution.types.indexOf("WORKFLOW_STARTED"),
  );
});

test("EXE-23 WRK-9 what a copy had done when its claim was renewed is not older than that in the log", async () => {
  let now = 1_700_000_000_000;
  const host = { ...nodeHost(), now: () => now };
  // Longer than its start lingers for company.
  const slow = task({ name: "slow" }, () => new Promise((then) => setTimeout(then, 30, 1)));
  const wf = workflow({ name: "w" }, async () => slow());
  const execution = new MemoryExecution(wf, null, host, { clock: () => now });
  let deltas = 0;
  execution.onDelta = () => {
    if (++deltas !== 2) return;
    // The outcome is on its way when the claim is renewed, and hears of that later still.
    execution.renewClaim();
    now += 50;
  };
  await execution.claim().ended;
  expect(execution.row.state).toBe("COMPLETED");
  expect(execution.types).toContain("WORKFLOW_RESUMED");
  const times = execution.events.map(({ time }) => parseEventTime(time));
  expect([...times].sort((a, b) => a - b)).toEqual(times);
});

test("EXE-31 I9 the clock that code read before an early signal was heard of is that of every replay", async () => {
  let now = 1_700_000_000_000;
  const host = { ...nodeHost(), now: () => now };
  const seen: number[] = [];
  const wf = workflow({ name: "w" }, async () => {
    seen.push(Date.now());
    await signal("later");
    return Date.now();
  });
  const execution = new MemoryExecution(wf, null, host, { clock: () => now });
  let isFirst = true;
  execution.onDelta = () => {
    if (isFirst) {
      now += 5;
      execution.engine.signal(execution.id, "early", 7);
    }
    isFirst = false;
  };
  await execution.run();
  expect(execution.types.slice(2, 4)).toEqual(["WORKFLOW_SIGNALED", "WORKFLOW_STARTED"]);
  now += 1_000;
  execution.engine.signal(execution.id, "later", 8);
  await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: now });
  expect(seen).toEqual([1_700_000_000_000, 1_700_000_000_000]);
});
