import { expect, test } from "vitest";
import {
  BEGAN,
  CANCELLED,
  CLAIMED,
  CREATED,
  entryOf,
  evidenceOf,
  executionOf,
  ID,
  STARTED,
  STEP_STARTED,
  WORKER,
} from "../testing/sample-evidence.ts";
import { comesToRest } from "./comes-to-rest.ts";

const messages = (...args: Parameters<typeof comesToRest>) =>
  comesToRest(...args).map(({ message }) => message);
const look = (state: string, ...waiting: string[]) => {
  return { execution_id: ID, at: BEGAN + 100, state, waiting };
};

test("I17 a program that has ended, and one that rests in a pause", () => {
  expect(messages(evidenceOf())).toEqual([]);
  const looks = [look("PAUSED", "pause"), look("RUNNING", "sleep")];
  expect(messages(evidenceOf({ looks }))).toEqual([]);
});

test("I17 planted: an execution goes no further", () => {
  const executions = [executionOf([CREATED, CLAIMED, STARTED, STEP_STARTED])];
  const found = messages(evidenceOf({ executions, stuck: "nothing for 8000 ms" }));
  expect(found).toEqual(["it is RUNNING and goes no further: nothing for 8000 ms"]);
});

test("I17 planted: an open pause rests as RUNNING", () => {
  const found = messages(evidenceOf({ looks: [look("RUNNING", "pause")] }));
  expect(found).toEqual([expect.stringContaining("rests as RUNNING with an open pause")]);
});

test("I17 planted: nothing rests waiting for nothing", () => {
  const looks = [look("RUNNING")];
  expect(messages(evidenceOf({ looks }))).toEqual([expect.stringContaining("waits for nothing")]);
});

test("I17 one that still runs a function does not rest", () => {
  const entries = [entryOf({ exit: null })];
  expect(messages(evidenceOf({ entries, looks: [look("RUNNING", "pause")] }))).toEqual([]);
});

test("EXE-42 planted: a cancel takes half a minute", () => {
  const executions = [executionOf([CREATED, CLAIMED, STARTED, CANCELLED])];
  const at = (ms: number) => [{ execution_id: ID, at: BEGAN + ms }];
  expect(messages(evidenceOf({ executions, cancels: at(20) }))).toEqual([]);
  const found = messages(evidenceOf({ executions, cancels: at(-30_000) }));
  expect(found).toEqual(["it ended 30030 ms after its cancel was acknowledged"]);
  // With workers that die on the way it may, though not for ever.
  const deaths = [{ pid: WORKER, at: BEGAN - 20_000 }];
  expect(messages(evidenceOf({ executions, deaths, cancels: at(-30_000) }))).toEqual([]);
  expect(messages(evidenceOf({ executions, deaths, cancels: at(-90_000) }))).toHaveLength(1);
});
