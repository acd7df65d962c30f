import { expect, test } from "vitest";
import { NO_SIGNALS } from "../executions/kept-signals.ts";
import type { CallResolutions } from "../executions/new-execution.ts";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { formatInstant } from "../values/time.ts";
import { decideCancel } from "./ending-rules.ts";
import { forkHistory } from "./fork-rules.ts";
import { decideResume } from "./log-rules.ts";
import { decideSignal } from "./signal-rules.ts";
import { decideWake } from "./wake-rules.ts";

/** e1 with the events of a task and a pause, completed: 14 events. */
function source(): MemoryRows {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", [event("TASK_STARTED", "step~1"), event("TASK_COMPLETED", "step~1", 5)]);
  rows.send("PAUSED", [...opens.pause("pause~1", "p"), event("WORKFLOW_PAUSED", "e1")]);
  rows.change((row) => decideResume(row, { input: { ok: 1 }, by: null, now: rows.now }));
  rows.claim();
  rows.send("RUNNING", [event("WORKFLOW_RESUMED", "e1")]);
  rows.send("COMPLETED", [event("WORKFLOW_COMPLETED", "e1", "done")]);
  return rows;
}

function fork(rows: MemoryRows, from_seq: number, calls: CallResolutions = new Map()): void {
  const { seq, history } = forkHistory(rows.row(), rows.log(), { from_seq });
  const from = { execution_id: "e1", seq };
  const trigger = { kind: "fork", id: "e1" } as const;
  rows.create({ execution_id: "f1", trigger, fork: { from, history, calls } });
}

test("EXE-87 without a cut nothing is copied: a fresh run that says what it is forked from", () => {
  const rows = source();
  const none = forkHistory(rows.row(), rows.log(), {});
  expect(none).toEqual({ seq: 0, history: [], label: null });
  const from = { execution_id: "e1", seq: 0 };
  rows.create({ execution_id: "f1", fork: { from, history: none.history, calls: new Map() } });
  expect(rows.row("f1")).toMatchObject({ state: "CREATED", head: 1, forked_from: from });
  expect(rows.log("f1")[0]?.meta).toEqual({ forked_from: from });
});

test("EXE-87 from_seq copies the events up to it, from_call those before the call's start", () => {
  const rows = source();
  const upTo = forkHistory(rows.row(), rows.log(), { from_seq: 5 });
  expect(upTo.seq).toBe(5);
  expect(upTo.history.map(({ type }) => type)).toEqual([
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
  ]);
  expect(forkHistory(rows.row(), rows.log(), { from_call: "pause~1" })).toEqual(upTo);
});

test("EXE-87 the end is never copied, nor anything from a cancel on", () => {
  const rows = source();
  const head = rows.log().length;
  expect(forkHistory(rows.row(), rows.log(), { from_seq: head }).seq).toBe(head - 1);

  const cancelled = new MemoryRows();
  cancelled.running();
  cancelled.send("RUNNING", [event("TASK_STARTED", "step~1")]);
  const request = {
    cause: "request",
    by: null,
    cancel_timeout_ms: 1,
    hasWorker: () => true,
    now: 1,
  } as const;
  cancelled.change((row) => decideCancel(row, request));
  cancelled.send("CANCELLED", [
    event("TASK_CANCELLED", "step~1"),
    event("WORKFLOW_CANCELLED", "e1"),
  ]);
  expect(forkHistory(cancelled.row(), cancelled.log(), { from_seq: 7 }).seq).toBe(4);
});

test.each([
  ["a seq beyond the log", { from_seq: 99 }, "body.from_seq", "has events 1 to 14"],
  ["a seq below 1", { from_seq: 0 }, "body.from_seq", "has events 1 to 14"],
  ["a call that never was", { from_call: "step~2" }, "body.from_call", "no call step~2"],
  ["an execution for a call", { from_call: "e1" }, "body.from_call", "no call e1"],
  ["two cuts", { from_seq: 3, from_call: "step~1" }, "body.from_call", "not both"],
])("EXE-87 %s is no cut", (_, cut, path, message) => {
  const rows = source();
  expect(rows.log()).toHaveLength(14);
  expect(() => forkHistory(rows.row(), rows.log(), cut)).toThrow(
    expect.objectContaining({
      code: "invalid_input",
      message: expect.stringContaining(message),
      details: { issues: [expect.objectContaining({ path })] },
    }),
  );
});

