/**
 * The check of a `call`'s input before its child is made, for engines without a catalog. A server has
 * the JSON Schema that it read from the source; here the schema itself is at hand. It is asked for
 * no more than the server would find: another library's schema, and what functions in a schema
 * refuse, are left to the child.
 */
import { decode, type Encoded, engineFailure, type Failure } from "@engine/contract";
import type { SchemaIssue, SchemaResult, StandardSchema } from "./standard-schema.ts";
import type { AnyWorkflow } from "./workflow.ts";

export interface CallInput {
  readonly task_call_id: string;
  /** As it is stored. */
  readonly input: Encoded;
}

/** Why the call fails by itself, as the server says it (EXE-83); undefined when a child may be made. */
export function refusedCallInput(
  target: AnyWorkflow,
  { task_call_id, input }: CallInput,
): Failure | undefined {
  const schema = target.options.input as StandardSchema | undefined;
  if (schema?.["~standard"].vendor !== READ_BY_SERVERS) return undefined;
  const issues = issuesOf(schema, decode(input)).map((issue) => ({
    path: pathText(issue),
    message: issue.message,
  }));
  const [first, ...more] = issues;
  if (!first) return undefined;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  const message = `call of ${target.qualifiedName}: ${first.path}: ${first.message}${rest}`;
  return engineFailure("InvalidInputError", message, { task_call_id, details: { issues } });
}

const READ_BY_SERVERS = "zod";

function issuesOf(schema: StandardSchema, value: unknown): readonly SchemaIssue[] {
  let result: SchemaResult<unknown> | Promise<SchemaResult<unknown>>;
  try {
    result = schema["~standard"].validate(value);
  } catch {
    // A function in the author's schema threw: the child runs it again and fails by itself.
    return [];
  }
  if (result instanceof Promise) {
    result.catch(() => {});
    return [];
  }
  return (result.issues ?? []).filter((issue) => !isOfFunction(issue));
}

/** Zod's own mark of what a `refine` found. */
function isOfFunction(issue: SchemaIssue): boolean {
  return "code" in issue && issue.code === "custom";
}

/** As a reader would write it, such as `input.items[3].sku`. */
function pathText({ path = [] }: SchemaIssue): string {
  const keys = path.map((part) => (typeof part === "object" ? part.key : part));
  return keys.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`),
    "input",
  );
}
