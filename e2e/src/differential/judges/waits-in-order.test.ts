import { expect, test } from "vitest";
import {
  CLAIMED,
  COMPLETED,
  CREATED,
  evidenceOf,
  executionOf,
  type Row,
  STARTED,
  STEP_STARTED,
} from "../testing/sample-evidence.ts";
import { waitsInOrder } from "./waits-in-order.ts";

const sleeps = (id: string, ms: number): Row => {
  const until = new Date(Date.parse("2026-01-01T00:00:01.000Z") + ms).toISOString();
  return ["TASK_STARTED", id, { until }, { kind: "sleep" }];
};
const ends = (id: string): Row => ["TASK_COMPLETED", id, undefined, { kind: "sleep" }];
const found = (...rows: Row[]) => {
  const all: Row[] = [CREATED, CLAIMED, STARTED, STEP_STARTED, ...rows, COMPLETED];
  return waitsInOrder(evidenceOf({ executions: [executionOf(all)] })).map(({ message }) => message);
};
const [long, short] = [sleeps("sleep~1", 1_100), sleeps("sleep~2", 900)];

test("I10 sleeps that end in the order of their instants", () => {
  expect(found(long, short, ends("sleep~2"), ends("sleep~1"))).toEqual([]);
  expect(found(long, ends("sleep~1"), short, ends("sleep~2"))).toEqual([]);
  const equal = sleeps("sleep~3", 1_100);
  expect(found(long, equal, ends("sleep~3"), ends("sleep~1"))).toEqual([]);
});

test("I10 planted: the longer one ends first", () => {
  expect(found(long, short, ends("sleep~1"), ends("sleep~2"))).toEqual([
    "sleep~2 ended behind sleep~1 (events 8, 7), and was due 200 ms before it",
  ]);
});

test("I10 one inside of a task that began anew meanwhile comes when its function comes to it", () => {
  const inside = sleeps("plain~1/sleep~1", 900);
  const late = [ends("sleep~1"), ends("plain~1/sleep~1")];
  expect(found(long, inside, CLAIMED, ...late)).toEqual([]);
  expect(found(long, inside, ...late)).toHaveLength(1);
});
