import * as z from "zod";
import type { UnencodableValue } from "../values/value.ts";
import { EngineError } from "./errors.ts";
import { issueMessage } from "./issue-message.ts";

/** One wrong field of a request: `path` as a reader would write it, such as `body.items[3].state`. */
export const InputIssue = z.object({ path: z.string(), message: z.string() });
export type InputIssue = z.infer<typeof InputIssue>;

/** An `invalid_input` error about one field; `path` as {@link InputIssue} has it. */
export function invalidField(path: string, message: string): EngineError {
  const issues: InputIssue[] = [{ path, message }];
  return new EngineError("invalid_input", message, { details: { issues } });
}

/** The same for a value that has no stored form, which the path inside it names. */
export function unencodable({ path, message }: UnencodableValue): EngineError {
  return invalidField(path, message);
}

/**
 * Says why a value does not fit a schema, as `details.issues` of an `invalid_input` error.
 *
 * @param prefix What the value is, first in every path: `query`, `body`.
 */
export function invalidInput(
  error: { readonly issues: readonly z.core.$ZodIssue[] },
  prefix?: string,
): EngineError {
  const root = prefix === undefined ? [] : [prefix];
  const issues = error.issues.flatMap((issue) => inputIssues(issue, root));
  const [first] = issues;
  const at = first?.path ? `${first.path}: ` : "";
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return new EngineError("invalid_input", `${at}${first?.message ?? "invalid"}${more}`, {
    details: { issues, ...reasonOf(error) },
  });
}

/** `details.reason` where a schema gives one beside its sentence. */
function reasonOf({ issues }: { readonly issues: readonly z.core.$ZodIssue[] }): {
  readonly reason?: string;
} {
  for (const issue of issues) {
    const reason: unknown = issue.code === "custom" ? issue.params?.["reason"] : undefined;
    if (typeof reason === "string") return { reason };
  }
  return {};
}

function inputIssues(issue: z.core.$ZodIssue, root: readonly PropertyKey[]): InputIssue[] {
  const path = [...root, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: pathText([...path, key]), message: "is unknown" }));
  }
  if (issue.code === "invalid_key") {
    return issue.issues.map(({ message }) => ({ path: pathText(path), message: `key ${message}` }));
  }
  if (issue.code === "invalid_union") {
    // The alternative that fits best is most likely the one that was meant.
    const [nearest] = issue.errors
      .map((issues) => issues.flatMap((inner) => inputIssues(inner, path)))
      .filter((issues) => issues.length > 0)
      .sort((a, b) => a.length - b.length);
    if (nearest) return nearest;
  }
  return [{ path: pathText(path), message: issueMessage(issue) }];
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}
