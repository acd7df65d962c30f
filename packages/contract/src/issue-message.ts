import type * as z from "zod";

/** What a schema expected of a value, in plain words. One that the schema gives itself stays. */
export function issueMessage(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (issue.code === "too_big" && message.startsWith("Too big")) {
    const bound = issue.inclusive === false ? "less than" : "at most";
    return `expected ${bound} ${issue.maximum}${unitOf(issue.origin)}`;
  }
  if (issue.code === "too_small" && message.startsWith("Too small")) {
    const bound = issue.inclusive === false ? "more than" : "at least";
    return `expected ${bound} ${issue.minimum}${unitOf(issue.origin)}`;
  }
  if (message === "Invalid URL") return "expected an address such as http://127.0.0.1:8000";
  return message.replace(/^Invalid input: /, "").replace(/received undefined$/, "which is missing");
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
}
