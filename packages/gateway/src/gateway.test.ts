import { expect, test } from "vitest";
import { FakeEngine } from "./testing/fake-engine.ts";
import { ManualTiming } from "./testing/manual-timing.ts";
import { resolvedService } from "./testing/resolved-service.ts";
import { TestGateway } from "./testing/test-gateway.ts";
import { until } from "./testing/until.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";
const SECOND = 1000;

test.each([
  ["POST /../workflows/default/x/run/sync", 404],
  ["POST /%2e%2e%2fworkflows", 404],
  ["POST /invoice/%2e%2e", 400],
  ["POST /invoice/later", 400],
  ["POST /invoice%00", 404],
  ["POST //invoice", 404],
  ["GET /invoice/status/..", 404],
  ["GET /invoice/status/%2e%2e%2f", 404],
  [`GET /${"x".repeat(3000)}`, 404],
  ["POST /services/other/invoice", 404],
  ["PUT /invoice", 405],
  ["GET /invoice", 405],
])("GW-13 %s is answered with %d, and no server is asked", async (line, status) => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const answered = await gateway.ask(line);
  expect(answered.status).toBe(status);
  expect(answered.json).toMatchObject({ error: { code: expect.any(String) } });
  if (status === 405) expect(answered.headers.allow).toBe("POST");
  expect([engine.received.length, engine.lists.length]).toEqual([0, 1]);
});

test("NET-3 the gateway's own answers carry what every answer does", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  for (const line of ["GET /health", "POST /unknown", "GET /invoice", "POST /invoice"]) {
    const { headers } = await gateway.ask(line);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "x-request-id": expect.stringMatching(/^gateway-\d+$/),
    });
    expect(headers).not.toHaveProperty("server");
  }
});

test("NET-1 headers that are too large and an unknown Expect are refused as the server does", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const large = await gateway.ask("GET /health", { headers: { "x-large": "x".repeat(20_000) } });
  expect(large.json).toMatchObject({ error: { code: "headers_too_large" } });
  const unknown = await gateway.ask("POST /invoice", { headers: { expect: "miracles" } });
  expect(unknown.json).toMatchObject({ error: { code: "bad_request" } });
});

test("GW-5 GW-20 health asks nobody, and tells the age of the list", async () => {
  await using engine = await FakeEngine.start();
  engine.service = resolvedService(["invoice", "refund"], { mcp_enabled: true });
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  await timing.pass(12_340);
  const health = await gateway.ask("GET /health");
  expect(health.status).toBe(200);
  expect(health.json).toEqual({
    status: "healthy",
    service: "billing",
    endpoints: 2,
    cache_age_seconds: 12.3,
    mcp_enabled: true,
    last_error: null,
  });
  const head = await gateway.ask("HEAD /health");
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect([engine.received.length, engine.lists.length]).toEqual([0, 1]);
});

test("GW-20 GW-22 a gateway that starts before its server is degraded, and recovers by itself", async () => {
  await using engine = await FakeEngine.start();
  await engine.stop();
  await using gateway = await TestGateway.start(engine);
  expect(gateway.started).toMatchObject({ endpoints: 0, mcp_enabled: false });
  expect((await gateway.ask("GET /health")).json).toEqual({
    status: "degraded",
    service: "billing",
    endpoints: 0,
    cache_age_seconds: 0,
    mcp_enabled: false,
    last_error: "upstream_unreachable",
  });
  expect(gateway.lines[0]).toMatchObject({ level: "warn", code: "upstream_unreachable" });
  expect((await gateway.ask("POST /invoice")).status).toBe(502);
  await engine.listen();
  expect((await gateway.ask("POST /invoice")).status).toBe(200);
  expect(gateway.gateway.health()).toMatchObject({ status: "healthy", endpoints: 1 });
});

