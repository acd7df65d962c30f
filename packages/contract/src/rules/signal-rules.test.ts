import { expect, test } from "vitest";
import {
  mayHold,
  NO_SIGNALS,
  signalsDropped,
  withoutSignal,
  withSignal,
} from "../executions/kept-signals.ts";
import type { NewEvent } from "../log/event.ts";
import { event, MemoryRows, opens } from "../testing/memory-rows.ts";
import { formatInstant } from "../values/time.ts";
import { type Encoded, encode } from "../values/value.ts";
import { decideCancel } from "./ending-rules.ts";
import { decideSignal, unconsumedSignals } from "./signal-rules.ts";
import { NOTHING } from "./wait-rules.ts";

const limits = { max_kept_signals: 3, max_kept_signal_bytes: 100, max_events: 100 };
const sent = (name: string, payload: Encoded = null) => ({
  name,
  payload,
  by: "ada",
  now: 20_000,
  limits,
});
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
  expect(rows.row().signals).toEqual(NO_SIGNALS);
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
  expect(rows.row().signals).toEqual({ count: 1, bytes: 1, names: [{ name: "b", count: 1 }] });
  expect(rows.signals.of("e1")).toEqual([{ seq: 5, name: "b", payload: 2 }]);
  expect(rows.row().waits.map((w) => w.task_call_id)).toEqual(["signal~3"]);
});

test("EXE-53 a signal before the execution ever ran waits for it", () => {
  const rows = new MemoryRows();
  rows.create();
  rows.change((row) => decideSignal(row, sent("paid")));
  expect(rows.row()).toMatchObject({
    state: "CREATED",
    signals: { count: 1, names: [{ name: "paid", count: 1 }] },
  });
  expect(rows.signals.of("e1")).toEqual([{ seq: 2, name: "paid", payload: null }]);
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
  expect(rows.signals.of("e1")).toMatchObject([{ name: "paid", payload: 7 }]);
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
    { seq: 5, name: "a", payload: 2 },
    { seq: 10, name: "b", payload: null },
  ]);
  expect(rows.signals.of("e1")).toEqual(unconsumedSignals(rows.log()));
});

test("EXE-53 a payload of undefined is a payload too", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideSignal(row, sent("a", encode(undefined, "payload"))));
  rows.send("RUNNING", opens.signal("signal~1", "a"));
  expect(rows.row()).toMatchObject({ signals: NO_SIGNALS, waits: [] });
  expect(unconsumedSignals(rows.log())).toEqual([]);
});

test("EXE-53 an execution keeps signals up to a number, and says so to the next", () => {
  const rows = new MemoryRows();
  rows.running();
  for (const name of ["a", "b", "a"]) rows.change((row) => decideSignal(row, sent(name)));
  expect(decideSignal(rows.row(), sent("a"))).toMatchObject({
    code: "too_many_signals",
    message: expect.stringContaining("at most 3 signals (executions.max_kept_signals)"),
    details: { max_kept_signals: 3 },
  });
  rows.send("RUNNING", opens.signal("signal~1", "a"));
  rows.change((row) => decideSignal(row, sent("a")));
  expect(rows.row().signals.count).toBe(3);
});

test("EXE-53 an execution keeps signals up to a length of their payloads, in UTF-8", () => {
  const rows = new MemoryRows();
  rows.running();
  rows.change((row) => decideSignal(row, sent("a", "é€😀")));
  expect(rows.row().signals.bytes).toBe(2 + 2 + 3 + 4);
  expect(decideSignal(rows.row(), sent("a", "x".repeat(90)))).toMatchObject({
    code: "too_many_signals",
    message: expect.stringContaining("100 bytes of signals (executions.max_kept_signal_bytes)"),
  });
  rows.send("RUNNING", opens.signal("signal~1", "a"));
  rows.change((row) => decideSignal(row, sent("a", "x".repeat(90))));
  expect(rows.row().signals).toMatchObject({ count: 1, bytes: 92 });
});

test("EXE-34 EXE-53 a log that is as long as it may be takes no more signals", () => {
  const rows = new MemoryRows();
  rows.running();
  const full = { ...limits, max_events: rows.row().head + 2 };
  expect(decideSignal(rows.row(), { ...sent("a"), limits: full })).toMatchObject({
    code: "too_many_signals",
    message: expect.stringContaining("max_events"),
    details: { head: 3, max_events: 5 },
  });
});

test("EXE-53 a log that ends tells of left signals by their names, of very many by their number", () => {
  const signals = (names: readonly string[]) =>
    names.reduce((kept, name) => withSignal(kept, { name, payload: null }), NO_SIGNALS);
  const said = "signals that no call waited for:";
  expect(signalsDropped(NO_SIGNALS)).toBeUndefined();
  expect(signalsDropped(signals(["b", "a", "b"]))).toBe(`${said} b (2), a`);
  const many = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const kept = signals([...many, "n0"]);
  expect(kept.names).toHaveLength(20);
  expect(signalsDropped(kept)).toMatch(/^signals .*: n0 \(2\), n1, .*, n19, 10 others$/);
  // Once some are not told apart, a name that comes back is one of them.
  const without = withoutSignal(kept, { name: "n1", payload: null });
  expect(withSignal(without, { name: "n1", payload: null }).names).toHaveLength(19);
  expect(mayHold(without, "n1")).toBe(true);
  expect(mayHold(signals(["a"]), "b")).toBe(false);
});

/** The copy that runs it has waited for nothing. */
function timedOut(id: string): NewEvent {
  return event("TASK_COMPLETED", id, NOTHING);
}
