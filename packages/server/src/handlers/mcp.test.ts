import { setTimeout as sleep } from "node:timers/promises";
import { REVISIONS } from "@engine/mcp/test-client";
import { expect, test, vi } from "vitest";
import { accountOf } from "../auth/testing/asking.ts";
import { AUDIENCE, ISSUER, Provider } from "../auth/testing/provider.ts";
import { CENTS, mcpServer, source } from "./testing/mcp-server.ts";

const OFF = { auth: { enabled: false } };
const KEYED = { security: { encryption: { key: Buffer.alloc(32, 7).toString("base64") } } };
const NO_LUCK = {
  ...{ type: "Error", code: null, message: "no luck", retryable: false, details: null },
  ...{ cause: null, attempts: 1, task_call_id: null },
};

const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join("\n");
const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: unknown } };
  return [response.status, error.code];
};
const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

test.each(REVISIONS)(
  "MCP-14 MCP-17 SVC-17 MCP-9 a client of %s lists the tools of a service and calls one",
  async (revision) => {
    const t = await mcpServer(OFF);
    const client = await t.client(revision);
    expect(client.getServerVersion()).toMatchObject({ name: "engine-service-shop", version: "0" });
    expect(namesOf(await client.listTools())).toEqual([
      ...["invoice", "invoice_async", "resume_invoice", "resume_invoice_async", "status_invoice"],
    ]);
    const worker = await t.worker();
    const calling = client.callTool({ name: "invoice", arguments: { cents: 50 } });
    const assigned = await worker.next("assign");
    expect(assigned.input).toEqual({ cents: 50 });
    await worker.completed(assigned, { total: 50 });
    expect(await calling).toMatchObject({
      content: [{ type: "text", text: '{"total":50}' }],
      structuredContent: {
        ...{ execution_id: assigned.execution_id, state: "COMPLETED", output: { total: 50 } },
      },
    });
    // The same execution by the tool that tells of it.
    const { execution_id } = assigned;
    const status = await client.callTool({ name: "status_invoice", arguments: { execution_id } });
    expect(textOf(status)).toBe('COMPLETED: {"total":50}');
  },
);

test("MCP-5 MCP-9 MCP-10 what goes wrong is a result that says what: input, failure, output, an execution that is not there", async () => {
  const t = await mcpServer(OFF);
  const client = await t.client("2026-07-28");
  const call = (name: string, given: object) =>
    client.callTool({ name, arguments: given as Record<string, unknown> });
  const wrong = await call("invoice", { cents: "many" });
  expect([wrong.isError, textOf(wrong)]).toEqual([
    true,
    expect.stringMatching(/^invalid_input: .*\n- body\.cents: expected a number, got a string$/),
  ]);
  expect(await call("status_invoice", { execution_id: "none" })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "not_found", details: { resource: "execution" } } },
  });
  const worker = await t.worker();
  const failing = call("invoice", { cents: 1 });
  const first = await worker.next("assign");
  await worker.started(first);
  await worker.checkpoint(first, 3, "FAILED", [worker.event(first, "WORKFLOW_FAILED", NO_LUCK)]);
  expect(await failing).toMatchObject({ isError: true, content: [{ text: "no luck" }] });

  const violating = call("invoice", { cents: 1 });
  await worker.completed(await worker.next("assign"), { total: "much" });
  const violation = await violating.catch((error: unknown) => error);
  // The official client checks the result itself; whatever it shows, it is told the place.
  expect(textOf(violation)).toContain("- output.total: expected an integer, got a string");
});

test("MCP-9 MCP-11 a pause tells how it goes on, and a call that takes too long how to ask", async () => {
  const t = await mcpServer({ ...OFF, config: { services: { mcp_sync_timeout: 0.2 } } });
  const client = await t.client("2025-11-25");
  const late = await client.callTool({ name: "invoice", arguments: { cents: 1 } });
  expect(textOf(late)).toMatch(/^Execution \S+ is CREATED\. .*call `status_invoice`/);
  const worker = await t.worker();
  await worker.paused(await worker.next("assign"));
  const { execution_id } = late.structuredContent as { execution_id: string };
  const asked = await client.callTool({ name: "status_invoice", arguments: { execution_id } });
  expect(textOf(asked)).toContain("call `resume_invoice` with execution_id");
  const resuming = client.callTool({
    name: "resume_invoice",
    arguments: { execution_id, input: "yes" },
  });
  const resumed = await worker.next("assign");
  await worker.completed(resumed, { total: 7 });
  expect(textOf(await resuming)).toBe('{"total":7}');
});

test("MCP-18 who subscribes hears once of each change of the tools, and of none that is none", async () => {
  const t = await mcpServer(OFF);
  const changes = vi.fn();
  const client = await t.client("2026-07-28", { changes });
  await vi.waitFor(() => expect(client.getServerCapabilities()).toBeDefined());
  // Until the subscription stands, nobody is told.
  await sleep(200);
  await t.as("POST", "/workflows", { source: source("refund") });
  await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 2_000);
  expect(namesOf(await client.listTools())).toContain("refund");
  // No tool is another by these.
  await t.as("PUT", "/services/shop", { add_workflows: ["shop/refund"] });
  await t.as("POST", "/workflows", { source: `${source("refund")}// A note.\n` });
  await t.as("PUT", "/services/shop", { add_exclusions: ["shop/refund"] });
  await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(2), 2_000);
  await sleep(200);
  expect(changes).toHaveBeenCalledTimes(2);
  const gone = client.callTool({ name: "refund", arguments: {} });
  await expect(gone).rejects.toMatchObject({ code: -32_602 });
});

