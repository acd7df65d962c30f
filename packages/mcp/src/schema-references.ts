import type { Json } from "@engine/contract";

/** A JSON Schema 2020-12 as the catalog has it. */
export type JsonSchema = Readonly<Record<string, Json>>;

/** A schema at its new place, and what has to stand at the root of the document it is now part of. */
export interface Moved {
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
}

/**
 * Makes a schema part of another document: its `$defs` and `$schema` move to that document's root, and
 * references to other places of it follow it, so that all of them resolve (MCP-9).
 *
 * @param at JSON Pointer of its new place, such as `/properties/output`.
 */
export function moveSchema(whole: JsonSchema, at: string): Moved {
  // An `$id` would make references resolve against it, not against the new document.
  const { $id: _, ...schema } = rewritten(whole, (reference) => movedReference(reference, at));
  const { $defs, $schema, ...rest } = schema;
  return {
    schema: rest,
    root: { ...($schema !== undefined && { $schema }), ...($defs !== undefined && { $defs }) },
  };
}

/**
 * A whole schema at a place of another document, its `$defs` with it: references into it follow (SVC-58).
 *
 * @param at JSON Pointer of that place, such as `/components/schemas/order`.
 */
export function placeSchema(whole: JsonSchema, at: string): JsonSchema {
  // Both would say that another document begins here.
  const {
    $id: _,
    $schema: __,
    ...schema
  } = rewritten(whole, (reference) => {
    if (/^#(?:\/|$)/.test(reference)) return `#${at}${reference.slice(1)}`;
    // Of an anchor: other schemas of the document may have one of that name.
    const anchors = `#${at.slice(1).replaceAll("/", ".")}`;
    return reference.startsWith("#") ? `${anchors}.${reference.slice(1)}` : reference;
  });
  return schema;
}

/** The schema that a reference into `root` names, or undefined where it names none. */
export function schemaAt(root: JsonSchema, reference: Json | undefined): JsonSchema | undefined {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  let found: Json | undefined = root;
  for (const key of reference.slice(1).split("/").slice(1).map(pointerKey)) {
    const isHere: boolean =
      typeof found === "object" && found !== null && Object.hasOwn(found, key);
    found = isHere ? (found as Record<string, Json>)[key] : undefined;
  }
  return asSchema(found);
}

/** A value as a schema, where it is one that has keywords. */
export function asSchema(value: Json | undefined): JsonSchema | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? value : undefined;
}

function pointerKey(key: string): string {
  return decoded(key).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function movedReference(reference: string, at: string): string {
  if (reference === "#") return `#${at}`;
  const isElsewhere = reference.startsWith("#/") && !/^#\/\$defs(?:\/|$)/.test(reference);
  return isElsewhere ? `#${at}${reference.slice(1)}` : reference;
}

/** Keywords whose members are schemas by names of the author's. */
const MAPS = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);
/** Keywords that hold values, in which nothing is a reference. */
const VALUES = new Set(["const", "default", "enum", "examples"]);
const REFERENCES = new Set(["$dynamicRef", "$ref"]);

type Rewrite = (reference: string) => string;

/**
 * A schema without `x-mcp-header`, at whatever depth: it would promise clients that a header is checked
 * against the field, which the SDK does for tools only that it knows itself.
 */
export function withoutHeaderPromises(schema: JsonSchema): JsonSchema {
  return rewritten(schema, (reference) => reference);
}

function rewritten(schema: JsonSchema, rewrite: Rewrite): Record<string, Json> {
  const { "x-mcp-header": _, ...kept } = schema;
  return mapped(kept, (value, keyword) => {
    if (VALUES.has(keyword)) return value;
    if (REFERENCES.has(keyword) && typeof value === "string") return rewrite(value);
    if (keyword === "$anchor" && typeof value === "string") return rewrite(`#${value}`).slice(1);
    const map = MAPS.has(keyword) ? asSchema(value) : undefined;
    return map ? mapped(map, (member) => inside(member, rewrite)) : inside(value, rewrite);
  });
}

function inside(value: Json, rewrite: Rewrite): Json {
  if (Array.isArray(value)) return value.map((item) => inside(item, rewrite));
  const schema = asSchema(value);
  return schema ? rewritten(schema, rewrite) : value;
}

function mapped(
  record: JsonSchema,
  change: (value: Json, key: string) => Json,
): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(value, key)] as const),
  );
}
