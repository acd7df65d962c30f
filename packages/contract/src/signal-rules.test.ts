import { expect, test } from "vitest";
import { decideCancel } from "./ending-rules.ts";
import type { NewEvent } from "./event.ts";
import { decideSignal, unconsumedSignals } from "./signal-rules.ts";
import { event, MemoryRows, opens } from "./testing/memory-rows.ts";
import { formatInstant } from "./time.ts";
import { type Encoded, encode } from "./value.ts";
import { NOTHING } from "./wait-rules.ts";

const sent = (name: string, payload: Encoded = null) => ({ name, payload, by: "ada", now: 20_000 });
const request = {
  cause: "request",
  by: null,
  cancel_timeout_ms: 1_000,
  hasWorker: () => true,
  now: 20_000,
} as const;

test("EXE-53 a signal goes to the call that has waited longest under its name", () => {
  const rows = new MemoryRows();
  rows.running();
  const begun = ["other", "paid", "paid"].flatMap((name, i) =>
    opens.signal(`signal~${i + 1}`, name),
  );
  rows.send("RUNNING", begun, { waiting: [] });
  rows.change((row) => decideSignal(row, sent("paid", { cents: 5 })));
  expect(rows.log().slice(-3)).toMatchObject([
    {
      type: "WORKFLOW_SIGNALED",
      value: { name: "paid", payload: { cents: 5 } },
      meta: { by: "ada" },
    },
    { type: "TASK_COMPLETED", source_id: "signal~2", kind: "signal", value: { cents: 5 } },
    { type: "WORKFLOW_RESUMING", value: null, meta: { cause: "signal", task_call_id: "signal~2" } },
  ]);
  expect(rows.row().waits.map((w) => w.task_call_id)).toEqual(["signal~1", "signal~3"]);
  expect(rows.row().signals).toEqual([]);
});

test("EXE-53 one that nobody waits for is kept, per name in arrival order, and consumed once", () => {
  const rows = new MemoryRows();
  rows.running();
  for (const [name, payload] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
  ] as const) {
    rows.change((row) => decideSignal(row, sent(name, payload)));
  }
  rows.send("RUNNING", [...opens.signal("signal~1", "a"), ...opens.signal("signal~2", "a")]);
  rows.send("RUNNING", opens.signal("signal~3", "a"));
  const outcomes = rows.log().filter(({ type }) => type === "TASK_COMPLETED");
  expect(outcomes.map(({ source_id, value }) => [source_id, value])).toEqual([
    ["signal~1", 1],
    ["signal~2", 3],
  ]);
  expect(rows.row().signals).toEqual([{ name: "b", payload: 2 }]);
  expect(rows.row().waits.map((w) => w.task_call_id)).toEqual(["signal~3"]);
});

test("EXE-53 a signal before the execution ever ran waits for it", () => {
  const rows = new MemoryRows();
  rows.create();
  rows.change((row) => decideSignal(row, sent("paid")));
  expect(rows.row()).toMatchObject({
    state: "CREATED",
    signals: [{ name: "paid", payload: null }],
  });
});

test("I11 JSON null is a payload, not a timeout", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideSignal(row, sent("paid", null)));
  rows.send("RUNNING", opens.signal("signal~1", "paid"));
  expect(rows.log().at(-1)).toMatchObject({ type: "TASK_COMPLETED", value: null });
});

test("I11 a wait that timed out consumes nothing: the next call gets the signal", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.send("RUNNING", opens.signal("signal~1", "paid", formatInstant(30_000)));
  rows.send("RUNNING", [timedOut("signal~1")]);
  rows.change((row) => decideSignal(row, sent("paid", 7)));
  expect(rows.row().signals).toEqual([{ name: "paid", payload: 7 }]);
  rows.send("RUNNING", opens.signal("signal~2", "paid"));
  expect(rows.log().at(-1)).toMatchObject({ source_id: "signal~2", value: 7 });
});

test("EXE-53 an ended execution and one being cancelled take no signals", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideCancel(row, request));
  expect(decideSignal(rows.row(), sent("a"))).toMatchObject({
    code: "conflict",
    details: { state: "CANCELLING" },
  });
  rows.send("CANCELLED", [event("WORKFLOW_CANCELLED", "e1")]);
  expect(decideSignal(rows.row(), sent("a"))).toMatchObject({ code: "execution_finished" });
});

test("EXE-87 which signals of a log nobody has consumed can be read off it", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideSignal(row, sent("a", 1)));
  rows.change((row) => decideSignal(row, sent("a", 2)));
  rows.send("RUNNING", [
    ...opens.signal("signal~1", "a"),
    ...opens.signal("signal~2", "b", formatInstant(30_000)),
  ]);
  rows.send("RUNNING", [timedOut("signal~2")]);
  rows.change((row) => decideSignal(row, sent("b", null)));
  expect(unconsumedSignals(rows.log())).toEqual([
    { name: "a", payload: 2 },
    { name: "b", payload: null },
  ]);
  expect(rows.row().signals).toEqual(unconsumedSignals(rows.log()));
});

test("EXE-53 a payload of undefined is a payload too", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideSignal(row, sent("a", encode(undefined, "payload"))));
  rows.send("RUNNING", opens.signal("signal~1", "a"));
  expect(rows.row()).toMatchObject({ signals: [], waits: [] });
  expect(unconsumedSignals(rows.log())).toEqual([]);
});

/** The copy that runs it has waited for nothing. */
function timedOut(id: string): NewEvent {
  return event("TASK_COMPLETED", id, NOTHING);
}
