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
import { JobProcess } from "@engine/sources";
import { type Checked, type CheckJob, refusals, type Subject } from "./input-refusals.ts";
import { nativeTest } from "./pattern-test.ts";
import type { Path } from "./schema-issues.ts";
import { type SchemaValidator, SchemaValidators } from "./schema-validator.ts";

/** A JSON Schema as a record of the catalog has it. */
export type InputSchema = Record<string, Json> | null | undefined;

/**
 * @param input As it is stored.
 * @param root What the input is, first in the path of each issue.
 * @throws EngineError `invalid_input` with `details.issues` when the schema refuses it, `unavailable`
 * when too many inputs wait for a slow one.
 */
export async function checkInput(
  schema: InputSchema,
  input: Encoded,
  root = "body",
): Promise<void> {
  const validator = schema && validators.of(schema);
  if (!validator) return;
  const subject = { value: toPlain(input), root, unsure: () => doubtful(input) };
  const issues = issuesOf(schema, validator, subject);
  refuse(issues instanceof Promise ? await issues : issues);
}

/** Checks a value as it came, on a thread of its own, where a slow check holds nobody up. */
export function checkInputHere(schema: InputSchema, value: Json, root: string): void {
  const validator = schema && validators.of(schema);
  if (!validator) return;
  const checked = refusals(validator, { value, root, unsure: () => [] }, APART_MS);
  refuse(checked === "timeout" ? tooSlow(root) : checked);
}

function refuse([first, ...more]: readonly InputIssue[]): void {
  if (!first) return;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  throw new EngineError("invalid_input", `${first.path}: ${first.message}${rest}`, {
    details: { issues: [first, ...more] },
  });
}

const validators = new SchemaValidators(nativeTest);

/** How long a check may hold the server's loop; nearly all take less than a hundredth of that. */
const ON_LOOP_MS = 10;
/** How long a check may take in a process of its own. */
const APART_MS = 500;
/** After this time a slow schema is tried on the loop again: the machine may have been busy. */
const SLOW_FOR_MS = 60_000;
/** Inputs that may wait for one slow schema. */
const MAX_WAITING = 100;

/** Schemas with an input that took too long on the loop, and until when they are checked apart. */
const slowUntil = new WeakMap<SchemaValidator, number>();

const fromSources = import.meta.url.endsWith(".ts");
const apart = new JobProcess<CheckJob, Checked>({
  program: new URL(
    fromSources ? "./input-check-main.ts" : "./input-check-main.js",
    import.meta.url,
  ),
  memoryMb: 512,
  // A pass for the first error, one for all, and what starting the process takes.
  limitMs: 20 * APART_MS,
  idleMs: 60_000,
});

/** Answers at once where the check is quick, which it nearly always is: every start comes by here. */
function issuesOf(
  schema: Record<string, Json>,
  validator: SchemaValidator,
  subject: Subject,
): readonly InputIssue[] | Promise<readonly InputIssue[]> {
  const until = slowUntil.get(validator);
  if (until === undefined || until <= performance.now()) {
    const checked = refusals(validator, subject, ON_LOOP_MS);
    if (checked !== "timeout") return checked;
    slowUntil.set(validator, performance.now() + SLOW_FOR_MS);
  }
  return issuesApart(schema, validator, subject);
}

async function issuesApart(
  schema: Record<string, Json>,
  validator: SchemaValidator,
  subject: Subject,
): Promise<readonly InputIssue[]> {
  if (apart.waiting(validator.text) >= MAX_WAITING) {
    const message = `too many inputs wait for the schema of this workflow, which takes long to check; try again in a moment`;
    throw new EngineError("unavailable", message);
  }
  const sent = { ...subject, unsure: subject.unsure() };
  const outcome = await apart.run({ schema, subject: sent, limitMs: APART_MS }, validator.text);
  const checked = outcome.kind === "done" ? outcome.answer : "timeout";
  return checked === "timeout" ? tooSlow(subject.root) : checked;
}

function tooSlow(root: string): readonly InputIssue[] {
  const message =
    "takes too long to check: a pattern of the schema, or the way it refers to itself, needs more time than the server gives";
  return [{ path: root, message }];
}

/**
 * Places where an input of a child has a value that JSON lacks, such as a Date. The schema judges its
 * plain form there, and the author's own schema may judge the value otherwise.
 */
function doubtful(input: Encoded): readonly Path[] {
  const value = peek(input);
  return value === input ? [] : richPaths(value);
}

/** Places of values that have another form in JSON. */
function richPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === "number") return Number.isFinite(value) ? [] : [path];
  if (value === undefined || typeof value === "bigint") return [path];
  if (typeof value !== "object" || value === null) return [];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [path];
  return Object.entries(value).flatMap(([key, member]) => richPaths(member, [...path, key]));
}
