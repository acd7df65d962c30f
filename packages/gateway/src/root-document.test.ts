import { expect, test } from "vitest";
import { rootDocument } from "./root-document.ts";

test("GW-6 GW-9 paths are those of the gateway, and its address is the server's", () => {
  const document = {
    openapi: "3.1.0",
    servers: [{ url: "http://10.0.0.1:8000" }],
    paths: {
      "/services/billing/invoice": { post: { operationId: "invoice" } },
      "/services/billing/invoice/resume/{execution_id}": {},
      "/services/billing/mcp/sync": {},
      "/services/billing/mcp_billing": {},
      "/services/billings/other": {},
    },
    components: { schemas: {} },
  };
  expect(rootDocument(document, { service: "billing", base: "http://localhost:9000" })).toEqual({
    openapi: "3.1.0",
    servers: [{ url: "http://localhost:9000" }],
    paths: {
      "/invoice": { post: { operationId: "invoice" } },
      "/invoice/resume/{execution_id}": {},
      "/services/billing/mcp/sync": {},
      "/mcp_billing": {},
      "/services/billings/other": {},
    },
    components: { schemas: {} },
  });
});

test("GW-6 a document without paths stays one", () => {
  const document = { openapi: "3.1.0" };
  expect(rootDocument(document, { service: "billing", base: "http://x" })).toEqual({
    openapi: "3.1.0",
    servers: [{ url: "http://x" }],
  });
});
