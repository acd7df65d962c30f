import { EngineError, notFound } from "@engine/contract";
import type { ProgressNotification } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";
import { createStatelessEndpoint } from "./stateless-endpoint.ts";
import { REVISIONS } from "./testing/connect-client.ts";
import { endpointOf } from "./testing/endpoint.ts";
import { Loopback } from "./testing/loopback.ts";
import { runOf } from "./testing/run.ts";
import { ScriptedCalls } from "./testing/scripted-calls.ts";

const serve = () => Loopback.serve(createStatelessEndpoint);
const invoice = endpointOf("billing/invoice", {
  description: "Writes an invoice.",
  input_schema: { type: "object", properties: { total: { type: "number" } } },
  output_schema: { type: "object", properties: { id: { type: "string" } } },
});

test.each(REVISIONS)(
  "MCP-14 MCP-15 a client of %s learns what the service is",
  async (revision) => {
    await using shop = await serve();
    const client = await shop.client(revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toEqual({ name: "engine-service-shop", version: "1.2.3" });
    expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true } });
    expect(client.getInstructions()).toMatch(/^Sells things\.\n\n.*resume_<name>/s);
  },
);

test.each(["2025-06-18", "2025-11-25"])("MCP-14 revision %s is spoken", async (revision) => {
  await using shop = await serve();
  const params = {
    protocolVersion: revision,
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  };
  const answer = await shop.post({ id: 1, method: "initialize", params });
  expect(await answer.text()).toContain(`"protocolVersion":"${revision}"`);
  expect(answer.headers.get("mcp-session-id")).toBeNull();
});

test.each(REVISIONS)("MCP-1 MCP-4 a client of %s lists the tools", async (revision) => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice, endpointOf("a/hidden", { can_run: false })];
  const { tools } = await (await shop.client(revision)).listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "invoice",
    "invoice_async",
    "resume_invoice",
    "resume_invoice_async",
    "status_invoice",
  ]);
  expect(tools[0]).toMatchObject({
    description: expect.stringContaining("Writes an invoice."),
    inputSchema: invoice.input_schema,
    _meta: { "engine/ref": "billing/invoice", "engine/kind": "run" },
  });
});

test.each(REVISIONS)(
  "MCP-8 a client of %s runs a workflow with its own credential",
  async (rev) => {
    await using shop = await serve();
    const ada = new ScriptedCalls([invoice]);
    shop.callers.set("ada", ada);
    ada.stream.state("COMPLETED", { output: { id: "i1" } });
    const client = await shop.client(rev, { token: "ada" });
    const result = await client.callTool({
      name: "invoice",
      arguments: { total: 7 },
      _meta: { "engine/idempotency_key": "k1" },
    });
    expect(result).toMatchObject({
      content: [{ type: "text", text: '{"id":"i1"}' }],
      structuredContent: { execution_id: "e1", state: "COMPLETED", output: { id: "i1" } },
    });
    expect(ada.asked).toEqual([
      {
        request: "follow run",
        kind: "run",
        ref: "billing/invoice",
        input: { total: 7 },
        idempotency_key: "k1",
      },
    ]);
    expect(shop.calls.asked).toEqual([]);
    expect(shop.errors).toEqual([]);
  },
);

test.each(REVISIONS)("MCP-9 a refusal reaches a client of %s as a tool error", async (revision) => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  shop.calls.refusal = new EngineError("permission_denied", "you may not run it", {
    details: { missing_permissions: ["workflow:billing:invoice:run"] },
  });
  const client = await shop.client(revision);
  expect(await client.callTool({ name: "invoice" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("workflow:billing:invoice:run") }],
    structuredContent: { error: { code: "permission_denied" } },
  });
});

test("MCP-9 a defect is a tool error that tells nothing of the inside", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  const defect = new TypeError("secret is undefined");
  shop.calls.stream.send(defect);
  const client = await shop.client("2026-07-28");
  const result = await client.callTool({ name: "invoice" });
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "internal" } },
  });
  expect(JSON.stringify(result)).not.toContain("secret");
  expect(shop.errors).toEqual([defect]);
});