test("MCP-20 tools switched off end subscriptions and are 404 at once, and are there again when switched on", async () => {
  const t = await mcpServer(OFF);
  const closed = vi.fn();
  const subscribed = await t.post(
    {
      ...{ jsonrpc: "2.0", id: 1, method: "subscriptions/listen" },
      params: { notifications: { toolsListChanged: true }, _meta: ENVELOPE },
    },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
  );
  expect([subscribed.status, subscribed.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("text/event-stream"),
  ]);
  void subscribed.text().finally(closed);
  await t.as("PUT", "/services/shop", { mcp_enabled: false });
  await vi.waitFor(() => expect(closed).toHaveBeenCalled(), 3_000);
  const off = await t.post({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(await codeOf(off)).toEqual([404, "mcp_disabled"]);
  expect((await t.as("GET", "/services/shop/mcp/tools")).body.error.code).toBe("mcp_disabled");
  await t.as("PUT", "/services/shop", { mcp_enabled: true });
  const client = await t.client("2025-11-25");
  expect(namesOf(await client.listTools())).toHaveLength(5);
});

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

test("SVC-15 MCP-3 the list of tools for people: five for each endpoint, with where clients connect", async () => {
  const t = await mcpServer(OFF);
  const { port } = t.server;
  expect((await t.as("GET", "/services/shop/mcp/tools")).body).toMatchObject({
    ...{ service: "shop", mcp_enabled: true, tool_count: 5, collisions: [] },
    connection_url: `http://127.0.0.1:${port}/services/shop/mcp`,
    tools: [{ name: "invoice", kind: "run", ref: "shop/invoice" }, {}, {}, {}, { kind: "status" }],
  });
  await t.as("POST", "/services", { name: "empty", mcp_enabled: true });
  const empty = (await t.as("GET", "/services/empty/mcp/tools")).body;
  expect([empty.tool_count, empty.tools]).toEqual([0, []]);
  const none = (await t.as("GET", "/services/none/mcp/tools")).body.error;
  expect([none.code, none.details.resource]).toEqual(["not_found", "service"]);
});

test("SVC-60 the address of tools is the public one where one is set", async () => {
  const public_url = "https://engine.example/below/";
  const t = await mcpServer({ ...OFF, config: { services: { public_url } } });
  const { connection_url } = (await t.as("GET", "/services/shop/mcp/tools")).body;
  expect(connection_url).toBe("https://engine.example/below/services/shop/mcp");
});

test("MCP-17 other methods are 405, broken messages are errors of the protocol, and the engine serves on", async () => {
  const t = await mcpServer({ ...OFF, config: { executions: { max_value_bytes: 1_024 } } });
  for (const method of ["GET", "DELETE"]) {
    const response = await fetch(`${t.server.url}/services/shop/mcp`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  }
  expect(await codeOf(await t.post("{"))).toEqual([400, -32_700]);
  expect(await codeOf(await t.post("[]"))).toEqual([400, -32_600]);
  expect(await codeOf(await t.post({ jsonrpc: "2.0" }))).toEqual([400, -32_600]);
  expect(await codeOf(await t.post({ x: "x".repeat(5_000) }))).toEqual([413, "payload_too_large"]);
  const page = await t.post({}, { origin: "https://elsewhere.example" });
  expect(await codeOf(page)).toEqual([403, "origin_denied"]);
  const client = await t.client("2025-11-25");
  expect(namesOf(await client.listTools())).toHaveLength(5);
});

test("RED-3 MCP-15 what the instructions say of a service, and the refusal of a tool that is none, hold no secret", async () => {
  const t = await mcpServer({ ...OFF, config: KEYED });
  await t.as("PUT", "/services/shop", { description: "Sells with hunter2-hunter2." });
  const before = await t.client("2025-11-25");
  expect(before.getInstructions()).toContain("hunter2-hunter2");
  await t.as("PUT", "/admin/secrets/password", { value: "hunter2-hunter2" });
  for (const revision of REVISIONS) {
    const client = await t.client(revision);
    expect(client.getInstructions()).toMatch(/^Sells with \*\*\*REDACTED\*\*\*\./);
    const unknown = client.callTool({ name: "hunter2-hunter2" });
    await expect(unknown).rejects.toMatchObject({
      code: -32_602,
      message: expect.not.stringContaining("hunter2"),
    });
  }
});

test("MCP-13 a call that is only left goes on", async () => {
  const t = await mcpServer(OFF);
  const client = await t.client("2026-07-28");
  const worker = await t.worker();
  const leave = new AbortController();
  const left = client.callTool(
    { name: "invoice", arguments: { cents: 1 } },
    { signal: leave.signal },
  );
  left.catch(() => undefined);
  const first = await worker.next("assign");
  await worker.started(first);
  leave.abort();
  await sleep(100);
  const { execution_id } = first;
  const path = `/services/shop/invoice/status/${execution_id}`;
  expect((await t.as("GET", path)).body.state).toBe("RUNNING");
});

test("MCP-8 MCP-19 SVC-17 each call is made with the caller's own rights, and who may run nothing is shown nothing", async () => {
  const t = await mcpServer({});
  const account = async (subject: string, ...permissions: readonly string[]) => {
    await t.as("POST", "/admin/roles", { name: subject, permissions });
    return accountOf(t.as, subject, [subject]);
  };
  const reads = await t.client("2025-11-25", {
    token: await account("reads", "service:shop:read"),
  });
  expect((await reads.listTools()).tools).toEqual([]);
  expect(await reads.callTool({ name: "invoice", arguments: { cents: 1 } })).toMatchObject({
    isError: true,
    structuredContent: {
      error: {
        code: "permission_denied",
        details: { missing_permissions: ["workflow:shop:invoice:run"] },
      },
    },
  });
  const runs = await account("runs", "service:shop:read", "workflow:shop:invoice:run");
  const runner = await t.client("2026-07-28", { token: runs });
  expect(namesOf(await runner.listTools())).toHaveLength(5);
  const accepted = await runner.callTool({ name: "invoice_async", arguments: { cents: 1 } });
  const { execution_id } = accepted.structuredContent as { execution_id: string };
  const record = (await t.as("GET", `/executions/${execution_id}`)).body;
  expect(record).toMatchObject({ started_by: { subject: "runs" }, run_as: { subject: "runs" } });

  const nothing = await account("nothing", "workflow:shop:invoice:run");
  const refused = await t.post({ jsonrpc: "2.0", id: 1, method: "ping" }, {}, nothing);
  expect(refused.status).toBe(403);
  const nobody = await t.post({}, {}, null);
  expect([nobody.status, nobody.headers.get("www-authenticate")]).toEqual([
    401,
    'Bearer realm="engine"',
  ]);
});

test("MCP-17 AUTH-58 whoever may not ask any more loses an open subscription", async () => {
  const t = await mcpServer({});
  await t.as("POST", "/admin/roles", { name: "reads", permissions: ["service:shop:read"] });
  const key = await accountOf(t.as, "reader", ["reads"]);
  const stream = await t.post(
    {
      ...{ jsonrpc: "2.0", id: 1, method: "subscriptions/listen" },
      params: { notifications: { toolsListChanged: true }, _meta: ENVELOPE },
    },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
    key,
  );
  expect(stream.status).toBe(200);
  const closed = vi.fn();
  stream.text().then(closed, closed);
  await t.as("POST", "/admin/principals/reader/disable");
  await vi.waitFor(() => expect(closed).toHaveBeenCalled(), 6_000);
}, 20_000);

test("MCA-9 with an OpenID provider the 401 leads to where tokens come from, and a token of it is taken", async () => {
  const provider = new Provider();
  const oidc = { enabled: true, issuer: ISSUER, audience: AUDIENCE };
  const t = await mcpServer({
    auth: { oidc: { ...oidc, default_user_roles: ["operator"] }, api_keys: { enabled: true } },
    fetch: provider.fetch,
    config: { services: { public_url: "https://engine.example" } },
  });
  const at = "https://engine.example/.well-known/oauth-protected-resource/services/shop/mcp";
  for (const [token, error] of [
    [null, ""],
    [provider.token({ aud: "others" }), ', error="invalid_token"'],
  ] as const) {
    const refused = await t.post({}, {}, token);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer realm="engine"${error}, resource_metadata="${at}"`,
    ]);
  }
  expect((await t.ask(new URL(at).pathname)).body).toEqual({
    resource: "https://engine.example/services/shop/mcp",
    authorization_servers: [ISSUER],
    bearer_methods_supported: ["header"],
    resource_name: "shop",
  });
  const client = await t.client("2025-11-25", { token: provider.token() });
  expect(namesOf(await client.listTools())).toHaveLength(5);
  // No other route leads there.
  expect((await t.ask("/services")).headers.get("www-authenticate")).toBe('Bearer realm="engine"');
});

test("MCP-17 a server that stops tells who waits how to ask later, and ends subscriptions", async () => {
  const t = await mcpServer(OFF);
  const client = await t.client("2025-11-25");
  const worker = await t.worker();
  const calling = client.callTool({ name: "invoice", arguments: { cents: 1 } });
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.server.close();
  expect(textOf(await calling)).toMatch(/^Execution \S+ is RUNNING\. .*call `status_invoice`/);
});

test("MCP-6 a tool takes what its workflow takes, and what was registered since is called as it is now", async () => {
  const t = await mcpServer(OFF);
  const client = await t.client("2025-11-25");
  await t.as("POST", "/workflows", { source: source("invoice", CENTS.replace("cents", "euros")) });
  const [tool] = (await client.listTools()).tools;
  expect(tool?.inputSchema).toMatchObject({ properties: { euros: { type: "number" } } });
});
