import { expect, test } from "vitest";
import { endpointOf } from "./testing/endpoint.ts";
import { listedTool, serviceTool, shownTools, toolsOf } from "./tools.ts";

const invoice = endpointOf("billing/invoice", {
  description: "Writes an invoice.",
  input_schema: { type: "object", properties: { total: { type: "number" } } },
  output_schema: { type: "string" },
});

test("MCP-1 MCP-3 a service lists five tools per endpoint, endpoints by name", () => {
  const tools = toolsOf([invoice, endpointOf("shop/cart")]).map(serviceTool);
  expect(tools.map(({ name, kind, ref }) => [name, kind, ref])).toEqual([
    ["cart", "run", "shop/cart"],
    ["cart_async", "async", "shop/cart"],
    ["resume_cart", "resume", "shop/cart"],
    ["resume_cart_async", "resume_async", "shop/cart"],
    ["status_cart", "status", "shop/cart"],
    ["invoice", "run", "billing/invoice"],
    ["invoice_async", "async", "billing/invoice"],
    ["resume_invoice", "resume", "billing/invoice"],
    ["resume_invoice_async", "resume_async", "billing/invoice"],
    ["status_invoice", "status", "billing/invoice"],
  ]);
  expect(Object.keys(tools[0] ?? {})).toEqual([
    "name",
    "description",
    "kind",
    "ref",
    "input_schema",
    "output_schema",
  ]);
});

test("MCP-3 a service that resolves to nothing has no tools", () => {
  expect(toolsOf([])).toEqual([]);
});

test("MCP-2 a caller sees the tools of what the caller may run, under the names that all see", () => {
  const hidden = endpointOf("a/x", { can_run: false });
  const tools = toolsOf([hidden, endpointOf("a/x_async")]);
  const shown = shownTools(tools).map(({ name }) => name);
  expect(shown).toHaveLength(5);
  expect(shown[0]).toBe("x_async");
  expect(tools.find(({ kind, ref }) => kind === "async" && ref === "a/x")?.name).not.toBe(
    "x_async",
  );
});

test("MCP-4 every tool says what it does and which tool leads to it", () => {
  const [run, start, resume, resumeAsync, status] = toolsOf([invoice]).map(
    ({ description }) => description,
  );
  expect(run).toMatch(/^Writes an invoice\.\n\n.*`resume_invoice`.*`status_invoice`/s);
  expect(start).toMatch(/^Writes an invoice\.\n\n.*`status_invoice`/s);
  for (const text of [resume, resumeAsync, status]) expect(text).toContain("`invoice_async`");
});

test("MCP-4 a workflow without a description has tools with one", () => {
  for (const { description } of toolsOf([endpointOf("a/b")])) {
    expect(description).toMatch(/^[A-Z].*workflow a\/b/);
  }
});

test("MCP-1 MCP-4 clients are told of workflow and kind, and that a status changes nothing", () => {
  const listed = toolsOf([invoice]).map(listedTool);
  expect(listed.map(({ _meta }) => _meta)).toEqual(
    ["run", "async", "resume", "resume_async", "status"].map((kind) => ({
      "engine/ref": "billing/invoice",
      "engine/kind": kind,
    })),
  );
  expect(listed.map(({ annotations }) => annotations?.readOnlyHint ?? false)).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
  expect(listed[4]?.annotations?.idempotentHint).toBe(true);
});

test("MCP-6 MCP-9 all tools of an endpoint answer alike; run and async take its input", () => {
  const [run, start, resume, , status] = toolsOf([invoice]).map(listedTool);
  expect(run?.inputSchema).toEqual(invoice.input_schema);
  expect(start?.inputSchema).toEqual(run?.inputSchema);
  expect(resume?.inputSchema.required).toEqual(["execution_id"]);
  expect(status?.outputSchema).toEqual(run?.outputSchema);
});
