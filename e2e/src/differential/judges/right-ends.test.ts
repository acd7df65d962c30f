import { encode, type Failure } from "@engine/contract";
import { expect, test } from "vitest";
import {
  CANCELLED,
  CLAIMED,
  COMPLETED,
  CREATED,
  evidenceOf,
  executionOf,
  type Row,
  STARTED,
} from "../testing/sample-evidence.ts";
import { rightEnds } from "./right-ends.ts";

const ended = (...end: Row) =>
  evidenceOf({ executions: [executionOf([CREATED, CLAIMED, STARTED, end])] });
const found = (...end: Row) => rightEnds(ended(...end)).map(({ message }) => message);
const failure = (message: string): Row => [
  "WORKFLOW_FAILED",
  "e1",
  { type: "Error", message, cause: null } as unknown as Failure,
];

test("a program returns what it must", () => {
  expect(rightEnds(evidenceOf())).toEqual([]);
});

test("planted: it returns what another one must", () => {
  expect(found("WORKFLOW_COMPLETED", "e1", "result of r.1")).toHaveLength(1);
  expect(found("WORKFLOW_COMPLETED", "e1", [])).toHaveLength(1);
});

test("planted: it fails though nothing of it does", () => {
  expect(found(...failure("failed at r"))).toEqual([
    expect.stringContaining('failed with "failed at r"'),
  ]);
});

test("planted: an item of its list is missing", () => {
  const program = { kind: "queue", items: ["i0", "i1"] } as const;
  const input = encode({ program, path: "r" }, "input");
  const wrong = (end: unknown) => {
    const execution = executionOf([CREATED, COMPLETED], { input, end: encode(end, "output") });
    return rightEnds(evidenceOf({ executions: [execution] })).length;
  };
  expect(wrong(["result of r.i0", "result of r.i1"])).toBe(0);
  expect(wrong(["result of r.i0"])).toBe(1);
  expect(wrong(["result of r.i1", "result of r.i0"])).toBe(1);
});

test("one that was cancelled, and its parent, are not judged by what they return", () => {
  const child = executionOf([CREATED, CANCELLED]);
  const { history } = child;
  const ofParent = { ...history, execution: { ...history.execution, parent_id: "e0" } };
  const parent = executionOf([CREATED, failure("e1 was cancelled")], { execution_id: "e0" });
  const executions = [parent, { ...child, history: ofParent }];
  expect(rightEnds(evidenceOf({ executions }))).toEqual([]);
  expect(rightEnds(evidenceOf({ executions: [parent] }))).toHaveLength(1);
});
