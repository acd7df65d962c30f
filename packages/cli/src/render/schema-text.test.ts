import { expect, test } from "vitest";
import { schemaText } from "./schema-text.ts";

test("a schema reads as a type, with bounds, defaults and descriptions behind its members", () => {
  const text = { type: "string" };
  const schema = {
    type: "object",
    properties: {
      id: { type: "string", minLength: 2, maxLength: 5, description: "as the shop\n has it" },
      items: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          properties: {
            sku: text,
            qty: { type: "integer", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER },
          },
          required: ["sku", "qty"],
        },
      },
      kind: { enum: ["new", "old"], default: "new" },
      note: { anyOf: [text, { type: "null" }] },
      at: { type: "string", format: "date-time", pattern: "^.*$" },
      code: { type: "string", pattern: "^[A-Z]+$" },
      share: { type: "number", minimum: 0, maximum: 1 },
      labels: { type: "object", propertyNames: text, additionalProperties: text },
      "a key": { type: "array", items: { type: ["string", "number"] } },
      pair: { type: "array", prefixItems: [text, { type: "integer" }], minItems: 2 },
    },
    required: ["id", "items", "at", "code", "share", "labels", "a key", "pair"],
  };
  expect(schemaText(schema)).toMatchInlineSnapshot(`
    "{
      id: string (2 to 5 characters) – as the shop has it
      items: {
        sku: string
        qty: integer (more than 0)
      }[] (at least 1 items)
      kind?: "new" | "old" (default "new")
      note?: string | null
      at: string (date-time)
      code: string (matches /^[A-Z]+$/)
      share: number (0 to 1)
      labels: {
        [any key]: string
      }
      "a key": (string | number)[]
      pair: [string, integer]
    }"
  `);
});

test("a schema that refers to itself ends with its name", () => {
  const schema = {
    $ref: "#/$defs/Tree",
    $defs: {
      Tree: {
        type: "object",
        properties: { subs: { type: "array", items: { $ref: "#/$defs/Tree" } } },
      },
    },
  };
  expect(schemaText(schema)).toBe("{\n  subs?: Tree[]\n}");
});

test.each([
  [{ type: "string" }, "string"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ const: 1 }, "1"],
  [{}, "anything"],
  [{ type: "object" }, "object"],
  [{ not: {} }, "anything"],
  [{ allOf: [{ type: "string" }] }, "string"],
  [{ $ref: "#/nowhere" }, "anything"],
])("the schema %o reads %s", (schema, text) => {
  expect(schemaText(schema)).toBe(text);
});
