import { expect, test } from "vitest";
import { schemaType } from "./schema-type.ts";

test.each<[string, unknown, string]>([
  ["nothing known", undefined, "unknown"],
  ["any value", {}, "unknown"],
  ["any value", true, "unknown"],
  ["no value", false, "never"],
  ["plain types", { type: "string", minLength: 1 }, "string"],
  ["integers", { type: "integer" }, "number"],
  ["several types", { type: ["string", "null"] }, "string | null"],
  ["a type of tomorrow", { type: "colour" }, "unknown"],
  ["literals", { enum: ["a", 1, null, true] }, '"a" | 1 | null | true'],
  ["one literal", { const: "a", type: "string" }, '"a"'],
  ["unions", { anyOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
  ["a union with any value", { oneOf: [{ type: "string" }, {}] }, "unknown"],
  [
    "intersections",
    {
      allOf: [{ type: "object", properties: { a: {} }, required: ["a"] }, { enum: [1, 2] }],
    },
    "{ readonly a: unknown } & (1 | 2)",
  ],
  ["lists", { type: "array", items: { type: ["string", "null"] } }, "ReadonlyArray<string | null>"],
  ["lists of anything", { type: "array" }, "ReadonlyArray<unknown>"],
  [
    "tuples",
    { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" }, minItems: 1 },
    "readonly [string, ...ReadonlyArray<number>]",
  ],
  [
    "tuples that may be shorter",
    {
      type: "array",
      prefixItems: [
        { type: "string" },
        { type: ["string", "null"] },
        { type: "array", prefixItems: [{ type: "number" }], minItems: 1 },
      ],
      items: false,
      minItems: 1,
    },
    "readonly [string, (string | null)?, (readonly [number])?]",
  ],
  [
    "tuples without a least length",
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    "readonly [string?, number?]",
  ],
  [
    "objects",
    {
      type: "object",
      properties: { id: { type: "string" }, "due-at": { type: "number" } },
      required: ["id"],
      additionalProperties: false,
    },
    '{ readonly id: string; readonly "due-at"?: number }',
  ],
  [
    "objects without a type",
    { properties: { id: { type: "string" } } },
    "{ readonly id?: string }",
  ],
  [
    "open objects",
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: {} },
    "{ readonly a?: string; readonly [key: string]: unknown }",
  ],
  [
    "records",
    { type: "object", additionalProperties: { type: "number" } },
    "{ readonly [key: string]: number }",
  ],
  ["any object", { type: "object" }, "{ readonly [key: string]: unknown }"],
  [
    "references",
    { type: "array", items: { $ref: "#/$defs/a~1b" }, $defs: { "a/b": { type: "string" } } },
    "ReadonlyArray<string>",
  ],
  [
    "references that lead back",
    { $ref: "#/$defs/T", $defs: { T: { properties: { next: { $ref: "#/$defs/T" } } } } },
    "{ readonly next?: unknown }",
  ],
  ["references to itself alone", { $ref: "#" }, "unknown"],
  ["references to elsewhere", { $ref: "https://example.com/a.json" }, "unknown"],
  ["references to nothing", { $ref: "#/$defs/gone" }, "unknown"],
])("EXE-90 the type of %s", (_what, schema, type) => {
  expect(schemaType(schema)).toBe(type);
});
