import type { OutgoingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { EngineError } from "@engine/contract";
import { REVISIONS } from "@engine/mcp/test-client";
import { expect, test, vi } from "vitest";
import { FakeEngine } from "./testing/fake-engine.ts";
import { ManualTiming } from "./testing/manual-timing.ts";
import { resolvedService } from "./testing/resolved-service.ts";
import { TEST_TOOLS, TestGateway } from "./testing/test-gateway.ts";
import { completes, names, textOf, toolClient } from "./testing/tool-client.ts";

const ON = { mcp_enabled: true };

async function engineWith(...workflows: readonly string[]): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  engine.service = resolvedService(workflows, ON);
  engine.answer = completes;
  return engine;
}

function refusal(code: "permission_denied" | "unauthenticated"): FakeEngine["answerList"] {
  const error = new EngineError(code, "no");
  return (_, response) => {
    response.writeHead(error.status, { "content-type": "application/json" });
    response.end(JSON.stringify(error.toBody()));
  };
}

test.each(REVISIONS)(
  "GW-7 MCP-14 MCP-12 a client of %s lists and calls the tools at /mcp, and hears of progress",
  async (revision) => {
    await using engine = await engineWith("invoice");
    await using gateway = await TestGateway.start(engine);
    expect(gateway.started).toMatchObject({ mcp_enabled: true, mcp_url: `${gateway.url}/mcp` });
    const client = await toolClient(gateway, revision);
    expect(client.getServerVersion()).toEqual({ name: "engine-service-billing", version: "1.2.3" });
    expect(names(await client.listTools())).toEqual([
      ...["invoice", "invoice_async", "resume_invoice", "resume_invoice_async", "status_invoice"],
    ]);
    const onprogress = vi.fn();
    const asked = { name: "invoice", arguments: { input: '{"cents":5}' } };
    const result = await client.callTool(asked, { onprogress });
    expect(textOf(result)).toBe('{"cents":5}');
    expect(onprogress).toHaveBeenCalledWith({ progress: 1, message: "half" });
    expect(engine.received).toMatchObject([
      { method: "POST", url: "/services/billing/invoice/stream" },
    ]);
    expect(engine.received[0]?.headers).toMatchObject({ "x-forwarded-for": "127.0.0.1" });
  },
);

test("RIN-1 RIN-2 a routing input of the client's request goes with the run of its tool, as often as it came", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine);
  const message = {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: {
      name: "invoice",
      arguments: { input: '{"cents":5}' },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  };
  for (const given of ['{"dataset":"berlin"}', ["{}", "{}"]]) {
    await gateway.ask("POST /mcp", {
      headers: {
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" },
        ...{ "mcp-name": "invoice", "x-engine-routing-input": given },
      },
      body: JSON.stringify(message),
    });
    const { url, headersDistinct } = engine.received.at(-1) ?? expect.unreachable();
    expect(url).toBe("/services/billing/invoice/stream");
    expect(headersDistinct["x-engine-routing-input"]).toEqual([given].flat());
  }
});

test("MCP-8 MCP-19 GW-11 every request has the caller's own token, and a list is remembered for each of them alone", async () => {
  await using engine = await engineWith("invoice");
  const token = async () => "the-gateways-own";
  await using gateway = await TestGateway.start(engine, { token });
  const ann = await toolClient(gateway, "2025-11-25", { token: "anns" });
  const bob = await toolClient(gateway, "2025-11-25", { token: "bobs" });
  const nobody = await toolClient(gateway, "2026-07-28");
  for (const client of [ann, ann, bob, nobody, nobody]) await client.listTools();
  const asked = engine.lists.map(({ headers }) => headers.authorization);
  expect(asked).toEqual(["Bearer the-gateways-own", "Bearer anns", "Bearer bobs", undefined]);
  await bob.callTool({ name: "invoice", arguments: {} });
  expect(engine.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer bobs"]);
  // Whoever comes later may have lost it.
  engine.answerList = refusal("permission_denied");
  const eve = await toolClient(gateway, "2025-11-25", { token: "eves" });
  await expect(eve.listTools()).rejects.toMatchObject({
    code: -32_000,
    data: { code: "permission_denied", message: "no" },
  });
});

test("MCP-16 a session is opened with an id, ended by DELETE, and unknown ever after", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine);
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const initialize = {
    ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
    params: {
      ...{ protocolVersion: "2025-11-25", capabilities: {} },
      clientInfo: { name: "by hand", version: "1" },
    },
  };
  const begun = await gateway.ask("POST /mcp", { headers, body: JSON.stringify(initialize) });
  const id = String(begun.headers["mcp-session-id"]);
  expect([begun.status, id]).toEqual([200, expect.stringMatching(/^[\x21-\x7e]{16,}$/)]);
  const ping = { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) };
  const of = { headers: { ...headers, "mcp-session-id": id } };
  expect((await gateway.ask("POST /mcp", { ...of, ...ping })).status).toBe(200);
  expect((await gateway.ask("POST /mcp", { headers, ...ping })).status).toBe(400);
  const stream = await gateway.open("GET /mcp", of);
  expect(stream.headers["content-type"]).toContain("text/event-stream");
  expect((await gateway.ask("DELETE /mcp", of)).status).toBe(200);
  expect((await gateway.ask("POST /mcp", { ...of, ...ping })).status).toBe(404);
  expect((await gateway.ask("PUT /mcp", of)).headers["allow"]).toBe("DELETE, GET, POST");
});

