import { expect, test } from "vitest";
import { engineFailure } from "../errors/failure.ts";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { formatInstant } from "../values/time.ts";
import { decode } from "../values/value.ts";
import { type Cancel, decideCancel, endUnwound, failExecution } from "./ending-rules.ts";

const request: Cancel = {
  cause: "request",
  by: "ada",
  reason: "wrong order",
  cancel_timeout_ms: 1_000,
  hasWorker: () => true,
  now: 20_000,
};
const noWorker = { ...request, hasWorker: () => false };
const ended = { now: 20_000, cancel_timeout_ms: 1_000 };

/** e1 waits, parked, for its child e2. */
function parentAndChild(over: Record<string, boolean> = {}): MemoryRows {
  const rows = new MemoryRows();
  rows.running();
  const fresh = childOf(rows, over["detach"] ?? false);
  rows.send("RUNNING", opens.call("call~1", over), {
    waiting: [],
    calls: { "call~1": { kind: "child", fresh } },
  });
  return rows;
}

function childOf(rows: MemoryRows, detached = false) {
  const parent = { execution_id: "e1", depth: 0, call_id: "call~1", detached };
  return rows.fresh({
    execution_id: "e2",
    workflow: "ship",
    trigger: { kind: "call", id: "e1" },
    parent,
  });
}

function startChild(rows: MemoryRows): void {
  rows.claim("e2");
  rows.send("RUNNING", [event("WORKFLOW_STARTED", "e2")], { id: "e2" });
}

test("EXE-17 row 12: what never started and nobody owns is cancelled in one transaction", () => {
  const rows = new MemoryRows();
  rows.create();
  rows.change((row) => decideCancel(row, request));
  const [, cancelling, cancelled] = rows.log();
  expect(cancelling).toMatchObject({
    type: "WORKFLOW_CANCELLING",
    value: null,
    meta: { cause: "request", by: "ada", reason: "wrong order" },
  });
  expect(cancelled).toMatchObject({ type: "WORKFLOW_CANCELLED", value: null });
  expect(rows.row()).toMatchObject({
    ...{ state: "CANCELLED", finished_at: 20_000, wake_at: null },
    cancelling: { cause: "request", reason: "wrong order" },
  });
});

test("EXE-17 row 13: a running one keeps its owner, a parked one queues for a worker to unwind it", () => {
  const running = new MemoryRows();
  running.running();
  running.change((row) => decideCancel(row, request));
  expect(running.row()).toMatchObject({ state: "CANCELLING", session: "s1" });

  const parked = new MemoryRows();
  parked.running();
  parked.send("PAUSED", [...opens.pause("pause~1", "p"), event("WORKFLOW_PAUSED", "e1")]);
  parked.change((row) => decideCancel(row, request));
  expect(parked.row()).toMatchObject({ state: "CANCELLING", session: null, queued_at: 20_000 });
  expect(parked.types().at(-1)).toBe("WORKFLOW_CANCELLING");
  parked.claim();
  expect(parked.row()).toMatchObject({ state: "CANCELLING", session: "s1", generation: 2 });
});

test("EXE-17 row 14: without a worker, parked with built-in calls only, it ends at once", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("PAUSED", [
    event("TASK_STARTED", "parallel~1", null, { kind: "parallel" }),
    ...opens.pause("parallel~1/pause~1", "p"),
    ...opens.sleep("parallel~1/sleep~1", formatInstant(90_000)),
    event("WORKFLOW_PAUSED", "e1"),
  ]);
  rows.change((row) => decideCancel(row, noWorker));
  const cancelled = rows.log().filter(({ type }) => type === "TASK_CANCELLED");
  expect(cancelled.map(({ source_id, name, kind }) => [source_id, name, kind])).toEqual([
    ["parallel~1/pause~1", "pause", "pause"],
    ["parallel~1/sleep~1", "sleep", "sleep"],
    ["parallel~1", "parallel", "parallel"],
  ]);
  expect(rows.row().state).toBe("CANCELLED");
});

test("EXE-17 row 14: without a worker, a call of the user's own waits for one: it may have a rollback", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("PAUSED", [
    event("TASK_STARTED", "outer~1"),
    ...opens.pause("outer~1/pause~1", "p"),
    event("WORKFLOW_PAUSED", "e1"),
  ]);
  rows.change((row) => decideCancel(row, noWorker));
  expect(rows.row().state).toBe("CANCELLING");
});

test("EXE-15 a parked local run ends at once, one that a process holds when that process sees it", () => {
  const parked = new MemoryRows();
  parked.running({ version: null });
  parked.send("PAUSED", [...opens.pause("pause~1", "p"), event("WORKFLOW_PAUSED", "e1")]);
  parked.change((row) => decideCancel(row, request));
  expect(parked.row().state).toBe("CANCELLED");

  const held = new MemoryRows();
  held.running({ version: null });
  held.change((row) => decideCancel(row, request));
  expect(held.row()).toMatchObject({ state: "CANCELLING", session: "s1" });
});

