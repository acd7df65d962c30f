import type { RecordedEvent } from "@engine/contract";
import { expect, test } from "vitest";
import { bodiesAgain, takenOver } from "./taken-over.ts";

const event = (ms: number, type: string, rest: object = {}) =>
  ({ type, recorded_at: `2025-01-01T00:00:00.${ms}Z`, ...rest }) as RecordedEvent;
const LOG = [
  event(100, "WORKFLOW_CREATED"),
  event(101, "WORKFLOW_CLAIMED", { value: { worker: "first" } }),
  event(102, "TASK_STARTED", { source_id: "labor~1" }),
  event(103, "TASK_COMPLETED", { source_id: "labor~1" }),
  event(104, "TASK_STARTED", { source_id: "labor~2" }),
  event(300, "WORKFLOW_CLAIMED", { value: { worker: "standby" } }),
  event(310, "WORKFLOW_STARTED"),
  event(400, "TASK_COMPLETED", { source_id: "labor~2" }),
  event(420, "WORKFLOW_COMPLETED"),
];
const KILL = { worker: "standby", at: Date.parse("2025-01-01T00:00:00.200Z") };

test("BEN-1 the time of a failover runs from the kill to the first event of the other worker", () => {
  expect(takenOver("x", LOG, KILL)).toEqual({ after: 110, ended: 220, completed: 1 });
});

test("BEN-1 an execution that another worker took, or nobody, is no failover", () => {
  expect(() => takenOver("x", LOG, { ...KILL, worker: "third" })).toThrow(/went to standby/);
  expect(() => takenOver("x", LOG.slice(0, 5), KILL)).toThrow(/claimed 1 times/);
  expect(() => takenOver("x", LOG.slice(0, 8), KILL)).toThrow(/has not completed/);
});

test("BEN-1 only the body that was open may run again, and once", () => {
  const over = new Map([["x", { after: 1, ended: 2, completed: 1 }]]);
  expect(
    bodiesAgain(
      [
        ["x", 0],
        ["x", 1],
        ["x", 1],
        ["x", 2],
      ],
      over,
    ),
  ).toBe(1);
  expect(
    bodiesAgain(
      [
        ["x", 0],
        ["x", 1],
        ["x", 2],
      ],
      over,
    ),
  ).toBe(0);
  expect(() =>
    bodiesAgain(
      [
        ["x", 0],
        ["x", 1],
        ["x", 0],
      ],
      over,
    ),
  ).toThrow(/task 0 of x ran again/);
  expect(() =>
    bodiesAgain(
      [
        ["x", 1],
        ["x", 1],
        ["x", 1],
      ],
      over,
    ),
  ).toThrow(/ran 3 times/);
});
