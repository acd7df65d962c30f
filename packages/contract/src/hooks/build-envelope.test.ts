import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../log/event.ts";
import { EVENT_TYPES } from "../log/event-values.ts";
import { SENSITIVE } from "../values/sensitive.ts";
import { envelopeText as referenceText } from "../values/stored-reference.ts";
import { type Encoded, encode } from "../values/value.ts";
import { envelopeTexts } from "./build-envelope.ts";
import { deliveriesOf, type HookedExecution } from "./deliveries.ts";
import { type HookEnvelope, readEnvelope } from "./envelope.ts";
import type { EnvelopeOptions } from "./envelope-value.ts";
import { type EnabledHook, HookIndex } from "./hook-index.ts";
import { toyDigest } from "./testing/toy-digest.ts";

const row: HookedExecution = {
  execution_id: "0192f0c0-0000-7000-8000-000000000002",
  namespace: "billing",
  workflow: "charge",
  state: "RUNNING",
  forked_from: null,
  hook: null,
};
const recorded_at = Date.UTC(2026, 0, 5, 9, 30, 1);
const all: EnabledHook = { id: "h1", name: "all", selectors: ["execution:*", "task:*"] };
const options: EnvelopeOptions = { redact: (json) => json, max_value_bytes: 65_536 };

function anEvent(over: Partial<Event> = {}): Event {
  return {
    seq: 17,
    type: "WORKFLOW_FAILED",
    source_id: row.execution_id,
    name: "charge",
    kind: null,
    value: null,
    time: "2026-01-05 09:30:00.123",
    meta: null,
    ...over,
  };
}

/** The envelopes that events make, as they are read again. */
function envelopes(
  events: readonly Event[],
  { hooks = [all], ...over }: Partial<EnvelopeOptions> & { hooks?: EnabledHook[] } = {},
): HookEnvelope[] {
  const change = { row, events, recorded_at };
  const deliveries = deliveriesOf(change, new HookIndex(hooks), toyDigest);
  const texts = envelopeTexts(change, deliveries, { ...options, ...over });
  expect(texts).toHaveLength(deliveries.length);
  return texts.map((text) => readEnvelope(text) ?? expect.unreachable(text));
}

/** `event.value` of an event with a value. */
function shown(value: Encoded, over: Partial<EnvelopeOptions> = {}) {
  return envelopes([anEvent({ value })], over)[0]?.event.value;
}

test("HOOK-19 an event of an execution names its state, and no task", () => {
  const hook = { id: "h1", name: "page-on-failure", selectors: ["execution:billing:*:failed"] };
  const value = { type: "CardDeclined", message: "card declined" };
  expect(envelopes([anEvent({ value })], { hooks: [hook] })).toEqual([
    {
      hook: "page-on-failure",
      selector: "execution:billing:*:failed",
      delivery_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event_key: `${row.execution_id}:17`,
      attempt: 1,
      hop: 0,
      event: {
        domain: "execution",
        type: "failed",
        execution_id: row.execution_id,
        workflow_namespace: "billing",
        workflow_name: "charge",
        task_name: null,
        task_call_id: null,
        state: "failed",
        value,
        occurred_at: "2026-01-05T09:30:00.123Z",
      },
    },
  ]);
});

test("HOOK-19 an event of a task names the task and the call, and has no state", () => {
  const source_id = "charge_card~1";
  const event = anEvent({ type: "TASK_RETRY_FAILED", source_id, name: "charge_card" });
  expect(envelopes([event])[0]?.event).toMatchObject({
    domain: "task",
    type: "retry_failed",
    task_name: "charge_card",
    task_call_id: "charge_card~1",
    state: null,
  });
});

test("HOOK-16 the value of an event is read once for all of its hooks", () => {
  const hooks = Array.from({ length: 50 }, (_, i) => ({ ...all, id: `h${i}`, name: `hook${i}` }));
  let seen = 0;
  const redact = (json: string) => {
    if (json.includes("the value")) seen++;
    return json;
  };
  const found = envelopes([anEvent({ value: "the value" })], { hooks, redact });
  expect(found.map(({ hook }) => hook)).toEqual(hooks.map(({ name }) => name));
  expect(new Set(found.map(({ delivery_id }) => delivery_id)).size).toBe(50);
  expect(seen).toBe(1);
});

test("HOOK-20 the value is plain JSON, what JSON lacks included", () => {
  const rich = { at: new Date(0), of: new Map([["a", 1n]]) };
  expect(shown(encode(rich, "value"))).toEqual({ at: "1970-01-01T00:00:00.000Z", of: { a: "1" } });
  expect(shown(null)).toBeNull();
});

test("HOOK-20 a value that lies in output storage is not fetched", () => {
  const reference = (storage_type: string, metadata: Record<string, Encoded>) =>
    JSON.parse(referenceText({ storage_type, reference_id: "e/1", metadata }));
  expect(shown(reference("s3", { bytes: 5_000 }))).toEqual({
    $omitted: { reason: "stored_externally", bytes: 5_000 },
  });
  expect(shown(reference("vault", { bytes: "many" }))).toEqual({
    $omitted: { reason: "stored_externally" },
  });
  // An inline reference is in the log itself.
  expect(shown(reference("inline", { value: { a: 1 } }))).toEqual({ a: 1 });
});

