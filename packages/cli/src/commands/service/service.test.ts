import { expect, test } from "vitest";
import { guardedHost } from "../../testing/guarded-host.ts";

const source = (namespace: string, ...names: readonly string[]) =>
  `import { workflow } from "@engine/sdk";
${names.map((name) => `export const ${name} = workflow({ name: "${name}", namespace: "${namespace}" }, async (input) => input);`).join("\n")}
`;

async function host() {
  const guarded = await guardedHost();
  await guarded.client.catalog.register({
    body: { source: source("billing", "invoice", "refund") },
  });
  const engine = (...args: readonly string[]) => guarded.engine(["service", ...args]);
  return { ...guarded, engine, raw: guarded.engine };
}

test("SCLI-1 SCLI-2 a service is made and shown with the endpoints that it offers now", async () => {
  const { engine, client } = await host();
  expect(await engine("list")).toMatchObject({ code: 0, out: "no services\n", err: "" });
  const made = await engine(
    ...["create", "billing", "--namespace", "billing", "--workflow", "shop/order"],
    ...["--exclude", "billing/refund", "--mcp", "--description", "invoices"],
  );
  expect(made).toMatchObject({ code: 0, err: "" });
  expect((await engine("list")).out).toBe("billing   1 namespace, 1 workflow, 1 exclusion, mcp\n");
  expect((await engine("show", "billing")).out).toBe(`billing
  invoices
  MCP   on; its tools and their address: engine service tools billing
Namespaces:
  billing
Workflows:
  shop/order
Exclusions:
  billing/refund
Resolved endpoints (1):
  /invoice → billing/invoice (v1)
Nothing matches these workflows:
  shop/order
`);
  await client.catalog.register({ body: { source: source("shop", "order") } });
  expect((await engine("show", "billing")).out).toContain("/order → shop/order (v1)");
  const json = JSON.parse((await engine("show", "billing", "--format", "json")).out);
  expect(json).toMatchObject({
    name: "billing",
    endpoints: [{ name: "invoice" }, { name: "order" }],
  });
});

test("SCLI-2 a collision is told with the command that clears it", async () => {
  const { engine, client } = await host();
  await client.catalog.register({ body: { source: source("old", "invoice") } });
  await engine("create", "billing", "--namespace", "billing", "--namespace", "old");
  const { out } = await engine("show", "billing");
  expect(out).toContain("Collision: /invoice is billing/invoice and old/invoice; ");
  const [, typed = ""] = /: engine service (exclude .*)$/m.exec(out) ?? [];
  expect(typed).toBe("exclude billing old/invoice");
  expect((await engine(...typed.split(" "))).code).toBe(0);
  expect((await engine("show", "billing")).out).toContain("/invoice → billing/invoice (v1)");
  expect((await engine("include", "billing", "old/invoice")).code).toBe(0);
  expect((await engine("show", "billing")).out).toContain("Collision:");
});

test("SCLI-1 what a service chooses is added to, taken from, and changed", async () => {
  const { engine, client } = await host();
  await engine("create", "billing");
  await engine(
    "add",
    "billing",
    "--namespace",
    "billing",
    "--workflow",
    "order",
    "--workflow",
    "a/b",
  );
  await engine("remove", "billing", "--workflow", "default/order");
  await engine("update", "billing", "--mcp", "--description", "bills");
  const read = async () => (await client.services.get({ params: { name: "billing" } })).body;
  expect(await read()).toMatchObject({
    ...{ namespaces: ["billing"], workflows: ["a/b"], mcp_enabled: true, description: "bills" },
  });
  await engine("update", "billing", "--no-mcp", "--description", "");
  expect(await read()).toMatchObject({ mcp_enabled: false, description: null });
});

test("SCLI-1 the tools of a service are listed with their kind, their workflow and where clients connect", async () => {
  const { engine, client } = await host();
  await engine("create", "billing", "--workflow", "billing/invoice");
  const off = await engine("tools", "billing");
  expect(off).toMatchObject({ code: 1, out: "" });
  expect(off.err).toBe(
    "error: service billing offers no tools: engine service update billing --mcp lets it\n",
  );

  expect((await engine("update", "billing", "--mcp")).out).toContain(
    "  MCP   on; its tools and their address: engine service tools billing\n",
  );
  const { code, out, err } = await engine("tools", "billing");
  expect([code, err]).toEqual([0, ""]);
  expect(out.replace(/:\d+/, ":PORT")).toBe(`billing
  MCP   http://127.0.0.1:PORT/services/billing/mcp
TOOL                   KIND           WORKFLOW
invoice                run            billing/invoice
invoice_async          async          billing/invoice
resume_invoice         resume         billing/invoice
resume_invoice_async   resume_async   billing/invoice
status_invoice         status         billing/invoice
`);
  const json = JSON.parse((await engine("tools", "billing", "--format", "json")).out);
  expect(json).toEqual(await client.services.tools({ params: { name: "billing" } }));

  await client.catalog.register({ body: { source: source("old", "invoice") } });
  await engine("add", "billing", "--workflow", "old/invoice");
  const collided = (await engine("tools", "billing")).out;
  expect(collided).toContain("Collision: /invoice is billing/invoice and old/invoice; ");
  expect(collided).toContain("No tools: it offers no workflow that you may run; see why with: ");
});

test("SCLI-1 a service is deleted after a question, or at once where that is said", async () => {
  const { engine, raw } = await host();
  await engine("create", "billing");
  expect(await engine("delete", "billing")).toMatchObject({ code: 2, out: "" });
  const no = await raw(["service", "delete", "billing"], { confirm: async () => false });
  expect(no).toMatchObject({ code: 1, err: "Nothing was deleted.\n" });
  const deleted = await engine("delete", "billing", "--yes", "--format", "json");
  expect(JSON.parse(deleted.out)).toEqual({ name: "billing", deleted: true });
  expect(await engine("show", "billing")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: no service billing/),
  });
});

test.each([
  [["create", "Bad"], "1 to 64 small letters"],
  [["create", "a", "--namespace", "a/b"], "Expected a namespace"],
  [["create", "a", "--workflow", "a/b/c"], "Expected NAME or NAMESPACE/NAME"],
  [["add", "a"], "say what to add"],
  [["remove", "a"], "say what to remove"],
  [["exclude", "a"], "missing required argument 'ref'"],
  [["update", "a"], "say what to change"],
  [["update", "a", "--mcp", "--no-mcp"], "not both"],
  [["show"], "missing required argument 'name'"],
  [["tools"], "missing required argument 'name'"],
])("SCLI-1 a usage error makes no request and ends with 2: %j", async (args, said) => {
  const { engine } = await host();
  expect(await engine(...args)).toMatchObject({
    ...{ code: 2, out: "" },
    err: expect.stringContaining(said),
  });
});