test.each(REVISIONS)("MCP-9 MCP-18 in %s an unknown tool is -32602", async (revision) => {
  await using shop = await serve();
  const client = await shop.client(revision);
  await expect(client.callTool({ name: "nothing" })).rejects.toMatchObject({ code: -32602 });
  // It could have been registered a moment ago.
  expect(shop.calls.lists).toEqual([{}, { fresh: true }]);
});

test("MCP-18 a call that meets a 404 has the list read again, and a tool that is gone is unknown", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  shop.calls.refusal = notFound("execution", "e9");
  const client = await shop.client("2026-07-28");
  const status = { name: "status_invoice", arguments: { execution_id: "e9" } };
  expect(await client.callTool(status)).toMatchObject({ isError: true });
  expect(shop.calls.lists).toEqual([{}]);
  shop.calls.refusal = notFound("workflow", "invoice");
  expect(await client.callTool(status)).toMatchObject({ isError: true });
  expect(shop.calls.lists).toEqual([{}, {}, { fresh: true }]);
  const list = shop.calls.list.bind(shop.calls);
  shop.calls.list = (options) => {
    if (options?.fresh) shop.calls.endpoints = [];
    return list(options);
  };
  await expect(client.callTool(status)).rejects.toMatchObject({ code: -32602 });
});

test.each(REVISIONS)(
  "MCP-19 in %s a refused list is -32000 with the engine's error",
  async (rev) => {
    await using shop = await serve();
    const client = await shop.client(rev);
    const details = { missing_permissions: ["service:shop:read"] };
    shop.calls.listRefusal = new EngineError("permission_denied", "you may not", { details });
    const refused = {
      code: -32000,
      data: { code: "permission_denied", message: "you may not", details },
    };
    await expect(client.listTools()).rejects.toMatchObject(refused);
    await expect(client.callTool({ name: "invoice" })).rejects.toMatchObject(refused);
  },
);

test("MCP-19 lists of 2026-07-28 say how long they may be kept, and whether for all", async () => {
  await using shop = await serve();
  shop.callers.set("ada", new ScriptedCalls([invoice]));
  const open = await (await shop.client("2026-07-28")).listTools();
  expect(open).toMatchObject({ ttlMs: 1000, cacheScope: "public" });
  const own = await (await shop.client("2026-07-28", { token: "ada" })).listTools();
  expect(own).toMatchObject({ ttlMs: 1000, cacheScope: "private" });
  const older = await (await shop.client("2025-11-25")).listTools();
  expect(older).not.toHaveProperty("ttlMs");
});

test.each(REVISIONS)(
  "MCP-12 a client of %s that asks for progress is told of it",
  async (revision) => {
    await using shop = await serve();
    shop.calls.endpoints = [invoice];
    const { stream } = shop.calls;
    const told: Partial<ProgressNotification["params"]>[] = [];
    const client = await shop.client(revision);
    const onprogress = (note: (typeof told)[number]) => {
      if (told.push(note) === 2) stream.state("COMPLETED", { output: { id: "i1" } });
    };
    stream.state("RUNNING");
    stream.send({ kind: "progress", value: { progress: 50, total: 100, message: "half" } });
    stream.send({ kind: "progress", value: "nearly" });
    const result = await client.callTool({ name: "invoice" }, { onprogress });
    expect(result.structuredContent).toMatchObject({ output: { id: "i1" } });
    expect(told).toEqual([
      { progress: 50, total: 100, message: "half" },
      { progress: 51, message: "nearly" },
    ]);
  },
);

test.each(REVISIONS)(
  "MCP-11 in %s a run that takes long is answered with its id",
  async (revision) => {
    await using shop = await serve();
    shop.calls.endpoints = [invoice];
    shop.calls.stream.state("RUNNING");
    const client = await shop.client(revision);
    const result = client.callTool({ name: "invoice" });
    await vi.waitFor(() => expect(shop.calls.asked).toHaveLength(1));
    await vi.waitFor(() => expect(shop.world.waiting).toBe(1));
    shop.world.pass(50_000);
    expect(await result).toMatchObject({
      content: [{ text: expect.stringContaining("status_invoice") }],
    });
  },
);

