import { expect, test } from "vitest";
import * as z from "zod";
import { issueMessage } from "./issue-message.ts";

test.each<[z.ZodType, unknown, string]>([
  [z.int().max(200), 5000, "expected at most 200"],
  [z.number().positive(), 0, "expected more than 0"],
  [z.number().lt(1), 1, "expected less than 1"],
  [z.string().min(1), "", "expected at least 1 characters"],
  [z.array(z.int()).max(2), [1, 2, 3], "expected at most 2 items"],
  [z.url(), "localhost", "expected an address such as http://127.0.0.1:8000"],
  [z.string(), undefined, "expected string, which is missing"],
  [
    z.record(z.string().regex(/a/, "must have an a"), z.int()),
    { b: 1 },
    "not a key here: must have an a",
  ],
  [z.string().max(3, "is too long to say"), "long", "is too long to say"],
])("what does not fit is told by what was expected (%#)", (schema, value, message) => {
  expect(schema.safeParse(value).error?.issues.map(issueMessage)).toEqual([message]);
});

test("what came is told where the issue has it, but not at length", () => {
  const told = (schema: z.ZodType, value: unknown) =>
    schema.safeParse(value, { reportInput: true }).error?.issues.map(issueMessage);
  expect(told(z.string(), ["a", "b"])).toEqual(["expected string, got 2 of them"]);
  expect(told(z.string().min(9), "short")).toEqual(['expected at least 9 characters, got "short"']);
  expect(told(z.uuid("expected an id"), "x".repeat(61))).toEqual([
    `expected an id, got "${"x".repeat(60)}…"`,
  ]);
  expect(told(z.string(), { secret: 1 })).toEqual(["expected string, received object"]);
  expect(told(z.string(), undefined)).toEqual(["expected string, which is missing"]);
});
