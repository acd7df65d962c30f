import { expect, test } from "vitest";
import * as z from "zod";
import { issueMessage } from "../errors/issue-message.ts";
import { decimalNumber, wholeNumber } from "./query-number.ts";

/** What the text is read as, or why it is refused. */
function read(schema: z.ZodType, text: unknown): unknown {
  const result = z.object({ n: schema }).safeParse({ n: text }, { reportInput: true });
  return result.success ? result.data.n : result.error.issues.map(issueMessage).join();
}

test.each([
  ["10", 10],
  ["-0", -0],
  ["007", 7],
  [3, 3],
  ["0x10", 'expected a whole number, got "0x10"'],
  ["1e3", 'expected a whole number, got "1e3"'],
  ["1.0", 'expected a whole number, got "1.0"'],
  ["+1", 'expected a whole number, got "+1"'],
  [" 1", 'expected a whole number, got " 1"'],
  ["", 'expected a whole number, got ""'],
  ["NaN", 'expected a whole number, got "NaN"'],
  ["1".repeat(16), `expected a whole number, got "${"1".repeat(16)}"`],
  ["9".repeat(70), `expected a whole number, got "${"9".repeat(60)}…"`],
  ["11", 'expected at most 10, got "11"'],
  ["-6", 'expected at least -5, got "-6"'],
  [["1", "2"], "expected a whole number, got 2 of them"],
  [undefined, "expected a whole number, which is missing"],
])("a whole number is what a person writes as one: %j", (text, answered) => {
  expect(read(wholeNumber({ min: -5, max: 10 }), text)).toEqual(answered);
});

test.each([
  ["0.25", 0.25],
  ["12", 12],
  [".5", 'expected a number, got ".5"'],
  ["Infinity", 'expected a number, got "Infinity"'],
  ["0", 'expected more than 0, got "0"'],
  ["true", 'expected a number, got "true"'],
])("a number may have a fraction: %j", (text, answered) => {
  expect(read(decimalNumber({ above: 0 }), text)).toEqual(answered);
});

test("the schema of a number shows its bounds and what it is when it is left out", () => {
  const shape = z.object({
    limit: wholeNumber({ min: 1, max: 200 }).prefault(50),
    timeout: decimalNumber({ above: 0 }).optional(),
    ttl: decimalNumber({ min: 0 }).optional(),
  });
  expect(shape.parse({})).toEqual({ limit: 50 });
  expect(z.toJSONSchema(shape, { io: "input" })).toMatchObject({
    properties: {
      limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
      timeout: { type: "number", exclusiveMinimum: 0 },
      ttl: { type: "number", minimum: 0 },
    },
  });
});
