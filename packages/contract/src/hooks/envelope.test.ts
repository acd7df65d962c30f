import { expect, test } from "vitest";
import { HookEnvelope, readEnvelope, withAttempt, withoutEventValue } from "./envelope.ts";

const envelope: HookEnvelope = {
  hook: "page-on-failure",
  selector: "execution:billing:*:failed",
  delivery_id: "0192f0c1-0000-7000-8000-000000000001",
  event_key: "0192f0c0-0000-7000-8000-000000000002:17",
  attempt: 1,
  hop: 0,
  event: {
    domain: "execution",
    type: "failed",
    execution_id: "0192f0c0-0000-7000-8000-000000000002",
    workflow_namespace: "billing",
    workflow_name: "charge",
    task_name: null,
    task_call_id: null,
    state: "failed",
    value: { type: "CardDeclined" },
    occurred_at: "2026-01-05T09:30:00.123Z",
  },
};

test("HOOK-19 an envelope is read from its text as it was written", () => {
  expect(readEnvelope(JSON.stringify(envelope))).toEqual(envelope);
});

test.each([
  ["no JSON", "{"],
  ["no object", "null"],
  ["a key more", JSON.stringify({ ...envelope, url: "http://example.com" })],
  ["a key more in its event", JSON.stringify({ ...envelope, event: { ...envelope.event, at: 1 } })],
  ["no value", JSON.stringify({ ...envelope, event: { ...envelope.event, value: undefined } })],
  ["an attempt before the first", JSON.stringify({ ...envelope, attempt: 0 })],
  ["a hop below zero", JSON.stringify({ ...envelope, hop: -1 })],
  [
    "a state in a task's event",
    JSON.stringify({ ...envelope, event: { ...envelope.event, domain: "task" } }),
  ],
])("HOOK-19 HOOK-29 a text with %s is no envelope", (_, text) => {
  expect(readEnvelope(text)).toBeUndefined();
});

test("HOOK-21 of a frozen envelope only the attempt is rewritten", () => {
  const again = withAttempt(envelope, 3);
  expect(again).toEqual({ ...envelope, attempt: 3 });
  expect(again.event).toBe(envelope.event);
  expect(envelope.attempt).toBe(1);
});

test("HOOK-3 who may not read the source workflow sees everything but the value", () => {
  const shown = withoutEventValue(envelope);
  expect(shown.event.value).toEqual({ $omitted: { reason: "not_readable" } });
  expect({ ...shown, event: { ...shown.event, value: envelope.event.value } }).toEqual(envelope);
  expect(HookEnvelope.parse(shown)).toEqual(shown);
});
