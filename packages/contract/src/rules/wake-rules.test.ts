import { expect, test } from "vitest";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { formatInstant } from "../values/time.ts";
import { decideCancel } from "./ending-rules.ts";
import { decideWake } from "./wake-rules.ts";

const by = (now: number) => ({ now, cancel_timeout_ms: 1_000, hasWorker: () => true });

test("EXE-50 a timer never fires early and fires once", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", opens.sleep("sleep~1", formatInstant(50_000)), { waiting: [] });
  expect(decideWake(rows.row(), by(49_999))).toBeUndefined();
  rows.change((row) => decideWake(row, by(50_000)));
  expect(rows.row().state).toBe("RESUMING");
  expect(decideWake(rows.row(), by(50_000))).toBeUndefined();
  expect(decideWake(rows.row(), by(99_000))).toBeUndefined();
});

test("I10 what nothing is due for is left alone: without waits, and after the end", () => {
  const rows = new MemoryRows();
  rows.running({ timeout_ms: 5_000 });
  expect(rows.row().wake_at).toBe(15_000);
  rows.send("COMPLETED", [event("WORKFLOW_COMPLETED", "e1")]);
  expect(rows.row().wake_at).toBeNull();
  expect(decideWake(rows.row(), by(99_000))).toBeUndefined();
});

test("EXE-44 a workflow's timeout is a cancel that says so, also while it waits", () => {
  const rows = new MemoryRows();
  rows.running({ timeout_ms: 5_000 });
  rows.send("RUNNING", opens.sleep("sleep~1", formatInstant(90_000)), { waiting: [] });
  rows.now = 15_000;
  rows.change((row) => decideWake(row, by(15_000)));
  expect(rows.log().at(-1)).toMatchObject({
    type: "WORKFLOW_CANCELLING",
    meta: { cause: "timeout" },
  });
  expect(rows.row()).toMatchObject({
    state: "CANCELLING",
    queued_at: 15_000,
    wake_at: 16_000,
    cancelling: { cause: "timeout", by: 16_000 },
  });
});

test("EXE-44 without a worker and with built-in calls only it fails at once", () => {
  const rows = new MemoryRows();
  rows.running({ timeout_ms: 5_000 });
  rows.send("RUNNING", opens.sleep("sleep~1", formatInstant(90_000)), { waiting: [] });
  rows.now = 15_000;
  rows.change((row) => decideWake(row, { ...by(15_000), hasWorker: () => false }));
  expect(rows.types().slice(4)).toEqual([
    "WORKFLOW_CANCELLING",
    "TASK_CANCELLED",
    "WORKFLOW_FAILED",
  ]);
  expect(rows.row().failure).toMatchObject({
    type: "WorkflowTimeoutError",
    code: "timeout",
    message: "workflow checkout took longer than its timeout of 5000ms",
  });
});

test("EXE-17 row 14: what nobody unwound in cancel_timeout ends, after a warning", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("PAUSED", [
    event("TASK_STARTED", "outer~1"),
    ...opens.pause("outer~1/pause~1", "p"),
    event("WORKFLOW_PAUSED", "e1"),
  ]);
  rows.change((row) => decideCancel(row, { cause: "request", by: null, ...by(20_000) }));
  expect(rows.row()).toMatchObject({ state: "CANCELLING", wake_at: 21_000 });
  expect(decideWake(rows.row(), by(20_999))).toBeUndefined();
  rows.change((row) => decideWake(row, by(21_000)));
  const ended = rows.log().slice(-4);
  expect(ended.map(({ type, source_id }) => `${type} ${source_id}`)).toEqual([
    "WORKFLOW_WARNING e1",
    "TASK_CANCELLED outer~1/pause~1",
    "TASK_CANCELLED outer~1",
    "WORKFLOW_CANCELLED e1",
  ]);
  expect(ended[0]?.value).toMatchObject({ code: "not_unwound" });
  expect(rows.row()).toMatchObject({
    state: "CANCELLED",
    cancelling: { cause: "request" },
    waits: [],
  });
});

test("EXE-17 row 14: a cancelled execution that a worker has is that worker's to end", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideCancel(row, { cause: "request", by: null, ...by(20_000) }));
  expect(rows.row()).toMatchObject({ state: "CANCELLING", session: "s1", wake_at: null });
  expect(decideWake(rows.row(), by(99_000))).toBeUndefined();
});
