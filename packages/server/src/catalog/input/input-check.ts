/**
 * Checks an input against the schema of its workflow before anything is written (EXE-83). The door is
 * there to tell callers early; the worker, which has the author's own schema, has the last word.
 */
import {
  type Encoded,
  EngineError,
  type InputIssue,
  type Json,
  peek,
  toPlain,
} from "@engine/contract";
import { isRelated, type Path, pathText, richPaths } from "./input-path.ts";
import { inputIssues } from "./schema-issues.ts";
import { validatorOf } from "./schema-validator.ts";

/** A JSON Schema as a record of the catalog has it. */
export type InputSchema = Record<string, Json> | null | undefined;

/**
 * @param input As it is stored.
 * @param root What the input is, first in the path of each issue.
 * @throws EngineError `invalid_input` with `details.issues` when the schema refuses it.
 */
export function checkInput(schema: InputSchema, input: Encoded, root = "body"): void {
  const [first, ...more] = refusals(schema, input, root);
  if (!first) return;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  throw new EngineError("invalid_input", `${first.path}: ${first.message}${rest}`, {
    details: { issues: [first, ...more] },
  });
}

function refusals(schema: InputSchema, input: Encoded, root: string): InputIssue[] {
  const validator = schema && validatorOf(schema);
  if (!validator) return [];
  const value = toPlain(input);
  const errors = validator.errorsOf(value);
  if (errors.length === 0) return [];
  const unsure = doubtful(input);
  return inputIssues(errors)
    .filter(({ path }) => !unsure.some((other) => isRelated(path, other)))
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path: pathText(root, path, value), message }));
}

const MAX_ISSUES = 20;

/**
 * Places where an input of a child has what JSON lacks, such as a Date. What the schema says of the
 * plain form there is not what the author's schema says of the value.
 */
function doubtful(input: Encoded): readonly Path[] {
  const value = peek(input);
  return value === input ? [] : richPaths(value);
}