test("GW-20 GW-22 a service that does not exist is a warning, and is served once it does", async () => {
  await using engine = await FakeEngine.start();
  engine.service = undefined;
  await using gateway = await TestGateway.start(engine);
  expect(gateway.gateway.health()).toMatchObject({ status: "degraded", last_error: "not_found" });
  const refused = await gateway.ask("POST /invoice");
  expect(refused.status).toBe(404);
  expect(refused.json).toMatchObject({ error: { details: { resource: "service" } } });
  engine.service = resolvedService(["invoice"]);
  expect((await gateway.ask("POST /invoice")).status).toBe(200);
  expect(gateway.gateway.health().status).toBe("healthy");
});

test("GW-19 a service that is deleted takes its endpoints away at the first answer that tells", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  engine.service = undefined;
  engine.answer = (_, response) => void response.writeHead(404).end("gone");
  expect((await gateway.ask("POST /invoice")).body.toString()).toBe("gone");
  expect((await gateway.ask("POST /invoice")).status).toBe(404);
  // What refreshed the list is over once the next unknown name has been looked for.
  await gateway.ask("POST /other");
  expect(gateway.gateway.health()).toMatchObject({ endpoints: 0, last_error: "not_found" });
  const count = engine.received.length;
  expect((await gateway.ask("POST /invoice")).status).toBe(404);
  expect(engine.received).toHaveLength(count);
});

test("GW-18 a workflow that is registered between two calls is served at the second", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  expect((await gateway.ask("POST /refund")).json).toMatchObject({
    error: { code: "not_found", details: { resource: "workflow" } },
  });
  engine.service = resolvedService(["invoice", "refund"]);
  expect((await gateway.ask("POST /refund")).status).toBe(200);
});

test("GW-18 a hundred requests for an unknown name at once are one fetch", async () => {
  await using engine = await FakeEngine.start();
  let count = 0;
  await using gateway = await TestGateway.start(engine, { ids: () => String(++count) });
  const { answerList } = engine;
  engine.answerList = async (request, response) => {
    await until(() => count === 100);
    await answerList(request, response);
  };
  const all = await Promise.all(Array.from({ length: 100 }, () => gateway.ask("POST /unknown")));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([404]));
  expect(engine.lists).toHaveLength(2);
  expect(engine.received).toEqual([]);
});

test("GW-16 the list is fetched by its tag, with the caller's authorization where there is no token", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  await timing.pass(61 * SECOND);
  const headers = { authorization: "Bearer caller" };
  expect((await gateway.ask("POST /invoice", { headers })).status).toBe(200);
  await expect.poll(() => gateway.gateway.health().cache_age_seconds).toBe(0);
  expect(engine.lists.map((asked) => asked.headers)).toMatchObject([
    {},
    { authorization: "Bearer caller", "if-none-match": expect.stringMatching(/^"[0-9a-f]{64}"$/) },
  ]);
  expect(engine.lists[0]?.headers).not.toHaveProperty("authorization");
});

test("GW-19 where the list is refused the server decides about the request", async () => {
  await using engine = await FakeEngine.start();
  engine.answerList = (_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"code":"unauthenticated","message":"no"}}');
  };
  engine.answer = (_, response) => void response.writeHead(403).end("no");
  await using gateway = await TestGateway.start(engine);
  expect(gateway.gateway.health().last_error).toBe("unauthenticated");
  const answered = await gateway.ask("POST /invoice");
  expect([answered.status, answered.body.toString()]).toEqual([403, "no"]);
});

test.each([
  ["a page of a proxy", 502, "text/html", "<h1>no</h1>"],
  ["another program's list", 200, "application/json", '{"hello":"world"}'],
  ["a 404 that is not the engine's", 404, "text/plain", "not here"],
])(
  "GW-19 %s instead of the list is 502 for names that are not known",
  async (_, status, type, text) => {
    await using engine = await FakeEngine.start();
    engine.answerList = (_request, response) =>
      void response.writeHead(status, { "content-type": type }).end(text);
    await using gateway = await TestGateway.start(engine);
    const refused = await gateway.ask("POST /invoice");
    expect(refused.json).toMatchObject({ error: { code: "upstream_unreachable" } });
    expect(refused.body.toString()).not.toMatch(/http:|127\.0\.0\.1/);
    expect(gateway.gateway.health().status).toBe("degraded");
  },
);

