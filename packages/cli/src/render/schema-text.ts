import { isSchema, listOf, referred, type Schema, typesOf } from "./json-schema.ts";

/** A JSON Schema for people: its type as one writes types, with the bounds and notes behind it. */
export function schemaText(schema: unknown): string {
  return typed(schema, { root: schema, refs: [], indent: "" });
}

interface Within {
  readonly root: unknown;
  /** The references that were followed to get here. */
  readonly refs: readonly string[];
  readonly indent: string;
}

function typed(schema: unknown, within: Within): string {
  if (schema === false) return "nothing";
  if (!isSchema(schema)) return "anything";
  const { $ref: ref } = schema;
  if (typeof ref === "string") return followed(ref, within);
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"]))
    return either(schema["enum"].map((one) => JSON.stringify(one)));
  const forms = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
  if (forms.length > 0) return either(forms.map((form) => typed(form, within)));
  const parts = listOf(schema["allOf"]).map((part) => typed(part, within));
  const own = typesOf(schema).map((type) => named(type, schema, within));
  if (own.length === 0 && isSchema(schema["properties"])) own.push(object(schema, within));
  const all = [...parts, ...(own.length > 0 ? [either(own)] : [])];
  return all.length > 0 ? all.join(" & ") : "anything";
}

function named(type: unknown, schema: Schema, within: Within): string {
  if (type === "object") return object(schema, within);
  return type === "array" ? array(schema, within) : String(type);
}

function array({ prefixItems, items }: Schema, within: Within): string {
  const first = listOf(prefixItems).map((item) => typed(item, within));
  if (first.length > 0) {
    const rest = isSchema(items) ? [`...${manyOf(typed(items, within))}`] : [];
    return `[${[...first, ...rest].join(", ")}]`;
  }
  return items === undefined ? "array" : manyOf(typed(items, within));
}

function manyOf(type: string): string {
  return / [|&] /.test(type) && !type.endsWith("}") ? `(${type})[]` : `${type}[]`;
}

function object(schema: Schema, within: Within): string {
  const { properties, required, additionalProperties: others } = schema;
  const needed = listOf(required);
  const indent = `${within.indent}  `;
  const members = Object.entries(isSchema(properties) ? properties : {}).map(([key, member]) => {
    const name = /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
    const mark = needed.includes(key) ? "" : "?";
    return `${indent}${name}${mark}: ${typed(member, { ...within, indent })}${notes(member)}`;
  });
  if (isSchema(others) && Object.keys(others).length > 0) {
    members.push(`${indent}[any key]: ${typed(others, { ...within, indent })}`);
  }
  return members.length > 0 ? `{\n${members.join("\n")}\n${within.indent}}` : "object";
}

/** Follows `#/$defs/Order`; a way that leads back to itself ends with its name. */
function followed(ref: string, { root, refs, indent }: Within): string {
  if (refs.includes(ref)) return ref.split("/").slice(1).at(-1) ?? "the same again";
  return typed(referred(root, ref), { root, refs: [...refs, ref], indent });
}

/** What a type does not tell: bounds, a pattern, the default, and what the author says of it. */
function notes(schema: unknown): string {
  if (!isSchema(schema)) return "";
  const bounds = [
    range(schema["minimum"], schema["maximum"], ""),
    schema["exclusiveMinimum"] === undefined ? "" : `more than ${schema["exclusiveMinimum"]}`,
    schema["exclusiveMaximum"] === undefined ? "" : `less than ${schema["exclusiveMaximum"]}`,
    range(schema["minLength"], schema["maxLength"], " characters"),
    // A tuple shows how many it has.
    schema["prefixItems"] ? "" : range(schema["minItems"], schema["maxItems"], " items"),
    typeof schema["format"] === "string" ? schema["format"] : patternText(schema["pattern"]),
    "default" in schema ? `default ${JSON.stringify(schema["default"])}` : "",
  ].filter((note) => note !== "");
  const { description } = schema;
  const said = typeof description === "string" ? ` – ${description.replace(/\s+/g, " ")}` : "";
  return `${bounds.length > 0 ? ` (${bounds.join(", ")})` : ""}${said}`;
}

function range(least: unknown, most: unknown, unit: string): string {
  const isLeast = typeof least === "number" && least !== Number.MIN_SAFE_INTEGER;
  const isMost = typeof most === "number" && most !== Number.MAX_SAFE_INTEGER;
  if (isLeast && isMost) return least === most ? `${least}${unit}` : `${least} to ${most}${unit}`;
  if (isLeast) return `at least ${least}${unit}`;
  return isMost ? `at most ${most}${unit}` : "";
}

function patternText(pattern: unknown): string {
  return typeof pattern === "string" ? `matches /${pattern}/` : "";
}

function either(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}
