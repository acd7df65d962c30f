import { expect, test } from "vitest";
import {
  CLAIMED,
  CREATED,
  evidenceOf,
  executionOf,
  type Row,
  STARTED,
} from "../testing/sample-evidence.ts";
import { noDivergence } from "./no-divergence.ts";

const found = (row: Row) => {
  const executions = [executionOf([CREATED, CLAIMED, STARTED, row])];
  return noDivergence(evidenceOf({ executions })).map(({ message }) => message);
};
const failure = (type: string, cause: object | null = null) => ({ type, message: "m", cause });

test("I7 a log without a trace of another way", () => {
  expect(noDivergence(evidenceOf())).toEqual([]);
  expect(found(["TASK_FAILED", "plain~1", failure("Error")])).toEqual([]);
  const dropped = { code: "signal_dropped", message: "one was left" };
  expect(found(["WORKFLOW_WARNING", "e1", dropped])).toEqual([]);
});

test("I7 planted: code went another way", () => {
  expect(found(["WORKFLOW_FAILED", "e1", failure("NondeterminismError")])).toEqual(["event 4: m"]);
  const ofChild = failure("ChildFailedError", failure("NondeterminismError"));
  expect(found(["TASK_FAILED", "call~1", ofChild])).toHaveLength(1);
});

test("I9 planted: a task was called with another argument than before", () => {
  const warning = { code: "argument_changed", message: "another" };
  expect(found(["WORKFLOW_WARNING", "e1", warning])).toEqual(["event 4: another"]);
});
