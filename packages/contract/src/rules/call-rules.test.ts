import { expect, test } from "vitest";
import { engineFailure } from "../errors/failure.ts";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { callStarts } from "./call-rules.ts";

function childOf(rows: MemoryRows, call_id = "call~1", execution_id = "e2") {
  const parent = { execution_id: "e1", depth: 0, call_id, detached: false };
  return rows.fresh({
    execution_id,
    workflow: "ship",
    trigger: { kind: "call", id: "e1" },
    parent,
  });
}

test("EXE-54 the commit with the call's start creates the child, linked to its parent", () => {
  const rows = new MemoryRows();
  rows.running();
  const fresh = childOf(rows);
  rows.send("RUNNING", opens.call("call~1"), { calls: { "call~1": { kind: "child", fresh } } });
  expect(rows.row("e2")).toMatchObject({
    state: "CREATED",
    parent_id: "e1",
    parent_call_id: "call~1",
    depth: 1,
    detached: false,
  });
  expect(rows.log("e2")[0]?.value).toMatchObject({ trigger: { kind: "call", id: "e1" } });
  expect(rows.row().waits).toMatchObject([
    { kind: "child", task_call_id: "call~1", name: "shop/ship", execution_id: "e2" },
  ]);
});

test("EXE-56 without wait the child's id is the outcome, in the same commit", () => {
  const rows = new MemoryRows();
  rows.running();
  const fresh = childOf(rows);
  rows.send("RUNNING", opens.call("call~1", { wait: false }), {
    calls: { "call~1": { kind: "child", fresh } },
  });
  expect(rows.log().at(-1)).toMatchObject({
    type: "TASK_COMPLETED",
    source_id: "call~1",
    value: "e2",
  });
  expect(rows.row()).toMatchObject({ state: "RUNNING", session: "s1", waits: [] });
});

test("EXE-57 a call that is refused fails in the same commit and creates nothing", () => {
  const rows = new MemoryRows();
  rows.running();
  const failure = engineFailure("DepthLimitError", "too deep", { task_call_id: "call~1" });
  rows.send("RUNNING", opens.call("call~1"), {
    waiting: [],
    calls: { "call~1": { kind: "refused", failure } },
  });
  expect(rows.log().slice(-2)).toMatchObject([
    { type: "TASK_FAILED", source_id: "call~1", value: { type: "DepthLimitError" } },
    { type: "WORKFLOW_RESUMING", meta: { cause: "child" } },
  ]);
  expect([...rows.rows.keys()]).toEqual(["e1"]);
});

test("EXE-54 a call that is given up in the commit that starts it creates no child", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", [...opens.call("call~1"), event("TASK_CANCELLED", "call~1")], {
    calls: { "call~1": { kind: "child", fresh: childOf(rows) } },
  });
  expect([...rows.rows.keys()]).toEqual(["e1"]);
});

test("EXE-55 each child's end answers the call that started it", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", [...opens.call("call~1"), ...opens.call("call~2")], {
    waiting: [],
    calls: {
      "call~1": { kind: "child", fresh: childOf(rows) },
      "call~2": { kind: "child", fresh: childOf(rows, "call~2", "e3") },
    },
  });
  for (const id of ["e3", "e2"]) {
    rows.claim(id);
    rows.send("COMPLETED", [event("WORKFLOW_STARTED", id), event("WORKFLOW_COMPLETED", id, id)], {
      id,
    });
  }
  const outcomes = rows.log().filter(({ type }) => type === "TASK_COMPLETED");
  expect(outcomes.map(({ source_id, value }) => [source_id, value])).toEqual([
    ["call~2", "e3"],
    ["call~1", "e2"],
  ]);
  expect(rows.types().filter((t) => t === "WORKFLOW_RESUMING")).toHaveLength(1);
});

test("EXE-54 what calls start is read off their events", () => {
  expect(
    callStarts([event("TASK_STARTED", "step~1"), ...opens.call("call~1", { version: 3 })]),
  ).toEqual([
    {
      task_call_id: "call~1",
      start: { workflow: "shop/ship", input: 1, wait: true, detach: false, version: 3 },
    },
  ]);
});
