/** Why an input does not fit its schema; the same on the loop, on a thread and in a process of its own. */
import type { InputIssue, Json } from "@engine/contract";
import { inputIssues, type Path } from "./schema-issues.ts";
import type { SchemaValidator } from "./schema-validator.ts";

/** A value that is checked by a schema. */
export interface Subject {
  readonly value: Json;
  /** What the value is, first in the path of each issue. */
  readonly root: string;
  /** Places that the plain form of the value tells nothing about; asked when something is wrong. */
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

/** The input may be made of long keys; the answer should not be. */
const MAX_KEY = 80;

/** A path as a reader would write it, such as `body.items[3].sku`. */
function pathText(root: string, path: Path, value: Json): string {
  let at: unknown = value;
  let text = root;
  for (const key of path) {
    text += Array.isArray(at) ? `[${key}]` : `.${key.slice(0, MAX_KEY)}`;
    at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  }
  return text;
}

/** Whether one place is the other, or lies in it. */
function isRelated(a: Path, b: Path): boolean {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  return shorter.every((key, index) => key === longer[index]);
}
