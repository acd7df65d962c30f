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
  [z.string().max(3, "is too long to say"), "long", "is too long to say"],
])("what does not fit is told by what was expected (%#)", (schema, value, message) => {
  expect(schema.safeParse(value).error?.issues.map(issueMessage)).toEqual([message]);
});
