import { expect, test } from "vitest";
import { moveSchema, placeSchema } from "./schema-references.ts";

const order = {
  $defs: { address: { $anchor: "address", type: "object" } },
  properties: { from: { $ref: "#/$defs/address" }, to: { $ref: "#address" } },
} as const;

test("SVC-58 anchors of schemas in one document get names of their own, and what refers to them follows", () => {
  const at = "/components/schemas/order.input";
  expect(placeSchema(order, at)).toEqual({
    $defs: { address: { $anchor: "components.schemas.order.input.address", type: "object" } },
    properties: {
      from: { $ref: `#${at}/$defs/address` },
      to: { $ref: "#components.schemas.order.input.address" },
    },
  });
});

test("MCP-6 MCP-9 in a schema of its own an anchor keeps its name", () => {
  const { schema, root } = moveSchema(order, "/properties/input");
  expect({ ...root, ...schema }).toEqual(order);
});
