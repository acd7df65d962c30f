import { type JsonSchema, nameOf } from "./json-schema.ts";

/** A small value that a schema accepts in shape: its required fields only. */
export function sampleOf(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): unknown {
  if (schema.$ref) return sampleOf(named[nameOf(schema.$ref)] ?? {}, named);
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return sampleOf(smallest(alternatives), named);
  switch (Array.isArray(schema.type) ? schema.type.at(-1) : schema.type) {
    case "string":
      return schema.format === "uuid" ? "0190f5b0-7e5c-7aaa-8bbb-123456789abc" : "…";
    case "integer":
    case "number":
      return schema.exclusiveMinimum === undefined ? Math.max(schema.minimum ?? 1, 1) : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return [];
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [
          key,
          sampleOf(schema.properties?.[key] ?? {}, named),
        ]),
      );
    default:
      return "World";
  }
}

function smallest(alternatives: readonly JsonSchema[]): JsonSchema {
  const bySize = [...alternatives].sort(
    (a, b) => (a.required?.length ?? 0) - (b.required?.length ?? 0),
  );
  return bySize[0] ?? {};
}