test.each(REVISIONS)(
  "MCP-18 an open stream of %s is told once of tools that have changed, at the next refresh, and a removed one is unknown",
  async (revision) => {
    await using engine = await engineWith("invoice");
    await using gateway = await TestGateway.start(engine, { cacheTtl: 0.2 });
    const changes = vi.fn();
    const client = await toolClient(gateway, revision, { changes });
    expect(names(await client.listTools())).toHaveLength(5);
    await sleep(200);
    engine.service = resolvedService(["invoice", "refund"], ON);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 5_000);
    await vi.waitFor(
      async () => expect(names(await client.listTools())).toContain("refund"),
      2_000,
    );
    engine.service = resolvedService(["refund"], ON);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(2), 5_000);
    await vi.waitFor(async () => {
      const call = client.callTool({ name: "invoice", arguments: {} });
      await expect(call).rejects.toMatchObject({ code: -32_602 });
    }, 2_000);
    expect(changes).toHaveBeenCalledTimes(2);
  },
  20_000,
);

test("MCP-18 a tool that was registered just now is found by its call, and whoever listens is told", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine);
  const changes = vi.fn();
  const client = await toolClient(gateway, "2025-11-25", { changes });
  await client.listTools();
  await sleep(100);
  engine.service = resolvedService(["invoice", "refund"], ON);
  const called = await client.callTool({ name: "refund", arguments: { input: "all" } });
  expect(textOf(called)).toBe("all");
  await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1));
});

test("MCP-18 GW-18 many calls of tools that nobody knows make few fetches", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine);
  const client = await toolClient(gateway, "2025-11-25");
  await client.listTools();
  const before = engine.lists.length;
  const began = performance.now();
  const calls = Array.from({ length: 60 }, (_, i) =>
    client.callTool({ name: `unknown_${i}`, arguments: {} }),
  );
  for (const call of await Promise.allSettled(calls)) {
    expect(call).toMatchObject({ status: "rejected", reason: { code: -32_602 } });
  }
  // One for the caller and one for whoever listens, a quarter of a second apart.
  const fetches = 2 + Math.floor((performance.now() - began) / 250);
  expect(engine.lists.length - before).toBeLessThanOrEqual(2 * fetches);
});

test("MCP-20 GW-21 switched off on the server, sessions end and /mcp is 404; switched on it is there again", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine, { cacheTtl: 0 });
  const client = await toolClient(gateway, "2025-11-25");
  await client.listTools();
  engine.service = resolvedService(["invoice"]);
  const off = await gateway.ask("POST /mcp", { body: "{}" });
  expect(off).toMatchObject({ status: 404, json: { error: { code: "mcp_disabled" } } });
  expect((await gateway.ask("GET /health")).json).toMatchObject({ mcp_enabled: false });
  engine.service = resolvedService(["invoice"], ON);
  // That session is gone with all others.
  await expect(client.listTools()).rejects.toThrow();
  const again = await toolClient(gateway, "2025-11-25");
  expect(names(await again.listTools())).toHaveLength(5);
});

