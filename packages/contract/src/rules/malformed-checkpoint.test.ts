import { expect, test } from "vitest";
import type { NewEvent } from "../log/event.ts";
import { encode, type Json } from "../values/value.ts";
import { malformedCheckpoint } from "./malformed-checkpoint.ts";

const time = "2026-01-01 00:00:00.000";
const until = "2026-01-02T00:00:00.000Z";
const failure = {
  type: "Error",
  code: null,
  message: "no",
  retryable: false,
  details: null,
  cause: null,
  attempts: 1,
  task_call_id: null,
};

function started(kind: "sleep" | "signal" | "call" | null, value: Json): NewEvent {
  const name = kind ?? "charge";
  return { type: "TASK_STARTED", source_id: `${name}~1`, name, kind, value, time, meta: null };
}

function paused(value: Json): NewEvent {
  return { ...started(null, value), type: "TASK_PAUSED", name: "pause", kind: "pause" };
}

function failed(value: Json): NewEvent {
  return { ...started(null, value), type: "WORKFLOW_FAILED", source_id: "x", name: "w" };
}

function of(type: NewEvent["type"], value: Json): NewEvent {
  return { ...started(null, value), type };
}

const attempt = { attempt: 2, max_attempts: 3 };
const retry = { ...attempt, delay_ms: 5, not_before: until, error: failure };
const child = { workflow: "shop/order", input: null, wait: true, detach: false };
const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) as Json;

test.each<[string, NewEvent]>([
  ["a sleep", started("sleep", { until })],
  ["a signal", started("signal", { name: "paid" })],
  ["a signal with a timeout", started("signal", { name: "paid", until })],
  ["a call", started("call", { ...child, version: 2, name: "label" })],
  ["a call with a rich input", started("call", encode({ ...child, input: [1n] }, "call"))],
  ["a pause", paused({ name: "review", output: { a: [1] }, until })],
  ["a pause with a rich output", paused(encode({ name: "review", output: new Map() }, "pause"))],
  ["a call whose input could not be stored", started("call", null)],
  ["a task of the user's", started(null, { until: "whenever" })],
  ["a failure", failed(failure)],
  ["a retry", of("TASK_RETRY_STARTED", retry)],
  [
    "a retry with a rich output",
    of("TASK_RETRY_COMPLETED", encode({ ...attempt, output: 1n }, "o")),
  ],
  ["a warning", of("WORKFLOW_WARNING", { code: "history_large", message: "much" })],
  ["the end of a rollback", of("TASK_ROLLBACK_COMPLETED", null)],
  ["an output of the user's that looks like a failure", of("TASK_COMPLETED", { type: 1 })],
])("EXE-23 %s is well formed", (_, event) => {
  expect(malformedCheckpoint({ events: [started(null, 1), event] })).toBeUndefined();
});

test.each<[string, NewEvent, string]>([
  ["a sleep without an end", started("sleep", {}), "value.until"],
  ["a sleep that ends some day", started("sleep", { until: "some day" }), "value.until"],
  ["a sleep that is a text", started("sleep", "long"), "value"],
  ["a signal without a name", started("signal", { until }), "value.name"],
  ["a signal with a bad timeout", started("signal", { name: "a", until: 5 }), "value.until"],
  ["a call of nothing", started("call", { ...child, workflow: "" }), "value.workflow"],
  ["a call without a namespace", started("call", { ...child, workflow: "o" }), "value.workflow"],
  ["a call that may wait", started("call", { ...child, wait: "yes" }), "value.wait"],
  ["a call that may detach", started("call", { ...child, detach: null }), "value.detach"],
  ["a call of a part of a version", started("call", { ...child, version: 1.5 }), "value.version"],
  ["a call with an endless input", started("call", { ...child, input: deep }), "value"],
  ["a pause without a name", paused({ output: 1 }), "value.name"],
  ["a pause of nothing", paused(null), "value"],
  ["a pause until nothing", paused({ name: "a", until: null }), "value.until"],
  ["a value that is no stored one", paused({ $rich: "?" }), "value"],
  ["a failure that is a text", failed("no"), "value"],
  ["a task's failure that is a text", of("TASK_FAILED", "no"), "value"],
  ["a failure whose cause is a text", of("TASK_FAILED", { ...failure, cause: "x" }), "value.cause"],
  [
    "a retry without a number",
    of("TASK_RETRY_STARTED", { ...retry, attempt: "2" }),
    "value.attempt",
  ],
  ["a retry after nothing", of("TASK_RETRY_FAILED", attempt), "value.error"],
  ["a rollback for fun", of("TASK_ROLLBACK_STARTED", { reason: "fun" }), "value.reason"],
  ["a rollback that ends with something", of("TASK_ROLLBACK_COMPLETED", 1), "value"],
  ["a fallback after a text", of("TASK_FALLBACK_STARTED", { error: "no" }), "value.error"],
  ["a warning of nothing known", of("WORKFLOW_WARNING", { code: "x", message: "" }), "value.code"],
  ["a cancel with a value", of("WORKFLOW_CANCELLED", "why"), "value"],
  ["a resumed call without a cause", of("TASK_RESUMED", { name: "p" }), "value.cause"],
  ["a pause of the workflow without a name", of("WORKFLOW_PAUSED", {}), "value.name"],
  ["a time that is none", { ...started(null, 1), time: "now" }, "time"],
])("CKP-1 %s is refused by the name of its field", (_, event, field) => {
  const error = malformedCheckpoint({ events: [started(null, 1), event] });
  expect(error).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(`events[1].${field}: `),
  });
  expect(error?.details?.["issues"]).toEqual([
    { path: `events[1].${field}`, message: expect.any(String) },
  ]);
});

test("CKP-1 a retry delay that ends some day is refused", () => {
  const wait = { kind: "retry", task_call_id: "a~1", name: "a" } as const;
  expect(malformedCheckpoint({ events: [], waiting: [wait, { ...wait, until }] })).toBeUndefined();
  const waiting = [wait, { ...wait, until: "some day" }];
  expect(malformedCheckpoint({ events: [], waiting })).toMatchObject({
    code: "invalid_input",
    details: { issues: [{ path: "waiting[1].until" }] },
  });
});