test("EXE-87 at every seq the copy is RESUMING behind its own WORKFLOW_CREATED, the source as it was", () => {
  const head = source().log().length;
  for (let seq = 1; seq <= head; seq++) {
    const rows = source();
    const before = { row: rows.row(), log: [...rows.log()] };
    fork(rows, seq);
    const row = rows.row("f1");
    const cut = Math.min(seq, head - 1);
    expect(row, `at ${seq}`).toMatchObject({
      state: "RESUMING",
      session: null,
      forked_from: { execution_id: "e1", seq: cut },
      output: null,
      finished_at: null,
    });
    const log = rows.log("f1");
    expect(log[0]).toMatchObject({ type: "WORKFLOW_CREATED", source_id: "f1" });
    expect(log.slice(1, cut).map((e) => e.type)).toEqual(rows.types().slice(1, cut));
    expect(log.at(-1)).toMatchObject({ type: "WORKFLOW_RESUMING", meta: { cause: "fork" } });
    expect(
      log.every((e) => e.source_id !== "e1"),
      "workflow events are its own",
    ).toBe(true);
    expect(log.map((e) => e.time)).toEqual(log.map((e) => e.time).sort());
    expect({ row: rows.row(), log: [...rows.log()] }).toEqual(before);
  }
});

test("EXE-87 a pause that is open at the cut can be answered in the copy, at every seq it is open at", () => {
  for (const seq of [7, 8, 9]) {
    const rows = source();
    fork(rows, seq);
    rows.change((row) => decideResume(row, { input: "again", by: null, now: rows.now }), "f1");
    expect(rows.log("f1").at(-1), `at ${seq}`).toMatchObject({
      type: "TASK_COMPLETED",
      source_id: "pause~1",
      value: "again",
    });
  }
});

const limits = { max_kept_signals: 10, max_kept_signal_bytes: 1_000, max_events: 100 };

test("EXE-87 signals that nobody had consumed at the cut are there for the copy", () => {
  const rows = new MemoryRows();
  rows.running();
  for (const payload of [1, 2]) {
    const signal = { name: "paid", payload, by: null, now: rows.now, limits };
    rows.change((row) => decideSignal(row, signal));
  }
  rows.send("RUNNING", opens.signal("signal~1", "paid"));
  fork(rows, 7);
  expect(rows.row("f1").signals).toMatchObject({ count: 1, names: [{ name: "paid", count: 1 }] });
  expect(rows.signals.of("f1")).toEqual([{ seq: 5, name: "paid", payload: 2 }]);

  const between = new MemoryRows();
  between.running();
  between.send("RUNNING", opens.signal("signal~1", "paid"));
  between.change((row) =>
    decideSignal(row, { name: "paid", payload: 1, by: null, now: between.now, limits }),
  );
  fork(between, 5);
  expect(between.row("f1")).toMatchObject({ signals: NO_SIGNALS, waits: [] });
  expect(between.log("f1").at(-1)).toMatchObject({ source_id: "signal~1", value: 1 });
});

test("EXE-87 a child that is open at the cut is made anew, a finished one is not repeated", () => {
  const rows = new MemoryRows();
  rows.running();
  const childOf = (of: string, id: string, call_id: string) => {
    const parent = { execution_id: of, depth: 0, call_id, detached: false };
    return { kind: "child", fresh: rows.fresh({ execution_id: id, parent }) } as const;
  };
  rows.send("RUNNING", [...opens.call("call~1"), ...opens.call("call~2")], {
    calls: { "call~1": childOf("e1", "e2", "call~1"), "call~2": childOf("e1", "e3", "call~2") },
  });
  rows.claim("e2");
  rows.send("COMPLETED", [event("WORKFLOW_STARTED", "e2"), event("WORKFLOW_COMPLETED", "e2", 9)], {
    id: "e2",
  });
  const calls = new Map([
    ["call~1", childOf("f1", "f2", "call~1")],
    ["call~2", childOf("f1", "f3", "call~2")],
  ]);
  fork(rows, 6, calls);
  expect(rows.log()[5]).toMatchObject({ type: "TASK_COMPLETED", source_id: "call~1" });
  expect([...rows.rows.keys()].sort()).toEqual(["e1", "e2", "e3", "f1", "f3"]);
  expect(rows.row("f1").waits).toMatchObject([{ task_call_id: "call~2", execution_id: "f3" }]);
  expect(rows.row("e3").state).toBe("CREATED");
});

test("EXE-87 a sleep that is open at the cut ends at its instant in the copy too", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", opens.sleep("sleep~1", formatInstant(50_000)), { waiting: [] });
  fork(rows, 4);
  // The worker that takes it over times it, until it parks.
  expect(rows.row("f1")).toMatchObject({ state: "RESUMING", wake_at: null });
  rows.claim("f1");
  rows.send("RUNNING", [event("WORKFLOW_RESUMED", "f1")], { id: "f1", waiting: [] });
  expect(rows.row("f1").wake_at).toBe(50_000);
  rows.change(
    (row) => decideWake(row, { now: 50_000, cancel_timeout_ms: 1, hasWorker: () => true }),
    "f1",
  );
  expect(rows.row("f1")).toMatchObject({ state: "RESUMING", waits: [] });
});

test("EXE-87 a fork inherits the seed of its source", () => {
  const rows = source();
  const { seq, history } = forkHistory(rows.row(), rows.log(), { from_seq: 3 });
  const { seed } = rows.row();
  const from = { execution_id: "e1", seq };
  const row = rows.create({ execution_id: "f1", seed, fork: { from, history, calls: new Map() } });
  expect(row.seed).toBe("seed");
});
