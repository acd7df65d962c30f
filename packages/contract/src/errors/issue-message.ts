import type * as z from "zod";

/**
 * What a schema expected of a value, in plain words, and what came where the issue has it (zod's
 * `reportInput`). A sentence that the schema gives itself stays.
 */
export function issueMessage(issue: z.core.$ZodIssue): string {
  const got = came(issue.input);
  const expected = expectation(issue);
  return got ? `${expected.replace(/, received \w+$/, "")}${got}` : expected;
}

function came(value: unknown): string {
  if (Array.isArray(value)) return `, got ${value.length} of them`;
  if (typeof value !== "string" && typeof value !== "number") return "";
  const text = String(value);
  return `, got "${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}"`;
}

/** What came may be anything, and the message is for people. */
const LONGEST = 60;

function expectation(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (issue.code === "too_big" && message.startsWith("Too big")) {
    const bound = issue.inclusive === false ? "less than" : "at most";
    return `expected ${bound} ${issue.maximum}${unitOf(issue.origin)}`;
  }
  if (issue.code === "too_small" && message.startsWith("Too small")) {
    const bound = issue.inclusive === false ? "more than" : "at least";
    return `expected ${bound} ${issue.minimum}${unitOf(issue.origin)}`;
  }
  const [ofKey] = issue.code === "invalid_key" ? issue.issues : [];
  if (ofKey) return `not a key here: ${expectation(ofKey)}`;
  if (message === "Invalid URL") return "expected an address such as http://127.0.0.1:8000";
  return message.replace(/^Invalid input: /, "").replace(/received undefined$/, "which is missing");
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
}