test("EXE-21 cancelling what is being cancelled writes nothing, what has ended is refused", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideCancel(row, request));
  expect(decideCancel(rows.row(), request)).toBeUndefined();
  rows.send("CANCELLED", [event("WORKFLOW_CANCELLED", "e1")]);
  expect(decideCancel(rows.row(), request)).toMatchObject({
    code: "execution_finished",
    details: { state: "CANCELLED" },
  });
});

test("EXE-17 row 15: a body that had ended before it saw the cancel ends the way it ended", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideCancel(row, request));
  rows.send("COMPLETED", [event("WORKFLOW_COMPLETED", "e1", 7)]);
  expect(rows.row()).toMatchObject({ state: "COMPLETED", output: 7, cancelling: null });
});

test("EXE-55 the child's end and the outcome in its parent's log are one change", () => {
  const rows = parentAndChild();
  startChild(rows);
  expect(rows.row()).toMatchObject({ state: "RUNNING", session: null });
  rows.send("COMPLETED", [event("WORKFLOW_COMPLETED", "e2", { sent: 3 })], { id: "e2" });
  expect(rows.log().slice(-2)).toMatchObject([
    { type: "TASK_COMPLETED", source_id: "call~1", name: "call", kind: "call", value: { sent: 3 } },
    { type: "WORKFLOW_RESUMING", value: null, meta: { cause: "child", task_call_id: "call~1" } },
  ]);
  expect(rows.row()).toMatchObject({ state: "RESUMING", waits: [] });
});

test("EXE-55 a child that failed rejects its call with the child's failure as cause", () => {
  const rows = parentAndChild();
  startChild(rows);
  const failure = engineFailure("ValueTooLargeError", "too large");
  rows.send("FAILED", [event("WORKFLOW_FAILED", "e2", failure as never)], { id: "e2" });
  expect(rows.log().at(-2)).toMatchObject({
    type: "TASK_FAILED",
    source_id: "call~1",
    value: {
      type: "ChildFailedError",
      code: "child_failed",
      message: "child shop/ship (e2) failed: too large",
      details: { execution_id: "e2" },
      cause: failure,
      task_call_id: "call~1",
    },
  });
});

test("EXE-55 a child that was cancelled rejects its call with ChildCancelledError", () => {
  const rows = parentAndChild();
  rows.change((row) => decideCancel(row, request), "e2");
  expect(rows.log().at(-2)).toMatchObject({
    type: "TASK_FAILED",
    value: { type: "ChildCancelledError", details: { execution_id: "e2" } },
  });
  expect(rows.row().state).toBe("RESUMING");
});

test("EXE-55 a child that pauses keeps its parent waiting", () => {
  const rows = parentAndChild();
  startChild(rows);
  const { head } = rows.row();
  rows.send("PAUSED", [...opens.pause("pause~1", "p"), event("WORKFLOW_PAUSED", "e2")], {
    id: "e2",
  });
  expect(rows.row()).toMatchObject({ state: "RUNNING", head, waits: [{ kind: "child" }] });
});

test("EXE-21 a cancel reaches the children that were not detached, and theirs, in the same change", () => {
  const rows = parentAndChild();
  startChild(rows);
  const grandchild = { execution_id: "e2", depth: 1, call_id: "call~1", detached: false };
  const fresh = rows.fresh({ execution_id: "e3", parent: grandchild });
  rows.send("RUNNING", opens.call("call~1"), {
    id: "e2",
    waiting: [],
    calls: { "call~1": { kind: "child", fresh } },
  });
  rows.change((row) => decideCancel(row, request));
  expect(rows.row("e2")).toMatchObject({ state: "CANCELLING", cancelling: { cause: "parent" } });
  expect(rows.row("e3").state).toBe("CANCELLED");
  expect(rows.log("e3").at(-1)).toMatchObject({ meta: { cause: "parent" } });
  rows.claim("e2");
  const unwound = [event("TASK_CANCELLED", "call~1"), event("WORKFLOW_CANCELLED", "e2")];
  rows.send("CANCELLED", unwound, { id: "e2" });
  expect(rows.types(), "the parent unwinds its call itself").not.toContain("TASK_FAILED");
});

test("EXE-56 a detached child goes on when its parent is cancelled", () => {
  const rows = parentAndChild({ wait: false, detach: true });
  rows.change((row) => decideCancel(row, request));
  expect(rows.row("e2").state).toBe("CREATED");
});

