import type { EventType, RecordedEvent } from "@engine/contract";
import { expect, test } from "vitest";
import { bodyViolations, type Kill, logViolations } from "./violations.ts";

// The judge of the kill test is itself judged: each of these must be seen.

const MS = Date.parse("2025-01-01T00:00:00.000Z");

/** Only what the judge looks at is right; what a value holds is not its business. */
function event(
  seq: number,
  type: EventType,
  more: { value?: unknown; time?: string } = {},
): RecordedEvent {
  const recorded_at = new Date(MS + seq * 10).toISOString();
  const time = recorded_at.replace("T", " ").replace("Z", "");
  const source_id = type.startsWith("TASK_") ? "book~1" : "execution";
  const rest = { name: "book", kind: null, value: null, meta: null };
  return { seq, type, source_id, time, recorded_at, ...rest, ...more } as RecordedEvent;
}

const GOOD = [
  event(1, "WORKFLOW_CREATED"),
  event(2, "WORKFLOW_CLAIMED", { value: { generation: 1 } }),
  event(3, "WORKFLOW_STARTED"),
  event(4, "TASK_STARTED"),
  event(5, "WORKFLOW_CLAIMED", { value: { generation: 2 } }),
  event(6, "WORKFLOW_RESUMED"),
  event(7, "TASK_COMPLETED"),
  event(8, "WORKFLOW_COMPLETED"),
];

test("a log that was handed over and ended well has nothing wrong with it", () => {
  expect(logViolations(GOOD)).toEqual([]);
});

test.each([
  ["a missing number", GOOD.filter(({ seq }) => seq !== 6)],
  ["a doubled number", [...GOOD.slice(0, 7), event(7, "WORKFLOW_COMPLETED")]],
  ["no end", GOOD.slice(0, 7)],
  ["two ends", [...GOOD, event(9, "WORKFLOW_FAILED")]],
  ["a second start of a call", [...GOOD.slice(0, 6), event(7, "TASK_STARTED"), ...renumbered(8)]],
  ["a second outcome", [...GOOD.slice(0, 7), event(8, "TASK_FAILED"), ...renumbered(9).slice(1)]],
  ["a second WORKFLOW_STARTED", GOOD.with(5, event(6, "WORKFLOW_STARTED"))],
  ["an old generation", GOOD.with(4, event(5, "WORKFLOW_CLAIMED", { value: { generation: 1 } }))],
  ["time that runs backwards", GOOD.with(6, event(7, "TASK_COMPLETED", { time: "2024-12-31 0" }))],
])("%s in a log is seen", (_title, log) => {
  expect(logViolations(log)).not.toEqual([]);
});

const OUTCOME = event(100, "TASK_COMPLETED");
const RECORDED = Date.parse(OUTCOME.recorded_at);
const run = (at: number, pid = 1) => ({ attempt: 1, pid, at: RECORDED + at });
const kill = (from: number, pid = 1): Kill => {
  return { target: "worker", pid, from: RECORDED + from, to: RECORDED + from + 1 };
};

test("a body may run once more after the process that had it was killed", () => {
  expect(bodyViolations([run(-30)], OUTCOME, [])).toEqual([]);
  expect(bodyViolations([run(-30), run(-10, 2)], OUTCOME, [kill(-20)])).toEqual([]);
});

test("a body that runs again without such a kill, or after its outcome, is seen", () => {
  expect(bodyViolations([run(-30), run(-10, 2)], OUTCOME, [])).not.toEqual([]);
  expect(bodyViolations([run(-30), run(-10, 2)], OUTCOME, [kill(-20, 3)])).not.toEqual([]);
  expect(bodyViolations([run(-30), run(-10, 2)], OUTCOME, [kill(-5)])).not.toEqual([]);
  expect(bodyViolations([run(-30), run(-20), run(-10, 2)], OUTCOME, [kill(-15)])).not.toEqual([]);
  // Of a process that had come back before it ran the body.
  const back = { pid: 1, from: RECORDED - 60, to: RECORDED - 40 };
  expect(bodyViolations([run(-30), run(-10)], OUTCOME, [back])).not.toEqual([]);
  const away = { ...back, to: RECORDED - 20 };
  expect(bodyViolations([run(-30), run(-10)], OUTCOME, [away])).toEqual([]);
  expect(bodyViolations([run(1)], OUTCOME, [])).not.toEqual([]);
  expect(bodyViolations([run(-1)], undefined, [])).not.toEqual([]);
  expect(bodyViolations([{ ...run(-1), attempt: 2 }], OUTCOME, [])).not.toEqual([]);
});

/** The last two events, from another number on. */
function renumbered(seq: number): RecordedEvent[] {
  return [event(seq, "TASK_COMPLETED"), event(seq + 1, "WORKFLOW_COMPLETED")];
}
