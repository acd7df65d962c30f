import { expect, test } from "vitest";
import {
  BEGAN,
  CLAIMED,
  COMPLETED,
  CREATED,
  entryOf,
  evidenceOf,
  executionOf,
  type Row,
  STARTED,
  STEP_COMPLETED,
  STEP_STARTED,
  TOLD,
  WORKER,
} from "../testing/sample-evidence.ts";
import { enteredOnce } from "./entered-once.ts";

const messages = (...args: Parameters<typeof enteredOnce>) =>
  enteredOnce(...args).map(({ message }) => message);
const again = (over: object = {}) => entryOf({ pid: WORKER + 1, at: BEGAN + 36, ...over });

test("I5 a function that ran once, and an attempt that is another", () => {
  expect(messages(evidenceOf())).toEqual([]);
  expect(messages(evidenceOf({ entries: [entryOf(), again({ attempt: 2 })] }))).toEqual([]);
});

test("I5 planted: a function is entered twice though nothing died", () => {
  const entries = [entryOf(), again()];
  expect(messages(evidenceOf({ entries }))).toEqual([expect.stringContaining("entered again")]);
  const other = [{ pid: WORKER + 1, at: BEGAN + 33 }];
  expect(messages(evidenceOf({ entries, deaths: other }))).toHaveLength(1);
});

test("I5 the function of a worker that was killed is entered again", () => {
  const entries = [entryOf({ exit: null }), again()];
  const deaths = [{ pid: WORKER, at: BEGAN + 34 }];
  expect(messages(evidenceOf({ entries, deaths }))).toEqual([]);
  // It died long after the other one had begun: that is no reason.
  expect(
    messages(evidenceOf({ entries, deaths: [{ pid: WORKER, at: BEGAN + 9_000 }] })),
  ).toHaveLength(1);
});

const SLEEP: Row = ["TASK_STARTED", "plain~1/sleep~1", { until: "2026-01-01" }, { kind: "sleep" }];
const waiting: Row[] = [CREATED, CLAIMED, STARTED, STEP_STARTED, SLEEP, CLAIMED];

test("I5 a function that waits itself is entered again by whoever is given the execution next", () => {
  const rows: Row[] = [...waiting, STEP_COMPLETED, COMPLETED];
  const entries = [entryOf({ exit: null }), again({ at: BEGAN + 55 })];
  expect(messages(evidenceOf({ executions: [executionOf(rows)], entries }))).toEqual([]);
  const twice = [...entries, again({ at: BEGAN + 57 })];
  expect(messages(evidenceOf({ executions: [executionOf(rows)], entries: twice }))).toHaveLength(1);
});

test("I4 planted: a function is entered behind the outcome of its call", () => {
  const entries = [entryOf(), again({ at: BEGAN + 41 })];
  const deaths = [{ pid: WORKER, at: BEGAN + 40 }];
  expect(messages(evidenceOf({ entries, deaths }))).toEqual([
    expect.stringContaining("after event 5, its outcome"),
  ]);
});

test("I4 planted: one place of the program is two calls, and one call has two outcomes", () => {
  const second: Row = ["TASK_STARTED", "plain~2", { path: "r", told: TOLD }];
  const rows: Row[] = [CREATED, CLAIMED, STARTED, STEP_STARTED, STEP_COMPLETED, second];
  const found = messages(evidenceOf({ executions: [executionOf([...rows, COMPLETED])] }));
  expect(found).toEqual(["r is 2 calls: plain~1, plain~2"]);
  const doubled = [...rows.slice(0, 5), STEP_COMPLETED, COMPLETED];
  expect(messages(evidenceOf({ executions: [executionOf(doubled)] }))).toEqual([
    "plain~1 has outcomes 5, 6",
  ]);
});
