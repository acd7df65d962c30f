import { expect, test } from "vitest";
import type { ExecutionRow } from "../executions/execution-row.ts";
import type { NewEvent } from "../log/event.ts";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { formatInstant } from "../values/time.ts";
import { decode } from "../values/value.ts";
import type { Change } from "./change.ts";
import { Draft } from "./draft.ts";
import { handOver } from "./lifecycle-rules.ts";
import { decideResume } from "./log-rules.ts";
import { answerWait, endDueWaits } from "./wait-rules.ts";

test("EXE-25 the end of a parked sleep is its outcome, then WORKFLOW_RESUMING that says why", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", opens.sleep("sleep~1", formatInstant(50_000)), { waiting: [] });
  expect(rows.row()).toMatchObject({ state: "RUNNING", session: null, wake_at: 50_000 });
  rows.now = 50_000;
  rows.change((row) => endDue(row, rows.now));
  expect(rows.types().slice(4)).toEqual(["TASK_COMPLETED", "WORKFLOW_RESUMING"]);
  const [completed, resuming] = rows.log().slice(4);
  expect(completed).toMatchObject({ source_id: "sleep~1", name: "sleep", kind: "sleep" });
  expect(decode(completed?.value ?? null)).toBeUndefined();
  expect(resuming).toMatchObject({
    value: null,
    meta: { cause: "timer", task_call_id: "sleep~1", by: null },
  });
  expect(rows.row()).toMatchObject({
    state: "RESUMING",
    waits: [],
    wake_at: null,
    queued_at: 50_000,
  });
});

test("EXE-50 the wait of an execution that runs is its copy's to end, also of one that is lost and taken over", () => {
  const rows = new MemoryRows();
  rows.running();
  const begun = ["sleep~1", "sleep~2"].flatMap((id) => opens.sleep(id, formatInstant(50_000)));
  rows.send("RUNNING", begun);
  rows.now = 50_000;
  expect(endDueWaits(new Draft(rows.row(), rows.now))).toBe(false);
  rows.send("RUNNING", [event("TASK_COMPLETED", "sleep~1")]);
  expect(rows.row()).toMatchObject({ state: "RUNNING", session: "s1", wake_at: null });
  expect(rows.row().waits.map(({ task_call_id }) => task_call_id)).toEqual(["sleep~2"]);
  rows.change((row) => handOver(row, { now: rows.now, cancel_timeout_ms: 1_000 }));
  expect(rows.row()).toMatchObject({ session: null, wake_at: null });
  expect(endDueWaits(new Draft(rows.row(), rows.now))).toBe(false);
  rows.claim();
  rows.send("RUNNING", [event("WORKFLOW_RESUMED", "e1")], { waiting: [] });
  expect(rows.row()).toMatchObject({ session: null, wake_at: 50_000 });
  rows.change((row) => endDue(row, rows.now));
  expect(rows.types().slice(-2)).toEqual(["TASK_COMPLETED", "WORKFLOW_RESUMING"]);
});

test("EXE-50 what is not due yet stays, and what is due ends in the order of its instants", () => {
  const rows = new MemoryRows();
  rows.running();
  const begun = [
    ...opens.sleep("sleep~1", formatInstant(60_000)),
    ...opens.signal("signal~1", "paid", formatInstant(50_000)),
    ...opens.pause("pause~1", "review", { until: formatInstant(40_000) }),
  ];
  rows.send("RUNNING", begun, { waiting: [] });
  rows.now = 50_000;
  rows.change((row) => endDue(row, rows.now));
  const ended = rows.log().filter(({ type }) => type === "TASK_COMPLETED");
  expect(ended.map((e) => e.source_id)).toEqual(["pause~1", "signal~1"]);
  expect(rows.row().waits.map((w) => w.task_call_id)).toEqual(["sleep~1"]);
  expect(rows.types().filter((t) => t === "WORKFLOW_RESUMING")).toHaveLength(1);
});

test("EXE-51 a wake gives undefined and says so, a resume without a body gives null", () => {
  const rows = new MemoryRows();
  rows.running();
  const until = formatInstant(40_000);
  const begun = [...opens.pause("pause~1", "a", { until }), ...opens.pause("pause~2", "b")];
  rows.send("RUNNING", begun, { waiting: [] });
  rows.now = 40_000;
  rows.change((row) => endDue(row, rows.now));
  rows.change((row) => decideResume(row, { input: null, by: null, now: rows.now }));
  const values = rows
    .log()
    .flatMap((e) => (e.type.startsWith("TASK_") ? [[e.type, e.source_id, decode(e.value)]] : []));
  expect(values.slice(4)).toEqual([
    ["TASK_RESUMED", "pause~1", { name: "a", input: undefined, cause: "timer" }],
    ["TASK_COMPLETED", "pause~1", undefined],
    ["TASK_RESUMED", "pause~2", { name: "b", input: null, cause: "resume" }],
    ["TASK_COMPLETED", "pause~2", null],
  ]);
});

test("EXE-38 a parked retry delay ends without an outcome: the next attempt is the worker's to begin", () => {
  const rows = new MemoryRows();
  rows.running();
  const retry = {
    kind: "retry" as const,
    task_call_id: "step~1",
    name: "step",
    until: formatInstant(60_000),
  };
  rows.send("RUNNING", [], { waiting: [retry] });
  expect(rows.row()).toMatchObject({ wake_at: 60_000, waits: [{ kind: "retry", until: 60_000 }] });
  rows.now = 60_000;
  rows.change((row) => endDue(row, rows.now));
  expect(rows.types().slice(3)).toEqual(["WORKFLOW_RESUMING"]);
  expect(rows.row()).toMatchObject({ state: "RESUMING", waits: [] });
});

test("EXE-78 a retry delay is told once, however often the execution is parked", () => {
  const rows = new MemoryRows();
  rows.running();
  const retry = {
    kind: "retry" as const,
    task_call_id: "step~1",
    name: "step",
    until: formatInstant(60_000),
  };
  rows.send(
    "PAUSED",
    [...opens.pause("pause~1", "p"), ...opens.pause("pause~2", "q"), ...paused()],
    {
      waiting: [retry],
    },
  );
  rows.change((row) => decideResume(row, { input: 1, pause: "p", by: null, now: rows.now }));
  rows.claim();
  rows.send("RUNNING", [event("WORKFLOW_RESUMED", "e1")]);
  rows.send("PAUSED", paused(), { waiting: [retry] });
  expect(rows.row().waits.map(({ kind }) => kind)).toEqual(["pause", "retry"]);
});

test("EXE-55 a failure becomes TASK_FAILED, and of a pause TASK_RESUMED comes before it", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("PAUSED", [...opens.pause("pause~1", "p"), ...paused()]);
  const failure = { type: "NotFoundError", code: "not_found", message: "no" } as never;
  rows.change((row) => {
    const draft = new Draft(row, rows.now);
    const [wait] = row.waits;
    if (wait) answerWait(draft, wait, { cause: "completion", failure });
    return draft.done();
  });
  expect(rows.types().slice(6)).toEqual(["TASK_RESUMED", "TASK_FAILED", "WORKFLOW_RESUMING"]);
});

function paused(): NewEvent[] {
  return [event("WORKFLOW_PAUSED", "e1")];
}

function endDue(row: ExecutionRow, now: number): Change {
  const draft = new Draft(row, now);
  expect(endDueWaits(draft), "something was due").toBe(true);
  return draft.done();
}
