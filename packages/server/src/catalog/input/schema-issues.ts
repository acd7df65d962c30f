import type { ErrorObject } from "ajv/dist/2020.js";

/** Keys and indexes that lead from an input to a part of it. */
export type Path = readonly string[];

/** What is wrong with one part of an input. Values are not repeated: they may be long, or secret. */
export interface SchemaIssue {
  readonly path: Path;
  readonly message: string;
}

export function inputIssues(errors: readonly ErrorObject[]): SchemaIssue[] {
  const own = errors.slice(0, MAX_ERRORS);
  // The error of a refused key tells what is wrong with its text, too.
  const told = withoutBranches(own.filter(({ propertyName }) => propertyName === undefined));
  const issues = told.map(issueOf);
  const seen = new Set<string>();
  return issues.filter(({ path, message }) => {
    const key = JSON.stringify([path, message]);
    return !seen.has(key) && seen.add(key);
  });
}

/** Errors that are looked at: enough for the few issues that are told. */
const MAX_ERRORS = 2_000;

/** Of the forms of a union, only the errors of the one that the value is nearest to. */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") {
      kept.push(error);
      continue;
    }
    const { instancePath } = error;
    const from = kept.findIndex((other) => isBranch(other, error));
    const branches = from < 0 ? [] : kept.splice(from);
    const inner = branches.filter((other) => other.instancePath.length > instancePath.length);
    const [nearest] = groups(inner.length > 0 ? branches : [], error);
    kept.push(...(nearest ?? [error]));
  }
  return kept;
}

/** Whether an error before that of a union was found by one of its forms: it lies in the same value. */
function isBranch(other: ErrorObject, { instancePath }: ErrorObject): boolean {
  return other.instancePath === instancePath || other.instancePath.startsWith(`${instancePath}/`);
}

/** The errors of each form, those of the one that fits best first. */
function groups(
  errors: readonly ErrorObject[],
  { schemaPath, instancePath: at }: ErrorObject,
): ErrorObject[][] {
  const byForm = Map.groupBy(errors, (error) => {
    const isOwn = error.schemaPath.startsWith(`${schemaPath}/`);
    const below = error.schemaPath.slice(isOwn ? schemaPath.length : 0);
    return (isOwn ? /^\/\d+/ : /\$defs\/[^/]+/).exec(below)?.[0];
  });
  // A form of another kind was not meant: its tag, or its type, is another one.
  const isOther = (group: ErrorObject[]) =>
    group.some(({ keyword, instancePath }) => {
      return /^(?:const|enum)$/.test(keyword) || (keyword === "type" && instancePath === at);
    });
  // In a schema that refers to itself, errors of a form deep inside have the path of this one.
  const isDeep = ({ instancePath }: ErrorObject) =>
    instancePath.slice(at.length).split("/").length > 2;
  const all = [...byForm.values()].flatMap((group) => {
    const deep = isOther(group) ? group.filter(isDeep) : [];
    return deep.length > 0 ? [deep, group.filter((error) => !isDeep(error))] : [group];
  });
  return all.sort((a, b) => Number(isOther(a)) - Number(isOther(b)) || a.length - b.length);
}

/** The keys of a JSON Pointer. */
function pointerPath(pointer: string): Path {
  const keys = pointer.split("/").slice(1);
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function issueOf(error: ErrorObject): SchemaIssue {
  const path = pointerPath(error.instancePath);
  const { params, keyword } = error;
  if (keyword === "required") {
    const key = String(params["missingProperty"]);
    const member: unknown = (error.parentSchema as Schema)?.["properties"];
    const schema = isSchema(member) ? member[key] : undefined;
    return { path: [...path, key], message: `expected ${expected(schema)}, which is missing` };
  }
  if (keyword === "additionalProperties") {
    return { path: [...path, String(params["additionalProperty"])], message: "is unknown" };
  }
  if (keyword === "propertyNames") {
    return {
      path: [...path, String(params["propertyName"])],
      message: "is not a key that is allowed",
    };
  }
  return { path, message: messageOf(error) };
}

function messageOf({ keyword, schema, parentSchema, data, params }: ErrorObject): string {
  switch (keyword) {
    case "type":
    case "anyOf":
    case "oneOf":
      return `expected ${expected(parentSchema)}, got ${kindOf(data)}`;
    case "const":
    case "enum":
      return `expected ${expected({ [keyword]: schema })}`;
    case "minimum":
      return `expected ${schema} or more`;
    case "maximum":
      return `expected ${schema} or less`;
    case "exclusiveMinimum":
      return `expected more than ${schema}`;
    case "exclusiveMaximum":
      return `expected less than ${schema}`;
    case "multipleOf":
      return `expected a multiple of ${schema}`;
    case "minLength":
    case "maxLength":
      return `expected ${bound(keyword, schema)} characters, got ${String(data).length}`;
    case "minItems":
    case "maxItems":
      return `expected ${bound(keyword, schema)} items, got ${(data as unknown[]).length}`;
    case "items":
      return `expected at most ${params["limit"]} items, got ${(data as unknown[]).length}`;
    case "pattern":
      return `expected text that matches /${cut(String(schema))}/`;
    case "not":
    case "false schema":
      return "expected nothing here";
    default:
      return "does not fit the schema of the workflow";
  }
}

type Schema = Readonly<Record<string, unknown>>;

/** The values that a schema asks for, in a few words. */
function expected(schema: unknown): string {
  if (!isSchema(schema)) return "a value";
  const { type, anyOf, oneOf } = schema;
  if ("const" in schema) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) {
    const shown = schema["enum"].slice(0, MAX_SHOWN).map(literal);
    const more = schema["enum"].length > shown.length ? ["…"] : [];
    return `one of ${[...shown, ...more].join(", ")}`;
  }
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (types.length > 0)
    return types.map((each) => KINDS.get(String(each)) ?? "a value").join(" or ");
  const forms = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  if (forms.length === 0) return "a value";
  const kinds = [...new Set(forms.map(expected))];
  return kinds.length <= MAX_SHOWN ? kinds.join(" or ") : `one of ${forms.length} forms`;
}

const MAX_SHOWN = 6;

const KINDS: ReadonlyMap<string, string> = new Map([
  ["string", "a string"],
  ["number", "a number"],
  ["integer", "an integer"],
  ["boolean", "a boolean"],
  ["null", "null"],
  ["array", "an array"],
  ["object", "an object"],
]);

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a number";
  return KINDS.get(Array.isArray(value) ? "array" : typeof value) ?? "another value";
}

function bound(keyword: string, limit: unknown): string {
  return keyword.startsWith("min") ? `at least ${limit}` : `at most ${limit}`;
}

function literal(value: unknown): string {
  return cut(JSON.stringify(value) ?? "another value");
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
