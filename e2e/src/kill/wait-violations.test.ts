import type { RecordedEvent } from "@engine/contract";
import { expect, test } from "vitest";
import { familyViolations, outcomeViolations, waitViolations } from "./wait-violations.ts";

// The judge is judged: each of these must be seen.

function event(over: Partial<Record<keyof RecordedEvent, unknown>>): RecordedEvent {
  const blank = { seq: 1, source_id: "sleep~1", name: "sleep", kind: "sleep", meta: null };
  return { ...blank, recorded_at: "2025-01-01T00:00:05.000Z", ...over } as RecordedEvent;
}

const STARTED = event({ type: "TASK_STARTED", value: { until: "2025-01-01T00:00:05.000Z" } });
const signaled = event({ type: "WORKFLOW_SIGNALED", source_id: "execution" });

test("a sleep that ends at its instant is right, one that ends a millisecond before is seen", () => {
  const end = { type: "TASK_COMPLETED", value: null };
  expect(waitViolations([STARTED, event(end)])).toEqual([]);
  const early = event({ ...end, recorded_at: "2025-01-01T00:00:04.999Z" });
  expect(waitViolations([STARTED, early])).not.toEqual([]);
  const unreadable = event({ type: "TASK_STARTED", value: {} });
  expect(waitViolations([unreadable, event(end)])).not.toEqual([]);
});

test("a signal that was lost and one that nobody sent are seen", () => {
  expect(waitViolations([signaled], { acknowledged: 1, tried: 2 })).toEqual([]);
  expect(waitViolations([], { acknowledged: 1, tried: 1 })).not.toEqual([]);
  expect(waitViolations([signaled, signaled], { acknowledged: 1, tried: 1 })).not.toEqual([]);
  expect(waitViolations([signaled])).not.toEqual([]);
});

const errand = { execution_id: "p", workflow: "errand", parent_id: null, parent_call_id: null };
const child = { execution_id: "c", workflow: "chain", parent_id: "p", parent_call_id: "call~1" };

test("a second child of a call, a missing one and one without its parent are seen", () => {
  expect(familyViolations([errand, child])).toEqual([]);
  expect(familyViolations([errand, child, { ...child, execution_id: "d" }])).not.toEqual([]);
  expect(familyViolations([errand])).not.toEqual([]);
  expect(familyViolations([child])).not.toEqual([]);
});

test("a parent that was told something else than its child gave is seen", () => {
  const told = event({ type: "TASK_COMPLETED", source_id: "call~1", value: 7 });
  expect(outcomeViolations([told], 7)).toEqual([]);
  expect(outcomeViolations([told], 8)).not.toEqual([]);
  expect(outcomeViolations([], 7)).not.toEqual([]);
});
