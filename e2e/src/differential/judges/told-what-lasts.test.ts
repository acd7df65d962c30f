import { expect, test } from "vitest";
import {
  BEGAN,
  CANCELLED,
  CLAIMED,
  CREATED,
  entryOf,
  evidenceOf,
  executionOf,
  STARTED,
  TOLD,
  WORKER,
} from "../testing/sample-evidence.ts";
import { toldWhatLasts } from "./told-what-lasts.ts";

const messages = (...args: Parameters<typeof toldWhatLasts>) =>
  toldWhatLasts(...args).map(({ message }) => message);

test("I9 what a task was told is in the log, and a replay tells it again", () => {
  expect(messages(evidenceOf())).toEqual([]);
});

test("I9 planted: a task was told another clock than the log has", () => {
  const told = { ...TOLD, clock: BEGAN + 1 };
  const found = messages(evidenceOf({ entries: [entryOf({ told })] }));
  expect(found).toHaveLength(2);
  expect(found[0]).toContain("the log says");
  expect(found[1]).toContain("a replay of the log says");
});

test.each(["began", "random", "uuid", "token", "label", "seen"] as const)(
  "I9 planted: a replay derives another `%s` than the task was told",
  (field) => {
    const again = { ...TOLD, [field]: field === "began" || field === "random" ? 7 : "other" };
    const replay = { result: "ok", reason: "", told: { r: again } } as const;
    const found = messages(evidenceOf({ executions: [executionOf(undefined, { replay })] }));
    expect(found).toHaveLength(1);
  },
);

test("I9 planted: a replay does not come to what a task was told", () => {
  const replay = { result: "ok", reason: "", told: {} } as const;
  const found = messages(evidenceOf({ executions: [executionOf(undefined, { replay })] }));
  expect(found).toEqual([expect.stringContaining("does not come to it")]);
});

test("I9 a call that the log does not hold was lost with its worker, if the execution was cancelled then", () => {
  const executions = [executionOf([CREATED, CLAIMED, STARTED, CANCELLED])];
  const lost = messages(evidenceOf({ executions }));
  expect(lost).toEqual([expect.stringContaining("the log does not hold the call")]);
  const deaths = [{ pid: WORKER, at: BEGAN + 50 }];
  expect(messages(evidenceOf({ executions, deaths }))).toEqual([]);
});

test("I9 a call that a killed function made is lost with it; one of a body that ended by itself is not", () => {
  const deaths = [{ pid: WORKER, at: BEGAN + 50 }];
  const inner = entryOf({ task_call_id: "plain~1/inner~1", told: null });
  expect(messages(evidenceOf({ entries: [entryOf(), inner], deaths }))).toEqual([]);
  expect(messages(evidenceOf({ entries: [entryOf(), inner] }))).toHaveLength(1);
  const ofBody = entryOf({ task_call_id: "plain~2" });
  expect(messages(evidenceOf({ entries: [entryOf(), ofBody], deaths }))).toHaveLength(1);
});

test("I9 planted: two functions of one call get different inputs", () => {
  const entries = [entryOf(), entryOf({ attempt: 2, input: "other" })];
  expect(messages(evidenceOf({ entries }))).toEqual([expect.stringContaining("different inputs")]);
});
