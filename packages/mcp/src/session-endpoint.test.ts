import { expect, test, vi } from "vitest";
import { SessionEndpoint } from "./session-endpoint.ts";
import { REVISIONS } from "./testing/connect-client.ts";
import { endpointOf } from "./testing/endpoint.ts";
import { INITIALIZE, Loopback } from "./testing/loopback.ts";
import { ScriptedCalls } from "./testing/scripted-calls.ts";

const invoice = endpointOf("billing/invoice");

function serve(changes: { readonly max_sessions?: number } = {}): Promise<Loopback> {
  let made = 0;
  return Loopback.serve((options) => {
    const newSessionId = () => {
      made += 1;
      return `session-${made}`;
    };
    return new SessionEndpoint({
      ...options,
      max_sessions: 100,
      session_ttl: 3600,
      newSessionId,
      ...changes,
    });
  });
}

const of = (id: string) => ({ "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" });

/** The status of a ping in a session. */
async function ping(shop: Loopback, headers: Readonly<Record<string, string>>): Promise<number> {
  const answer = await shop.post({ id: 1, method: "ping" }, headers);
  await answer.text();
  return answer.status;
}

/** The notification stream of a session, as text that grows. */
async function listen(shop: Loopback, id: string) {
  const leave = new AbortController();
  const headers = { ...of(id), accept: "text/event-stream" };
  const answer = await fetch(shop.url, { headers, signal: leave.signal });
  const heard = { status: answer.status, text: "", ended: false, leave: () => leave.abort() };
  const reading = (async () => {
    for await (const chunk of answer.body ?? []) heard.text += new TextDecoder().decode(chunk);
  })();
  const onEnd = () => {
    heard.ended = true;
  };
  reading.then(onEnd, onEnd);
  return heard;
}

test.each(REVISIONS)(
  "MCP-14 MCP-16 a client of %s lists and calls at the same address",
  async (rev) => {
    await using shop = await serve();
    shop.calls.endpoints = [invoice];
    shop.calls.stream.state("COMPLETED", { output: "done" });
    const client = await shop.client(rev);
    expect(client.getServerVersion()?.name).toBe("engine-service-shop");
    expect((await client.listTools()).tools).toHaveLength(5);
    expect(await client.callTool({ name: "invoice" })).toMatchObject({
      content: [{ text: "done" }],
    });
    expect(shop.errors).toEqual([]);
  },
);

test("MCP-16 a session is opened by initialize, and answers to its id until DELETE", async () => {
  await using shop = await serve();
  const id = await shop.initialize();
  expect(id).toBe("session-1");
  expect(await ping(shop, of(id))).toBe(200);
  const ended = await fetch(shop.url, { method: "DELETE", headers: of(id) });
  expect(ended.status).toBe(200);
  expect(await ping(shop, of(id))).toBe(404);
  expect(shop.endpoint.listeners).toBe(0);
});

test("MCP-16 an unknown session is 404, a missing one 400, whatever the method", async () => {
  await using shop = await serve();
  expect(await ping(shop, of("session-9"))).toBe(404);
  expect(await ping(shop, {})).toBe(400);
  for (const method of ["GET", "DELETE"]) {
    const accept = { accept: "text/event-stream" };
    const unknown = await fetch(shop.url, { method, headers: { ...accept, ...of("session-9") } });
    expect(unknown.status).toBe(404);
    expect((await fetch(shop.url, { method, headers: accept })).status).toBe(400);
  }
  expect(shop.endpoint.listeners).toBe(0);
});

test("MCP-16 the session of another is 404 like one that is not there", async () => {
  await using shop = await serve();
  shop.callers.set("ada", new ScriptedCalls());
  shop.callers.set("bob", new ScriptedCalls());
  const id = await shop.initialize({ authorization: "Bearer ada" });
  expect(await ping(shop, { ...of(id), authorization: "Bearer bob" })).toBe(404);
  expect(await ping(shop, of(id))).toBe(404);
  expect(await ping(shop, { ...of(id), authorization: "Bearer ada" })).toBe(200);
});

test("MCP-8 MCP-16 a call in a session is made with the credential of its own request", async () => {
  await using shop = await serve();
  const [first, second] = [new ScriptedCalls([invoice]), new ScriptedCalls([invoice])];
  shop.callers.set("ada", first);
  const id = await shop.initialize({ authorization: "Bearer ada" });
  // The same person with a newer token.
  shop.callers.set("ada", second);
  await shop.post({ id: 2, method: "tools/list" }, { ...of(id), authorization: "Bearer ada" });
  expect([first.lists.length, second.lists.length]).toEqual([0, 1]);
});

test("MCP-16 a session that is idle for its time is dropped, one that is used is not", async () => {
  await using shop = await serve();
  const [used, idle] = [await shop.initialize(), await shop.initialize()];
  shop.world.pass(3_599_000);
  expect(await ping(shop, of(used))).toBe(200);
  await vi.waitFor(() => expect(shop.world.waiting).toBe(2));
  shop.world.pass(1_000);
  expect(await ping(shop, of(idle))).toBe(404);
  expect(await ping(shop, of(used))).toBe(200);
});

