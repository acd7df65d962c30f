import type { InputIssue, Json } from "@engine/contract";
import { isRelated, type Path, pathText } from "./input-path.ts";
import { inputIssues } from "./schema-issues.ts";
import type { SchemaValidator } from "./schema-validator.ts";

/** What is checked by a schema. */
export interface Subject {
  readonly value: Json;
  /** What the value is, first in the path of each issue. */
  readonly root: string;
  /** Places that the plain form says nothing of; asked when something is wrong. */
  readonly unsure: () => readonly Path[];
}

export interface CheckJob {
  readonly schema: Record<string, Json>;
  readonly subject: Omit<Subject, "unsure"> & { readonly unsure: readonly Path[] };
  readonly limitMs: number;
}

export type Checked = readonly InputIssue[] | "timeout";

export function refusals(
  validator: SchemaValidator,
  { value, root, unsure }: Subject,
  limitMs: number,
): Checked {
  const errors = validator.errorsOf(value, limitMs);
  if (errors === "timeout") return errors;
  if (errors.length === 0) return [];
  const places = unsure();
  return inputIssues(errors)
    .filter(({ path }) => !places.some((other) => isRelated(path, other)))
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path: pathText(root, path, value), message }));
}

const MAX_ISSUES = 20;