test.each(REVISIONS)(
  "MCP-13 in %s a client that goes away ends only the wait",
  async (revision) => {
    await using shop = await serve();
    shop.calls.endpoints = [invoice];
    shop.calls.stream.state("RUNNING");
    const client = await shop.client(revision);
    const result = client.callTool({ name: "invoice" }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(shop.calls.asked).toHaveLength(1));
    await client.close();
    await shop.calls.stream.left;
    await result;
    expect(shop.calls.asked).toHaveLength(1);
    await vi.waitFor(() => expect(shop.world.waiting).toBe(0));
  },
);

test("MCP-13 MCP-17 a notification that cancels reaches no call: nothing says whose request it means", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  const { asked, stream } = shop.calls;
  stream.state("RUNNING");
  const called = shop.post({ id: 7, method: "tools/call", params: { name: "invoice" } });
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  const params = { requestId: 7 };
  const cancelled = await shop.post({ method: "notifications/cancelled", params });
  expect(cancelled.status).toBe(202);
  stream.state("COMPLETED", { output: { id: "i1" } });
  expect(await (await called).text()).toContain('"state":"COMPLETED"');
  expect(asked).toHaveLength(1);
});

test.each(["GET", "DELETE"])("MCP-17 %s is 405: there are no sessions", async (method) => {
  await using shop = await serve();
  const headers = { accept: "text/event-stream", "mcp-protocol-version": "2025-11-25" };
  const answer = await fetch(shop.url, { method, headers });
  expect(answer.status).toBe(405);
});

test("MCP-18 who listens is told once of each change of the tools, and of nothing else", async () => {
  await using shop = await serve();
  shop.endpoint.update([invoice]);
  const told = vi.fn();
  await shop.client("2026-07-28", { changes: told });
  await vi.waitFor(() => expect(shop.endpoint.listeners).toBe(1));
  shop.endpoint.update([{ ...invoice, version: 2, can_run: false }]);
  shop.endpoint.update([{ ...invoice, description: "Writes an invoice, and sends it." }]);
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
  shop.endpoint.update([]);
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2));
  shop.endpoint.update([]);
  await (await shop.client("2026-07-28")).listTools();
  expect(told).toHaveBeenCalledTimes(2);
});

test("MCP-17 200 subscriptions whose readers leave are forgotten", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  const leave = new AbortController();
  const params = { notifications: { toolsListChanged: true }, _meta: ENVELOPE };
  const method = "subscriptions/listen";
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
  };
  const asked = { method: "POST", headers, body, signal: leave.signal };
  const opened = await Promise.all(Array.from({ length: 200 }, () => fetch(shop.url, asked)));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  await vi.waitFor(() => expect(shop.endpoint.listeners).toBe(200));
  leave.abort();
  await vi.waitFor(() => expect(shop.endpoint.listeners).toBe(0));
});

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

test("MCP-20 closing ends subscriptions", async () => {
  await using shop = await serve();
  const client = await shop.client("2026-07-28", { changes: () => {} });
  await vi.waitFor(() => expect(shop.endpoint.listeners).toBe(1));
  await shop.endpoint.close();
  expect(await client.autoOpenedSubscription?.closed).toBe("graceful");
  expect(shop.endpoint.listeners).toBe(0);
});

test.each(REVISIONS)(
  "MCP-17 in %s a body that was read already is served alike",
  async (revision) => {
    await using shop = await serve();
    shop.readsBodies = true;
    shop.calls.endpoints = [invoice];
    shop.calls.answer = runOf({ state: "RUNNING" });
    const client = await shop.client(revision);
    expect((await client.listTools()).tools).toHaveLength(5);
    expect(await client.callTool({ name: "invoice_async" })).toMatchObject({
      structuredContent: { state: "RUNNING" },
    });
  },
);

test("MCP-17 a message that is too large is refused unread", async () => {
  await using shop = await serve();
  const answer = await shop.post({ id: 1, method: "ping", params: { text: "x".repeat(10_000) } });
  expect(answer.status).toBe(413);
});
