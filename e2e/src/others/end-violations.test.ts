import { expect, test } from "vitest";
import { endViolations } from "./end-violations.ts";
import type { End, Program } from "./program.ts";

const END: End = { state: "COMPLETED", output: { sum: 1 }, failure: null, did: ["a", "b"] };
const sees = "something";

test.each<[string, Program, Partial<End>]>([
  ["another output", { sees, output: { sum: 2 } }, {}],
  ["more in the output than was asked for", { sees, output: {} }, {}],
  ["a failure in place of an output", { sees, output: { sum: 1 } }, { state: "FAILED" }],
  ["an output in place of a failure", { sees, failure: {} }, {}],
  [
    "another failure",
    { sees, failure: { type: "A", cause: { type: "B" } } },
    { state: "FAILED", failure: { type: "A", cause: { type: "C" } } },
  ],
  ["no cancel", { sees, cancelled: true }, {}],
  ["an end that is not right", { sees, right: ({ did }) => did.length === 3 }, {}],
  ["another order", { sees, output: { sum: 1 }, did: ["b", "a"] }, {}],
  ["something that was not done", { sees, output: { sum: 1 }, did: ["a", "b", "c"] }, {}],
  ["something more", { sees, output: { sum: 1 }, didInAnyOrder: ["b"] }, {}],
])("%s is found", (_, program, end) => {
  expect(endViolations(program, { ...END, ...end })).toHaveLength(1);
});

test.each<[string, Program, Partial<End>]>([
  ["the output", { sees, output: { sum: 1 }, did: ["a", "b"] }, {}],
  ["whatever order", { sees, output: { sum: 1 }, didInAnyOrder: ["b", "a"] }, {}],
  [
    "a failure with more fields, and more in its details, than were asked for",
    { sees, failure: { type: "A", details: { code: 1 } } },
    { state: "FAILED", failure: { type: "A", message: "m", details: { code: 1, more: true } } },
  ],
  ["a cancel", { sees, cancelled: true }, { state: "CANCELLED" }],
])("%s is right", (_, program, end) => {
  expect(endViolations(program, { ...END, ...end })).toEqual([]);
});