test("GW-16 a list that breaks off is a fetch that failed", async () => {
  await using engine = await FakeEngine.start();
  engine.answerList = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).write('{"id":');
    setImmediate(() => response.destroy());
  };
  await using gateway = await TestGateway.start(engine);
  expect(gateway.gateway.health()).toMatchObject({ status: "degraded", endpoints: 0 });
});

test("GW-6 the document is the server's for this caller, with the paths of the gateway", async () => {
  await using engine = await FakeEngine.start();
  engine.answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('{"openapi":"3.1.0","paths":{"/services/billing/invoice":{}}}');
  };
  await using gateway = await TestGateway.start(engine);
  const headers = { authorization: "Bearer caller", "content-length": "2" };
  const answered = await gateway.ask("GET /openapi.json?x=1", { headers, body: "{}" });
  const servers = [{ url: gateway.url }];
  expect(answered.json).toEqual({ openapi: "3.1.0", servers, paths: { "/invoice": {} } });
  expect(engine.received).toMatchObject([
    {
      method: "GET",
      url: "/services/billing/openapi.json",
      headers: { authorization: "Bearer caller" },
    },
  ]);
  const head = await gateway.ask("HEAD /openapi.json");
  expect([head.status, head.body.length]).toEqual([200, 0]);
});

test.each([
  [401, "application/json", '{"error":{"code":"unauthenticated","message":"no"}}'],
  [404, "application/json", '{"error":{"code":"not_found","message":"no"}}'],
  [200, "text/html", "<h1>Hello</h1>"],
])("GW-6 what is no document goes back as it is: %d %s", async (status, type, text) => {
  await using engine = await FakeEngine.start();
  engine.answer = (_, response) =>
    void response.writeHead(status, { "content-type": type, "retry-after": "5" }).end(text);
  await using gateway = await TestGateway.start(engine);
  const answered = await gateway.ask("GET /openapi.json");
  expect([answered.status, answered.body.toString()]).toEqual([status, text]);
  expect(answered.headers).toMatchObject({ "content-type": type, "retry-after": "5" });
});

test("GW-6 a document that breaks off is 502", async () => {
  await using engine = await FakeEngine.start();
  engine.answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).write('{"openapi":');
    setImmediate(() => response.destroy());
  };
  await using gateway = await TestGateway.start(engine);
  const refused = await gateway.ask("GET /openapi.json");
  expect(refused.json).toMatchObject({ error: { code: "upstream_unreachable" } });
});

test("GW-7 GW-8 without MCP and without an issuer there is neither", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  for (const method of ["POST", "GET", "DELETE"]) {
    const answered = await gateway.ask(`${method} /mcp`);
    expect([answered.status, answered.json]).toMatchObject([
      404,
      { error: { code: "mcp_disabled" } },
    ]);
  }
  for (const path of ["", "/mcp"]) {
    const answered = await gateway.ask(`GET /.well-known/oauth-protected-resource${path}`);
    expect([answered.status, answered.json]).toMatchObject([404, { error: { code: "not_found" } }]);
  }
  expect(engine.received).toEqual([]);
});

test("GW-9 a workflow with a reserved name is warned of, and reachable below the service", async () => {
  await using engine = await FakeEngine.start();
  engine.service = resolvedService(["health", "invoice", "mcp", "mcp_billing"]);
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const warned = () =>
    gateway.lines.filter(({ level }) => level === "warn").map(({ name }) => name);
  expect(warned()).toEqual(["health", "mcp"]);
  expect((await gateway.ask("POST /services/billing/health")).status).toBe(200);
  expect((await gateway.ask("POST /services/billing/mcp/sync")).status).toBe(200);
  expect((await gateway.ask("POST /mcp_billing")).status).toBe(200);
  expect((await gateway.ask("POST /services/billing/mcp")).status).toBe(404);
  expect((await gateway.ask("POST /health")).status).toBe(405);
  engine.service = resolvedService(["health"]);
  await gateway.ask("POST /other").catch(() => undefined);
  expect(warned()).toEqual(["health", "mcp"]);
});