test("GW-21 a flag goes before what is stored, both ways", async () => {
  await using engine = await engineWith("invoice");
  await using off = await TestGateway.start(engine, { mcp: false });
  expect(off.started).toMatchObject({ mcp_enabled: false, mcp_url: null });
  expect((await off.ask("POST /mcp", { body: "{}" })).status).toBe(404);
  engine.service = resolvedService(["invoice"]);
  await using on = await TestGateway.start(engine, { mcp: true });
  const client = await toolClient(on, "2026-07-28");
  expect(names(await client.listTools())).toHaveLength(5);
});

test("MCP-9 GW-22 while the server is away calls say so, of no address, and go on when it is back", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine);
  const client = await toolClient(gateway, "2025-11-25");
  await client.listTools();
  const { url } = engine;
  await engine.stop();
  const away = await client.callTool({ name: "invoice", arguments: {} });
  expect([away.isError, textOf(away)]).toEqual([
    true,
    expect.stringMatching(/^upstream_unreachable: /),
  ]);
  expect(JSON.stringify(away)).not.toContain(new URL(url).port);
  await engine.listen();
  expect(textOf(await client.callTool({ name: "invoice", arguments: { input: "x" } }))).toBe("x");
});

test("MCP-19 before the server was ever reached MCP is neither on nor off", async () => {
  await using gateway = await TestGateway.start(["http://127.0.0.1:1"]);
  const asked = await gateway.ask("POST /mcp", { body: "{}" });
  expect(asked).toMatchObject({ status: 502, json: { error: { code: "upstream_unreachable" } } });
  await using engine = await FakeEngine.start();
  engine.service = undefined;
  await using none = await TestGateway.start(engine);
  const missing = await none.ask("POST /mcp", { body: "{}" });
  expect(missing).toMatchObject({
    status: 404,
    json: { error: { details: { resource: "service" } } },
  });
});

test("GW-23 told to stop it ends streams and sessions at once", async () => {
  await using engine = await engineWith("invoice");
  // The time for requests that are running never comes: what does not end by itself is waited for.
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const client = await toolClient(gateway, "2025-11-25", { changes: () => {} });
  await client.listTools();
  await sleep(100);
  await gateway.gateway.drain();
  await expect(client.listTools()).rejects.toThrow();
});

test("GW-15 MCP-17 a page of elsewhere is refused, one of this machine may read the session's id", async () => {
  await using engine = await engineWith("invoice");
  await using gateway = await TestGateway.start(engine);
  const from = (origin: string) => gateway.ask("POST /mcp", { headers: { origin }, body: "{}" });
  expect((await from("https://elsewhere.example")).status).toBe(403);
  const page = await from("http://localhost:3000");
  expect(page.headers).toMatchObject({
    "access-control-allow-origin": "http://localhost:3000",
    "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
  });
});

test("NET-1 MCP-17 a message is bounded here as on the server: in length, depth and number of values", async () => {
  await using engine = await engineWith("invoice");
  const tools = { ...TEST_TOOLS, maxValueBytes: 2 * 1024 * 1024 };
  await using gateway = await TestGateway.start(engine, { tools });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const codeOf = async (body: string, more: OutgoingHttpHeaders = {}) => {
    const sent = { headers: { ...headers, ...more }, body };
    const { status, json } = await gateway.ask("POST /mcp", sent);
    return [status, (json as { error: { code: unknown } }).error.code];
  };
  expect(await codeOf("x".repeat(5 * 1024 * 1024))).toEqual([413, "payload_too_large"]);
  const chunked = { "transfer-encoding": "chunked" };
  expect(await codeOf("x".repeat(5 * 1024 * 1024), chunked)).toEqual([413, "payload_too_large"]);
  expect(await codeOf("[".repeat(1_000))).toEqual([400, "bad_request"]);
  expect(await codeOf(`[${"0,".repeat(1_000_000)}0]`)).toEqual([422, "invalid_input"]);
  expect(await codeOf("{")).toEqual([400, -32_700]);
  // A client that asks whether its message may come is told so.
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect((await codeOf(ping, { expect: "100-continue" }))[0]).toBe(400);
  const client = await toolClient(gateway, "2025-11-25");
  expect(names(await client.listTools())).toHaveLength(5);
});
