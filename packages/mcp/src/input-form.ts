import { asSchema, type JsonSchema, schemaAt } from "./schema-references.ts";

/**
 * How the input of a workflow becomes arguments of a tool (MCP-6): one parameter per field, one named
 * `input` with the workflow's schema, or one named `input` that holds JSON as text.
 */
export type InputForm =
  | { readonly form: "fields"; readonly schema: JsonSchema }
  | { readonly form: "value"; readonly schema: JsonSchema; readonly nullable: boolean }
  | { readonly form: "text" };

/** Decides it by the workflow's input schema; null where it has none. */
export function inputForm(whole: JsonSchema | null): InputForm {
  const schema = whole && withoutRootReference(whole);
  if (!schema || isOpen(schema)) return { form: "text" };
  if (hasFields(schema, schema)) return { form: "fields", schema };
  return { form: "value", schema, nullable: allowsNull(schema, schema) };
}

/** A root `$ref` replaced by its target, since clients look for fields at the root only. */
function withoutRootReference(whole: JsonSchema): JsonSchema | undefined {
  let schema: JsonSchema = whole;
  const seen = new Set<unknown>();
  while (schema["$ref"] !== undefined && !seen.has(schema["$ref"])) {
    const { $ref, ...beside } = schema;
    seen.add($ref);
    const target = schemaAt(whole, $ref);
    if (!target) return undefined;
    schema = { ...target, ...beside };
  }
  return schema["$ref"] === undefined ? schema : undefined;
}

/** Keywords that say which values a schema takes, as far as a form depends on it. */
const TELLING = ["$ref", "allOf", "anyOf", "const", "enum", "oneOf", "properties", "type"];

/** Whether a schema says too little for a parameter: it takes anything, or objects with any fields. */
function isOpen(schema: JsonSchema): boolean {
  if (!TELLING.some((keyword) => Object.hasOwn(schema, keyword))) return true;
  const own = TELLING.filter((keyword) => keyword !== "type" && keyword !== "properties");
  return (
    onlyType(schema) === "object" &&
    fieldsOf(schema) === 0 &&
    !own.some((keyword) => Object.hasOwn(schema, keyword))
  );
}

/** Whether only objects fit a schema, and it names fields of each. */
function hasFields(
  schema: JsonSchema,
  root: JsonSchema,
  seen: readonly JsonSchema[] = [],
): boolean {
  if (seen.includes(schema)) return false;
  const within = [...seen, schema];
  const type = onlyType(schema);
  if (type !== undefined && type !== "object") return false;
  if (fieldsOf(schema) > 0) return true;
  const target = schemaAt(root, schema["$ref"]);
  if (target) return hasFields(target, root, within);
  const forms = membersOf(schema, "anyOf") ?? membersOf(schema, "oneOf");
  if (forms) return forms.every((each) => each !== undefined && hasFields(each, root, within));
  const parts = membersOf(schema, "allOf") ?? [];
  return parts.some((each) => each !== undefined && hasFields(each, root, within));
}

function allowsNull(
  schema: JsonSchema,
  root: JsonSchema,
  seen: readonly JsonSchema[] = [],
): boolean {
  if (seen.includes(schema)) return false;
  const { type, enum: values, const: only, $ref } = schema;
  const inner = (each: JsonSchema | undefined) =>
    each === undefined || allowsNull(each, root, [...seen, schema]);
  const types = Array.isArray(type) ? type : [type];
  if (type !== undefined && !types.includes("null")) return false;
  if (only !== undefined && only !== null) return false;
  if (Array.isArray(values) && !values.includes(null)) return false;
  const target = schemaAt(root, $ref);
  if (target && !inner(target)) return false;
  const forms = membersOf(schema, "anyOf") ?? membersOf(schema, "oneOf");
  if (forms && !forms.some(inner)) return false;
  return (membersOf(schema, "allOf") ?? []).every(inner);
}

/** The one type that a schema names, or undefined. */
function onlyType({ type }: JsonSchema): unknown {
  if (!Array.isArray(type)) return type;
  return type.length === 1 ? type[0] : "several";
}

function fieldsOf({ properties }: JsonSchema): number {
  return Object.keys(asSchema(properties) ?? {}).length;
}

/** The members of a union or an intersection; undefined among them is a boolean schema. */
function membersOf(
  schema: JsonSchema,
  keyword: string,
): readonly (JsonSchema | undefined)[] | undefined {
  const members = schema[keyword];
  return Array.isArray(members) ? members.map(asSchema) : undefined;
}