test("HOOK-20 a value over the limit is left out, with its size and how it begins", () => {
  const value = "x".repeat(2_000);
  // Two bytes are the quotes.
  expect(shown(value, { max_value_bytes: 2_002 })).toBe(value);
  expect(shown(value, { max_value_bytes: 2_001 })).toEqual({
    $omitted: {
      reason: "too_large",
      bytes: 2_002,
      limit: 2_001,
      preview: `"${"x".repeat(1_023)}`,
    },
  });
});

test("HOOK-20 bytes are those of UTF-8, and a preview ends before a surrogate pair it would split", () => {
  const bytes = (value: string) => {
    const marker = shown(value, { max_value_bytes: 1 }) as { $omitted: { bytes: number } };
    return marker.$omitted.bytes;
  };
  for (const [value, expected] of [
    ["é", 4],
    ["€", 5],
    ["😀", 6],
    ["\ud83d", 8],
  ] as const) {
    expect(bytes(value), value).toBe(expected);
  }
  for (const pair of ["😀", "\u{10000}", "\u{10ffff}"]) {
    const long = `${"x".repeat(1_022)}${pair}${pair}`;
    expect(shown(long, { max_value_bytes: 1_024 })).toMatchObject({
      $omitted: { preview: `"${"x".repeat(1_022)}` },
    });
  }
  const long = `y${"x".repeat(1_020)}😀😀`;
  expect(shown(long, { max_value_bytes: 1_024 })).toMatchObject({
    $omitted: { preview: `"y${"x".repeat(1_020)}😀` },
  });
});

test("HOOK-21 what is measured and previewed is the redacted text", () => {
  const redact = (json: string) => json.replaceAll("hunter2hunter2", "***");
  const value = { password: "hunter2hunter2", more: "x" };
  expect(shown(value, { redact })).toEqual({ password: "***", more: "x" });
  const size = JSON.stringify({ password: "***", more: "x" }).length;
  expect(shown(value, { redact, max_value_bytes: size })).toEqual({ password: "***", more: "x" });
  expect(shown(value, { redact, max_value_bytes: size - 1 })).toMatchObject({
    $omitted: { bytes: size, preview: expect.not.stringContaining("hunter2") },
  });
});

test("HOOK-21 names that people chose are redacted too, ids and words of the engine are not", () => {
  const redact = (json: string) => json.replace(/"[^"]*"/g, '"***"');
  const source_id = "charge_card~1";
  const event = anEvent({ type: "TASK_FAILED", source_id, name: "charge_card", value: "v" });
  expect(envelopes([event], { redact })[0]).toMatchObject({
    hook: "***",
    selector: "***",
    event_key: `${row.execution_id}:17`,
    event: {
      domain: "task",
      type: "failed",
      execution_id: row.execution_id,
      workflow_namespace: "***",
      workflow_name: "***",
      task_name: "***",
      task_call_id: "***",
      value: "***",
      occurred_at: "2026-01-05T09:30:00.123Z",
    },
  });
});

test("HOOK-16 HOOK-20 where redaction fails the value has a marker in its place, and the delivery is made", () => {
  const redact = (): string => {
    throw new Error("the mask set is not known");
  };
  const [envelope] = envelopes([anEvent({ value: "secret" })], { redact });
  expect(envelope?.event.value).toEqual({ $omitted: { reason: "redaction_failed" } });
  expect(envelope).toMatchObject({ hook: "all", event: { workflow_name: "charge" } });
});

test("HOOK-20 what has no JSON text has a marker in its place", () => {
  const marker = { $omitted: { reason: "not_encodable" } };
  const circular: { [key: string]: Encoded } = {};
  circular["self"] = circular;
  expect(shown(circular)).toEqual(marker);
  // As a broken row may hold them, whatever the types say.
  expect(shown(undefined as unknown as Encoded)).toEqual(marker);
  expect(shown({ $stored: {} })).toEqual(marker);
});

test("HOOK-20 SEC-8 what a sensitive task took or gave stays the marker that the log has", () => {
  const event = { ...anEvent({ type: "TASK_COMPLETED", value: SENSITIVE }), sealed: "ciphertext" };
  const [envelope] = envelopes([event]);
  expect(envelope?.event.value).toBe(SENSITIVE);
  expect(JSON.stringify(envelope)).not.toContain("ciphertext");
});

test("HOOK-16 an event whose time is none occurred when it was committed", () => {
  const [envelope] = envelopes([anEvent({ time: "yesterday" })]);
  expect(envelope?.event.occurred_at).toBe("2026-01-05T09:30:01.000Z");
});

test("HOOK-16 HOOK-19 whatever an event holds, its envelope is made and can be read", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...EVENT_TYPES),
      fc.jsonValue(),
      fc.string({ unit: "binary" }),
      fc.integer({ min: 1, max: 200 }),
      (type, value, source_id, max_value_bytes) => {
        const event = anEvent({ type, value: value as Encoded, source_id });
        const [envelope] = envelopes([event], { max_value_bytes });
        expect(envelope?.event.type).not.toBe("");
      },
    ),
  );
});
