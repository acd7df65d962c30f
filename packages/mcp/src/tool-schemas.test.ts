import { fromJsonSchema } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import type { JsonSchema } from "./schema-references.ts";
import { envelopeSchema, runInputSchema } from "./tool-schemas.ts";

/** Whether a client that checks results by a schema takes a value. */
async function takes(schema: JsonSchema, value: unknown): Promise<boolean> {
  const result = await fromJsonSchema(schema)["~standard"].validate(value);
  return result.issues === undefined;
}

const order: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  description: "An order",
  properties: {
    customer: { $ref: "#/$defs/Customer" },
    lines: { type: "array", items: { type: "integer" }, default: [1] },
    speed: { enum: ["slow", "fast"] },
    note: { anyOf: [{ type: "string" }, { type: "null" }], description: "Free text" },
  },
  required: ["customer"],
  additionalProperties: false,
  if: { properties: { speed: { const: "fast" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ["note"] },
  $defs: { Customer: { type: "object", properties: { name: { type: "string" } } } },
};

test("MCP-6 a workflow with fields has a tool with those parameters, kept as they are", () => {
  expect(runInputSchema(order)).toEqual(order);
});

test("MCP-6 a union of objects keeps its forms, and says at its root that it is an object", () => {
  const card = { type: "object", properties: { card: { type: "string" } }, required: ["card"] };
  const iban = { type: "object", properties: { iban: { type: "string" } }, required: ["iban"] };
  expect(runInputSchema({ anyOf: [card, iban] })).toEqual({ type: "object", anyOf: [card, iban] });
  const byName = { oneOf: [{ $ref: "#/$defs/Card" }, iban], $defs: { Card: card } };
  expect(runInputSchema(byName)).toEqual({ ...byName, type: "object" });
  const both = { allOf: [card, { type: "object" }] };
  expect(runInputSchema(both)).toEqual({ ...both, type: "object" });
});

test("MCP-6 a reference at the root is replaced by what it names", async () => {
  const tree = {
    type: "object",
    properties: { left: { $ref: "#/$defs/Tree" }, size: { type: "integer" } },
  };
  const shown = runInputSchema({ $ref: "#/$defs/Tree", $defs: { Tree: tree } });
  expect(shown).toEqual({ ...tree, $defs: { Tree: tree } });
  expect(await takes(shown, { left: { left: { size: 1 } } })).toBe(true);
  expect(await takes(shown, { left: { left: { size: "1" } } })).toBe(false);
});

test.each<[string, JsonSchema, boolean]>([
  ["a string", { type: "string", minLength: 3 }, true],
  ["a number", { type: "number" }, true],
  ["an array", { type: "array", items: { type: "string" } }, true],
  ["a choice", { enum: ["a", "b"] }, true],
  ["a string or null", { type: ["string", "null"] }, false],
  ["a choice with null", { enum: ["a", null] }, false],
  ["an object or null", { anyOf: [order, { type: "null" }] }, false],
  ["a string or an array", { anyOf: [{ type: "string" }, { type: "array" }] }, true],
  ["an object or a string", { anyOf: [{ type: "string" }, { type: "object" }] }, true],
])("MCP-6 %s is one parameter named input", (_, schema, required) => {
  const shown = runInputSchema(schema);
  expect(shown).toMatchObject({ type: "object", properties: { input: expect.anything() } });
  expect(shown["required"]).toEqual(required ? ["input"] : undefined);
});

test("MCP-6 MCP-9 references inside a schema resolve where the schema is now", async () => {
  const list: JsonSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.org/list",
    type: "array",
    items: { anyOf: [{ $ref: "#/$defs/Item" }, { $ref: "#" }] },
    $defs: {
      Item: {
        type: "object",
        properties: { $ref: { type: "string" }, default: { $ref: "#/$defs/Size" } },
        required: ["default"],
      },
      Size: { type: "integer", examples: [{ $ref: "#" }] },
    },
  };
  const input = runInputSchema(list);
  expect(await takes(input, { input: [{ default: 1 }, [[{ default: 2, $ref: "x" }]]] })).toBe(true);
  expect(await takes(input, { input: [[[{ default: "2" }]]] })).toBe(false);
  const output = envelopeSchema(list);
  const envelope = { execution_id: "e", state: "COMPLETED" };
  expect(await takes(output, { ...envelope, output: [[{ default: 1 }]] })).toBe(true);
  expect(await takes(output, { ...envelope, output: [[{ default: null }]] })).toBe(false);
  expect(await takes(output, { ...envelope, output: null })).toBe(true);
  expect(output["$defs"]).toMatchObject({ Size: { examples: [{ $ref: "#" }] } });
});

test("MCP-6 MCP-9 references to any other place of a schema follow it, too", async () => {
  const pair: JsonSchema = {
    type: "array",
    prefixItems: [{ type: "integer" }, { $ref: "#/prefixItems/0" }, { $ref: "#/definitions/Name" }],
    definitions: { Name: { type: "string" } },
  };
  const input = runInputSchema(pair);
  expect(await takes(input, { input: [1, 2, "three"] })).toBe(true);
  expect(await takes(input, { input: [1, "2"] })).toBe(false);
  const envelope = { execution_id: "e", state: "COMPLETED" };
  expect(await takes(envelopeSchema(pair), { ...envelope, output: [1, 2, 3] })).toBe(false);
});

test.each<[string, JsonSchema | null]>([
  ["no schema", null],
  ["a schema that takes anything", { description: "Anything" }],
  ["an object without fields", { type: "object", additionalProperties: { type: "number" } }],
  ["an object with no field", { type: "object", properties: {} }],
  ["a reference to nowhere", { $ref: "https://example.org/other" }],
  ["a reference to itself", { $ref: "#" }],
])("MCP-6 %s is one optional parameter of JSON as text", (_, schema) => {
  expect(runInputSchema(schema)).toEqual({
    type: "object",
    properties: { input: { type: "string", description: expect.any(String) } },
    additionalProperties: false,
  });
});

test("MCP-5 MCP-6 no tool promises that a header is checked against a field, since none is", () => {
  const name = { type: "string", "x-mcp-header": "Name" };
  const properties = { name, "x-mcp-header": { type: "string", default: name } };
  const expected = { name: { type: "string" }, "x-mcp-header": properties["x-mcp-header"] };
  expect(runInputSchema({ type: "object", properties })["properties"]).toEqual(expected);
  const either = { anyOf: [{ type: "object", properties }, { type: "null" }] };
  expect(runInputSchema(either)["properties"]).toMatchObject({
    input: { anyOf: [{ properties: expected }, { type: "null" }] },
  });
});

test("MCP-9 an output of which nothing is known may be anything, also in every state", async () => {
  const schema = envelopeSchema(null);
  expect(await takes(schema, { execution_id: "e", state: "RUNNING", output: null })).toBe(true);
  expect(await takes(schema, { execution_id: "e", state: "COMPLETED", output: [1] })).toBe(true);
  expect(await takes(schema, { execution_id: "e", state: "DONE", output: [1] })).toBe(false);
});
