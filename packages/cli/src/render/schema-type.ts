import { isSchema, listOf, referred, type Schema, typesOf } from "./json-schema.ts";

/**
 * The TypeScript type of the JSON that a JSON Schema accepts. It may accept more than the schema
 * (TypeScript has no ranges or patterns); what a type cannot tell at all, and a schema that refers
 * to itself below its first level, is `unknown`.
 */
export function schemaType(schema: unknown): string {
  return typeOf(schema, { root: schema, refs: [] });
}

interface Within {
  readonly root: unknown;
  /** The references that were followed to get here. */
  readonly refs: readonly string[];
}

function typeOf(schema: unknown, within: Within): string {
  if (schema === false) return "never";
  if (!isSchema(schema)) return "unknown";
  const all = listOf(schema["allOf"]).map((part) => typeOf(part, within));
  for (const key of ["anyOf", "oneOf"]) {
    const options = listOf(schema[key]).map((part) => typeOf(part, within));
    if (options.length > 0) all.push(union(options));
  }
  if (typeof schema["$ref"] === "string") all.push(followed(schema["$ref"], within));
  if ("const" in schema) all.push(literal(schema["const"]));
  else if (Array.isArray(schema["enum"])) all.push(union(schema["enum"].map(literal)));
  else all.push(ownType(schema, within));
  return intersection(all);
}

function ownType(schema: Schema, within: Within): string {
  const { properties, additionalProperties } = schema;
  const types = typesOf(schema);
  if (types.length > 0) return union(types.map((each) => named(each, schema, within)));
  const isObject = isSchema(properties) || isSchema(additionalProperties);
  return isObject ? objectType(schema, within) : "unknown";
}

function named(type: unknown, schema: Schema, within: Within): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return type;
    case "integer":
      return "number";
    case "array":
      return arrayType(schema, within);
    case "object":
      return objectType(schema, within);
    default:
      return "unknown";
  }
}

function arrayType({ prefixItems, items, minItems }: Schema, within: Within): string {
  const needed = typeof minItems === "number" ? minItems : 0;
  const first = listOf(prefixItems).map((each, index) => {
    const type = typeOf(each, within);
    return index < needed ? type : optional(type);
  });
  if (first.length === 0) return `ReadonlyArray<${typeOf(items, within)}>`;
  const rest = isSchema(items) ? [`...ReadonlyArray<${typeOf(items, within)}>`] : [];
  return `readonly [${[...first, ...rest].join(", ")}]`;
}

function objectType(schema: Schema, within: Within): string {
  const { properties, required, additionalProperties: others } = schema;
  const needed = listOf(required);
  const members = Object.entries(isSchema(properties) ? properties : {}).map(([key, value]) => {
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
    return `readonly ${name}${needed.includes(key) ? "" : "?"}: ${typeOf(value, within)}`;
  });
  // Beside named members an index signature must cover them too, so it cannot say more.
  if (others === true || (isSchema(others) && members.length > 0)) {
    members.push("readonly [key: string]: unknown");
  } else if (isSchema(others)) {
    members.push(`readonly [key: string]: ${typeOf(others, within)}`);
  }
  if (members.length > 0) return `{ ${members.join("; ")} }`;
  return others === false ? "{ readonly [key: string]: never }" : OBJECT;
}

const OBJECT = "{ readonly [key: string]: unknown }";

/** Follows `#/$defs/Order`; a way that leads back to itself ends. */
function followed(ref: string, { root, refs }: Within): string {
  if (refs.includes(ref) || !/^#(\/|$)/.test(ref)) return "unknown";
  return typeOf(referred(root, ref), { root, refs: [...refs, ref] });
}

function literal(value: unknown): string {
  const isPlain = value === null || /^(?:string|number|boolean)$/.test(typeof value);
  return isPlain ? JSON.stringify(value) : "unknown";
}

function union(types: readonly string[]): string {
  if (types.includes("unknown")) return "unknown";
  const some = [...new Set(types)].filter((type) => type !== "never");
  return some.length === 0 ? "never" : some.join(" | ");
}

function intersection(types: readonly string[]): string {
  const known = [...new Set(types)].filter((type) => type !== "unknown");
  if (known.length < 2) return known[0] ?? "unknown";
  return known.map((type) => (type.includes(" | ") ? `(${type})` : type)).join(" & ");
}

/** An element that a tuple may lack. */
function optional(type: string): string {
  return type.startsWith("readonly ") || / [|&] /.test(type) ? `(${type})?` : `${type}?`;
}
