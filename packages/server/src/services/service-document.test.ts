import { join } from "node:path";
import type { Json, ResolvedService, ServiceEndpoint } from "@engine/contract";
import { lintFromString, loadConfig } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { serviceDocument } from "./service-document.ts";

const TREE = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $ref: "#/$defs/node",
  $defs: {
    node: {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } },
    },
  },
};

function endpoint(name: string, fields: Partial<ServiceEndpoint> = {}): ServiceEndpoint {
  const [path, ref] = [`/services/billing/${name}`, `billing/${name}`];
  const schemas = { input_schema: null, output_schema: null };
  const facts = { namespace: "billing", version: 3, description: null, can_run: true };
  return { name, path, ref, ...facts, ...schemas, ...fields };
}

function service(...endpoints: readonly ServiceEndpoint[]): ResolvedService {
  return {
    ...{ id: "1", name: "billing", description: "Invoices.", mcp_enabled: false },
    ...{ namespaces: ["billing"], workflows: [], exclusions: [] },
    ...{ created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-02-01T00:00:00.000Z" },
    ...{ endpoints: [...endpoints], collisions: [] },
    unmatched: { namespaces: [], workflows: [], exclusions: [] },
  };
}

type Operation = Readonly<Record<"operationId", string>>;
const operations = (document: Record<string, Json>) =>
  Object.entries(document["paths"] as Record<string, Record<string, Operation>>).flatMap(
    ([path, item]) => Object.entries(item).map(([method, one]) => ({ path, method, ...one })),
  );

async function problems(document: object): Promise<string[]> {
  const config = await loadConfig({
    configPath: join(import.meta.dirname, "../../../../redocly.yaml"),
  });
  const source = JSON.stringify(document);
  const found = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return found.map(({ ruleId, message, location }) => {
    return `${ruleId}: ${message} at ${location[0]?.pointer}`;
  });
}

test("SVC-58 each endpoint has its operations, by the names of its tools", () => {
  const document = serviceDocument(service(endpoint("invoice")), { isGuarded: false });
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: "billing", version: "2026-02-01T00:00:00.000Z", description: "Invoices." },
    security: [],
  });
  const of = operations(document).map(({ path, method, operationId }) => [
    operationId,
    method,
    path,
  ]);
  expect(of).toEqual([
    ["invoice", "post", "/services/billing/invoice"],
    ["invoice_async", "post", "/services/billing/invoice/async"],
    ["invoice_stream", "post", "/services/billing/invoice/stream"],
    ["resume_invoice", "post", "/services/billing/invoice/resume/{execution_id}"],
    ["status_invoice", "get", "/services/billing/invoice/status/{execution_id}"],
  ]);
});

test("SVC-58 schemas of workflows are those of bodies and outputs, and their references lead on", () => {
  const given = endpoint("tree", { input_schema: TREE, output_schema: { type: "integer" } });
  const document = serviceDocument(service(given), { isGuarded: false });
  const [run] = operations(document);
  expect(run).toMatchObject({
    requestBody: {
      content: { "application/json": { schema: { $ref: "#/components/schemas/tree.input" } } },
    },
    responses: {
      200: {
        content: {
          "application/json": { schema: { $ref: expect.stringMatching(/tree.output$/) } },
        },
      },
      404: {},
      409: {},
      422: {},
      500: {},
      202: {},
    },
  });
  const { schemas } = document["components"] as { schemas: Record<string, Json> };
  expect(schemas["tree.input"]).toMatchObject({
    $ref: "#/components/schemas/tree.input/$defs/node",
  });
  expect(schemas["tree.input"]).not.toHaveProperty("$schema");
  // Every reference of the document leads somewhere.
  for (const [, to = ""] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = to
      .split("/")
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
    expect([to, typeof found]).toEqual([to, "object"]);
  }
});

test("SVC-58 names that collide are told, one called mcp has the path that is left to it", () => {
  const mcp = endpoint("mcp", { path: "/services/billing/mcp/sync" });
  const collisions = [{ name: "pay", refs: ["a/pay", "b/pay"] }];
  const document = serviceDocument({ ...service(mcp), collisions }, { isGuarded: false });
  expect(document["x-engine-collisions"]).toEqual(collisions);
  expect(Object.keys(document["paths"] as object)).toContain("/services/billing/mcp/sync");
});

test.each([true, false])(
  "SVC-58 the document is a valid one, with authorization on: %s",
  async (isGuarded) => {
    const given = endpoint("tree", { input_schema: TREE, description: "Grows." });
    const document = serviceDocument(service(given, endpoint("other")), { isGuarded });
    const found = await problems(document);
    // Without authorization nobody needs anything, which the linter would have said of each operation.
    expect(found.filter((problem) => isGuarded || !problem.startsWith("security-defined"))).toEqual(
      [],
    );
  },
);
