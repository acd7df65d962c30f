import { expect, test } from "vitest";
import { BEGAN, entryOf, evidenceOf, WORKER } from "../testing/sample-evidence.ts";
import { recordedWhatRan } from "./recorded-what-ran.ts";

const messages = (...args: Parameters<typeof recordedWhatRan>) =>
  recordedWhatRan(...args).map(({ message }) => message);
const exit = (over: object) => ({ ...entryOf().exit, ...over }) as never;

test("I5 a call is completed with what its function returned", () => {
  expect(messages(evidenceOf())).toEqual([]);
});

test("I5 planted: a call is completed, and no function of it returned", () => {
  const found = "plain~1 is completed at event 5, and none of its functions returned";
  expect(messages(evidenceOf({ entries: [] }))).toEqual([found]);
  expect(messages(evidenceOf({ entries: [entryOf({ exit: exit({ how: "threw" }) })] }))).toEqual([
    found,
  ]);
});

test("I9 planted: a call is completed with another value than its function returned", () => {
  const entries = [entryOf({ exit: exit({ digest: "another" }) })];
  expect(messages(evidenceOf({ entries }))).toEqual([expect.stringContaining("another value")]);
});

test("the last line of a process that was killed may be lost", () => {
  const entries = [entryOf({ exit: null })];
  expect(messages(evidenceOf({ entries }))).toHaveLength(1);
  expect(messages(evidenceOf({ entries, deaths: [{ pid: WORKER, at: BEGAN + 60 }] }))).toEqual([]);
});