test("EXE-56 a child nobody waits for goes on when its parent ends, and is cancelled with it", () => {
  const ended = parentAndChild({ wait: false });
  ended.claim();
  ended.send("RUNNING", [event("WORKFLOW_RESUMED", "e1")]);
  ended.send("COMPLETED", [event("WORKFLOW_COMPLETED", "e1")]);
  expect(ended.row("e2").state).toBe("CREATED");

  const cancelled = parentAndChild({ wait: false });
  cancelled.change((row) => decideCancel(row, request));
  expect(cancelled.row("e2").state).toBe("CANCELLED");
});

test("EXE-56 giving up an open waiting call cancels its child", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", opens.call("call~1"), {
    calls: { "call~1": { kind: "child", fresh: childOf(rows) } },
  });
  rows.send("RUNNING", [event("TASK_CANCELLED", "call~1")]);
  expect(rows.row("e2")).toMatchObject({ state: "CANCELLED", cancelling: { cause: "sibling" } });
  expect(rows.types().slice(-1), "its end is no news to the parent").toEqual(["TASK_CANCELLED"]);
});

test("EXE-56 an execution that fails with a call open takes that child with it", () => {
  const rows = parentAndChild();
  startChild(rows);
  rows.change((row) =>
    failExecution({ ...row, state: "RESUMING" }, engineFailure("NondeterminismError", "d"), ended),
  );
  expect(rows.row("e2").state).toBe("CANCELLING");
});

test("EXE-51 a pause on another execution's end wakes with undefined when that ends", () => {
  const rows = new MemoryRows();
  rows.create({ execution_id: "e2" });
  rows.running();
  rows.send("PAUSED", [
    ...opens.pause("pause~1", "p", { on_complete: "e2" }),
    event("WORKFLOW_PAUSED", "e1"),
  ]);
  expect(rows.row().state).toBe("PAUSED");
  expect(rows.row("e2").watchers).toEqual([{ execution_id: "e1", task_call_id: "pause~1" }]);
  rows.change((row) => decideCancel(row, request), "e2");
  const [resumed, completed, resuming] = rows.log().slice(-3);
  expect(decode(resumed?.value ?? null)).toEqual({
    name: "p",
    input: undefined,
    cause: "completion",
  });
  expect(decode(completed?.value ?? null)).toBeUndefined();
  expect(resuming).toMatchObject({ type: "WORKFLOW_RESUMING", meta: { cause: "completion" } });
  expect(rows.row("e2").watchers).toEqual([]);
});

test("EXE-51 a pause on an execution that has ended wakes at once, on an unknown one it fails", () => {
  const rows = new MemoryRows();
  rows.create({ execution_id: "e2" });
  rows.change((row) => decideCancel(row, request), "e2");
  rows.running();
  const ofEnded = opens.pause("pause~1", "p", { on_complete: "e2" });
  const ofNone = opens.pause("pause~2", "q", { on_complete: "e9" });
  rows.send("RUNNING", [...ofEnded, ...ofNone]);
  expect(rows.log().slice(-4)).toMatchObject([
    { type: "TASK_RESUMED", source_id: "pause~1" },
    { type: "TASK_COMPLETED", source_id: "pause~1" },
    { type: "TASK_RESUMED", source_id: "pause~2" },
    {
      type: "TASK_FAILED",
      source_id: "pause~2",
      value: {
        type: "NotFoundError",
        message: 'pause "q" waits for execution e9, which does not exist',
        details: { resource: "execution", execution_id: "e9" },
      },
    },
  ]);
  expect(rows.row()).toMatchObject({ state: "RUNNING", session: "s1", waits: [] });
});

test("EXE-17 row 11: an execution that the engine fails leaves nobody waiting for it", () => {
  const rows = parentAndChild();
  rows.change((row) => failExecution(row, engineFailure("WorkflowLoadError", "no"), ended), "e2");
  expect(rows.row("e2").state).toBe("FAILED");
  expect(rows.row().state).toBe("RESUMING");
});

test("EXE-56 a child that an execution leaves behind has the configured time to unwind", () => {
  const rows = parentAndChild();
  startChild(rows);
  rows.change((row) => failExecution(row, engineFailure("WorkerCrashLoopError", "no"), ended));
  expect(rows.row("e2")).toMatchObject({
    state: "CANCELLING",
    cancelling: { cause: "sibling", by: 21_000 },
  });
});

test("EXE-17 row 14: the end nobody unwound to takes the state its cause asks for", () => {
  const rows = new MemoryRows();
  rows.running({ timeout_ms: 5_000 });
  rows.change((row) => decideCancel(row, { ...request, cause: "timeout" }));
  rows.change((row) => endUnwound({ ...row, session: null }, { ...ended, now: 30_000 }));
  expect(rows.row()).toMatchObject({ state: "FAILED", failure: { type: "WorkflowTimeoutError" } });
});