test("MCP-16 a session whose client listens is not idle until it stops", async () => {
  await using shop = await serve();
  const id = await shop.initialize();
  const heard = await listen(shop, id);
  await vi.waitFor(() => expect(shop.world.waiting).toBe(0));
  shop.world.pass(10_000_000);
  expect(shop.endpoint.listeners).toBe(1);
  heard.leave();
  await vi.waitFor(() => expect(shop.world.waiting).toBe(1));
  shop.world.pass(3_600_000);
  expect(await ping(shop, of(id))).toBe(404);
});

test("MCP-16 above the most sessions the longest idle goes", async () => {
  await using shop = await serve({ max_sessions: 2 });
  const first = await shop.initialize();
  await vi.waitFor(() => expect(shop.world.waiting).toBe(1));
  shop.world.pass(1);
  const second = await shop.initialize();
  await vi.waitFor(() => expect(shop.world.waiting).toBe(2));
  shop.world.pass(1);
  expect(await ping(shop, of(first))).toBe(200);
  await vi.waitFor(() => expect(shop.world.waiting).toBe(2));
  const third = await shop.initialize();
  expect(await ping(shop, of(second))).toBe(404);
  expect(await ping(shop, of(first))).toBe(200);
  expect(await ping(shop, of(third))).toBe(200);
});

test.each(REVISIONS)("MCP-18 a client of %s is told once of each change", async (revision) => {
  await using shop = await serve();
  shop.endpoint.update([]);
  const told = vi.fn();
  await shop.client(revision, { changes: told });
  const heard = await listen(shop, await shop.initialize());
  await vi.waitFor(() => expect(shop.endpoint.listeners).toBe(2));
  shop.endpoint.update([invoice]);
  shop.endpoint.update([invoice]);
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
  await vi.waitFor(() => expect(heard.text).toContain("notifications/tools/list_changed"));
  expect(heard.text.match(/list_changed/g)).toHaveLength(1);
  expect(told).toHaveBeenCalledTimes(1);
});

test("MCP-13 notifications/cancelled has the execution cancelled, and its call is not answered", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  shop.calls.stream.state("RUNNING");
  const id = await shop.initialize();
  const call = await shop.post(
    { id: 7, method: "tools/call", params: { name: "invoice" } },
    of(id),
  );
  await vi.waitFor(() => expect(shop.calls.asked).toHaveLength(1));
  const cancel = { method: "notifications/cancelled", params: { requestId: 7 } };
  expect((await shop.post(cancel, of(id))).status).toBe(202);
  expect(await call.text()).toBe("");
  expect(shop.calls.asked[1]).toEqual({
    request: "cancel",
    ref: "billing/invoice",
    execution_id: "e1",
  });
});

test("MCP-13 a client that cancels with the official means has the execution cancelled", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  shop.calls.stream.state("RUNNING");
  const client = await shop.client("2025-11-25");
  const cancel = new AbortController();
  const call = client.callTool({ name: "invoice" }, { signal: cancel.signal });
  const failed = expect(call).rejects.toThrow();
  await vi.waitFor(() => expect(shop.calls.asked).toHaveLength(1));
  cancel.abort("enough");
  await failed;
  await vi.waitFor(() => expect(shop.calls.asked[1]).toMatchObject({ request: "cancel" }));
});

test("MCP-13 in a session a closed stream ends only the wait", async () => {
  await using shop = await serve();
  shop.calls.endpoints = [invoice];
  shop.calls.stream.state("RUNNING");
  const id = await shop.initialize();
  const leave = new AbortController();
  const call = { id: 7, method: "tools/call", params: { name: "invoice" } };
  const headers = {
    ...of(id),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", ...call });
  await fetch(shop.url, { method: "POST", headers, body, signal: leave.signal });
  await vi.waitFor(() => expect(shop.calls.asked).toHaveLength(1));
  leave.abort();
  await shop.calls.stream.left;
  expect(shop.calls.asked).toHaveLength(1);
  expect(await ping(shop, of(id))).toBe(200);
});

test("MCP-20 closing ends sessions and their streams", async () => {
  await using shop = await serve();
  const id = await shop.initialize();
  const heard = await listen(shop, id);
  expect(heard.status).toBe(200);
  await shop.endpoint.close();
  await vi.waitFor(() => expect(heard.ended).toBe(true));
  expect(await ping(shop, of(id))).toBe(404);
  expect(shop.endpoint.listeners).toBe(0);
});

test("MCP-16 what is no message opens no session", async () => {
  await using shop = await serve();
  const broken = await fetch(shop.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: "{",
  });
  expect(broken.status).toBe(400);
  expect((await shop.post({ ...INITIALIZE, params: {} })).status).toBe(400);
  expect(shop.endpoint.listeners).toBe(0);
  expect(shop.world.waiting).toBe(0);
});