test("GW-15 a page that may call reads the answer, and is answered what it may send", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine, {
    allowOrigins: ["https://app.example.com"],
    mcpBaseUrl: "https://tools.example/billing/",
  });
  for (const origin of [
    "http://localhost:5173",
    "https://app.example.com",
    "https://tools.example",
  ]) {
    const answered = await gateway.ask("POST /invoice", { headers: { origin } });
    expect(answered.status).toBe(200);
    expect(answered.headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-expose-headers":
        "X-Engine-Execution-Id, Location, Mcp-Session-Id, WWW-Authenticate",
      vary: "Origin",
    });
    expect(answered.headers).not.toHaveProperty("access-control-allow-credentials");
    const preflight = await gateway.ask(`OPTIONS /invoice/status/${ID}`, {
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
      },
    });
    expect([preflight.status, preflight.headers]).toMatchObject([
      204,
      {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "authorization",
      },
    ]);
  }
  const refused = await gateway.ask("POST /unknown", { headers: { origin: "http://localhost" } });
  expect(refused.headers["access-control-allow-origin"]).toBe("http://localhost");
});

test("GW-15 any other page is refused before anything is asked", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  for (const origin of ["https://evil.example", "null"]) {
    for (const line of ["POST /invoice", "POST /mcp", "OPTIONS /invoice", "GET /nothing/here"]) {
      const headers = { origin, "access-control-request-method": "POST" };
      const refused = await gateway.ask(line, { headers });
      expect([refused.status, refused.json]).toMatchObject([
        403,
        { error: { code: "origin_denied" } },
      ]);
      expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
    }
  }
  expect(engine.received).toEqual([]);
});

test("GW-8 GW-15 where pages are not kept out they read nothing, but for what is for everybody", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const headers = { origin: "https://evil.example" };
  for (const path of ["/health", "/openapi.json"]) {
    const answered = await gateway.ask(`GET ${path}`, { headers });
    expect(answered.status).toBe(200);
    expect(answered.headers).not.toHaveProperty("access-control-allow-origin");
  }
  const metadata = await gateway.ask("GET /.well-known/oauth-protected-resource", { headers });
  expect(metadata.headers["access-control-allow-origin"]).toBe("*");
});

test("SVC-62 each request is one line, which holds no body, no query and no credential", async () => {
  await using engine = await FakeEngine.start();
  engine.answer = (request, response) => {
    request.resume();
    response.writeHead(202, { "x-engine-execution-id": ID, "x-request-id": "server-1" });
    response.end('{"secret-answer":1}');
  };
  await using gateway = await TestGateway.start(engine);
  await gateway.ask("POST /invoice/async?x=secret-query", {
    headers: { authorization: "Bearer secret-token" },
    body: '{"secret-body":1}',
  });
  await gateway.ask(`GET /invoice/stream/${ID}`);
  await gateway.ask("POST /secret-path/x/y/z/w");
  expect(gateway.requests).toEqual([
    {
      level: "info",
      message: "request",
      method: "POST",
      route: "/{workflow}/{mode}",
      status: 202,
      duration_ms: expect.any(Number),
      execution_id: ID,
      request_id: "server-1",
    },
    expect.objectContaining({ route: "/{workflow}/stream/{execution_id}", execution_id: ID }),
    expect.objectContaining({ route: null, status: 404, execution_id: null, code: "not_found" }),
  ]);
  expect(JSON.stringify(gateway.lines)).not.toContain("secret");
});

test("NET-6 credentials that go where others can read them are warned of, once", async () => {
  await using engine = await FakeEngine.start();
  // Reaches this machine, but is no name of loopback.
  await using gateway = await TestGateway.start([engine.url.replace("127.0.0.1", "0.0.0.0")]);
  await gateway.ask("POST /invoice");
  expect(gateway.lines.filter(({ level }) => level === "warn")).toEqual([]);
  for (let n = 0; n < 3; n++) {
    await gateway.ask("POST /invoice", { headers: { authorization: "Bearer caller" } });
  }
  expect(gateway.lines.filter(({ level }) => level === "warn")).toEqual([
    expect.objectContaining({ host: "0.0.0.0", message: expect.stringContaining("plain http") }),
  ]);
});
