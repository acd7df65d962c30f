import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { startRealProvider } from "@engine/oidc/test-provider";
import { expect, test } from "vitest";
import type { GatewayOptions } from "./gateway-options.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { resolvedService } from "./testing/resolved-service.ts";
import {
  AUDIENCE,
  ISSUER,
  ScriptedIssuer,
  signingKey,
  unsignedToken,
} from "./testing/scripted-issuer.ts";
import { TestGateway } from "./testing/test-gateway.ts";

const METADATA = "/.well-known/oauth-protected-resource";

/** A gateway whose `/mcp` takes tokens of an issuer. */
function start(
  engine: FakeEngine,
  issuer: ScriptedIssuer,
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const { fetch, clock } = issuer;
  const given = { mcp: true, mcpIssuer: ISSUER, mcpAudience: AUDIENCE };
  return TestGateway.start(engine, { ...given, fetch, clock, ...options });
}

const pointer = (gateway: TestGateway) =>
  `Bearer resource_metadata="${gateway.url}${METADATA}/mcp"`;

const FAILED = [
  ["a token that is none", "shape", "the token is not a signed JWT", () => "nonsense"],
  [
    "an expired token",
    "expired",
    "the token has expired",
    (issuer) => issuer.token({ exp: issuer.seconds - 31 }),
  ],
  [
    "a token of another issuer",
    "issuer",
    "the token is of another issuer",
    (issuer) => issuer.token({ iss: "https://other.example" }),
  ],
  [
    "a token for another audience",
    "audience",
    "the token is for another audience",
    (issuer) => issuer.token({ aud: ["other"] }),
  ],
  [
    "a token without an audience",
    "audience",
    "the token is for another audience",
    (issuer) => issuer.token({ aud: undefined }),
  ],
  [
    "a token signed by a stranger with the name of a key",
    "signature",
    "no key of the issuer verifies the signature of the token",
    async (issuer) => issuer.token({}, await signingKey("first")),
  ],
  [
    "a token signed with a key that nobody knows",
    "signature",
    "no key of the issuer verifies the signature of the token",
    async (issuer) => issuer.token({}, await signingKey("unknown")),
  ],
  [
    "a token that is not valid yet",
    "not_before",
    "the token is not valid yet",
    (issuer) => issuer.token({ nbf: issuer.seconds + 60 }),
  ],
  [
    "a token that nobody signed",
    "algorithm",
    "the token is signed with an algorithm that is not taken",
    ({ seconds }) => unsignedToken({ iss: ISSUER, sub: "a", aud: AUDIENCE, exp: seconds + 60 }),
  ],
  [
    "a token without a subject",
    "subject",
    "the token has no subject of 1 to 255 characters",
    (issuer) => issuer.token({ sub: undefined }),
  ],
] as const satisfies readonly (readonly [
  string,
  string,
  string,
  (issuer: ScriptedIssuer) => string | Promise<string>,
])[];

test.each(FAILED)("MCA-2 %s is 401, which names the check that failed", async (...failed) => {
  const [, check, why, make] = failed;
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  await using gateway = await start(engine, issuer);
  const token = await make(issuer);
  const headers = { authorization: `Bearer ${token}` };
  const refused = await gateway.ask("POST /mcp", { headers, body: "{}" });
  expect(refused.status).toBe(401);
  expect(refused.json).toMatchObject({ error: { code: "unauthenticated", details: { check } } });
  expect(refused.headers["www-authenticate"]).toBe(
    `${pointer(gateway)}, error="invalid_token", error_description="${why}"`,
  );
  const told = JSON.stringify([gateway.lines, refused.headers, refused.json]);
  expect(told).not.toContain(token);
  expect(gateway.requests).toMatchObject([{ route: "/mcp", status: 401, code: "unauthenticated" }]);
  expect(engine.received).toEqual([]);
});

test.each([
  ["no header", {}],
  ["another scheme", { authorization: "Basic YTpi" }],
  ["no token", { authorization: "Bearer" }],
  ["more than a token", { authorization: "Bearer a.b.c d" }],
  ["a token that is no header", { cookie: "token=a.b.c" }],
])("MCA-2 with %s the 401 says where to get a token, whatever the method", async (_, headers) => {
  await using engine = await FakeEngine.start();
  await using gateway = await start(engine, await ScriptedIssuer.start());
  for (const method of ["POST", "GET", "DELETE"]) {
    const refused = await gateway.ask(`${method} /mcp?access_token=a.b.c`, { headers });
    expect([refused.status, refused.json]).toMatchObject([
      401,
      { error: { code: "unauthenticated" } },
    ]);
    expect(refused.headers["www-authenticate"]).toBe(pointer(gateway));
  }
});

test("MCA-2 two Authorization headers are 401, even if both hold a token that is taken", async () => {
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  await using gateway = await start(engine, issuer);
  const line = `Authorization: Bearer ${await issuer.token()}\r\n`;
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /mcp HTTP/1.1\r\nHost: a\r\n${line}${line}Connection: close\r\n\r\n`);
  const answered = await text(socket);
  expect(answered).toMatch(/^HTTP\/1\.1 401 /);
  expect(answered).toContain(`${pointer(gateway)}\r\n`);
});

test("MCA-2 a page that may call reads where to get a token", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await start(engine, await ScriptedIssuer.start());
  const headers = { origin: "http://localhost:6274" };
  const refused = await gateway.ask("POST /mcp", { headers });
  expect(refused.status).toBe(401);
  expect(refused.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
});

test("MCA-2 MCA-8 requests for workflows are not looked at: their tokens go to the server as they are", async () => {
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  await using gateway = await start(engine, issuer);
  for (const headers of [{}, { authorization: "Bearer nonsense" }]) {
    expect((await gateway.ask("POST /invoice", { headers })).status).toBe(200);
  }
  expect(engine.received.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    "Bearer nonsense",
  ]);
  expect((await gateway.ask("GET /health")).status).toBe(200);
  expect(issuer.asked).toEqual([]);
});

test("MCA-7 with an issuer that is down the answer is 503, to be tried again in 5 seconds", async () => {
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  issuer.isAway = true;
  await using gateway = await start(engine, issuer);
  const headers = { authorization: `Bearer ${await issuer.token()}` };
  const refused = await gateway.ask("POST /mcp", { headers });
  expect([refused.status, refused.json]).toMatchObject([
    503,
    { error: { code: "auth_unavailable" } },
  ]);
  expect(refused.headers["retry-after"]).toBe("5");
  expect(refused.headers).not.toHaveProperty("www-authenticate");
});

test("MCA-1 MCA-6 with MCP on the start warns that no audience is set", async () => {
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  const warned = ({ lines }: TestGateway) =>
    lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  await using careless = await start(engine, issuer, { mcpAudience: undefined });
  expect(warned(careless)).toEqual([expect.stringMatching(/^no audience is set/)]);
  expect(careless.started).toMatchObject({
    mcp_enabled: true,
    mcp_url: `${careless.url}/mcp`,
    mcp_issuer: ISSUER,
  });
  await using careful = await start(engine, issuer);
  expect(warned(careful)).toEqual([]);
});

test("GW-22 with MCP off what is set for its tokens is warned of, and no token is looked at", async () => {
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  for (const mcp of [false, undefined]) {
    await using gateway = await start(engine, issuer, { mcp });
    expect(gateway.lines).toMatchObject([
      { level: "warn", message: expect.stringMatching(/^MCP is off/) },
    ]);
    const headers = { authorization: "Bearer nonsense" };
    const refused = await gateway.ask("POST /mcp", { headers });
    expect([refused.status, refused.json]).toMatchObject([
      404,
      { error: { code: "mcp_disabled" } },
    ]);
  }
});

test("GW-22 the server's provider is no option of MCP: with MCP off nobody is warned of it", async () => {
  await using engine = await FakeEngine.start();
  const issuer = await ScriptedIssuer.start();
  const options = { mcp: undefined, mcpIssuer: undefined, mcpAudience: undefined };
  const oidc = { issuer: ISSUER, audience: [AUDIENCE] };
  await using gateway = await start(engine, issuer, { ...options, oidc });
  expect(gateway.lines).toEqual([]);
  // Switched on while it runs, it validates by the server's provider.
  engine.service = resolvedService(["invoice", "refund"], { mcp_enabled: true });
  await gateway.ask("POST /refund");
  expect((await gateway.ask("POST /mcp")).status).toBe(401);
});

test("GW-8 MCA-3 the metadata is for everybody at both of its paths, with any origin and no token", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await start(engine, await ScriptedIssuer.start());
  for (const path of [METADATA, `${METADATA}/mcp`]) {
    const headers = { origin: "https://any.example" };
    const answered = await gateway.ask(`GET ${path}`, { headers });
    expect(answered.status).toBe(200);
    expect(answered.headers["content-type"]).toMatch(/^application\/json/);
    expect(answered.headers["access-control-allow-origin"]).toBe("*");
    expect(answered.json).toEqual({
      resource: `${gateway.url}/mcp`,
      authorization_servers: [ISSUER],
      bearer_methods_supported: ["header"],
      resource_name: "billing",
    });
    const head = await gateway.ask(`HEAD ${path}`);
    expect([head.status, head.body.length]).toEqual([200, 0]);
  }
  expect([engine.received.length, engine.lists.length]).toEqual([0, 1]);
});

test("MCA-4 the base URL keeps its path, and is what metadata and refusals name", async () => {
  await using engine = await FakeEngine.start();
  const mcpBaseUrl = "https://tools.example/billing/";
  await using gateway = await start(engine, await ScriptedIssuer.start(), { mcpBaseUrl });
  const base = "https://tools.example/billing";
  expect((await gateway.ask(`GET ${METADATA}`)).json).toMatchObject({ resource: `${base}/mcp` });
  expect((await gateway.ask("POST /mcp")).headers["www-authenticate"]).toBe(
    `Bearer resource_metadata="${base}${METADATA}/mcp"`,
  );
  expect(gateway.started.mcp_url).toBe(`${base}/mcp`);
});

test("MCA-4 a base URL that a header would not take as it is stands there as a URL", async () => {
  await using engine = await FakeEngine.start();
  const mcpBaseUrl = 'https://tööls.example/a"b\u{1f600}';
  await using gateway = await start(engine, await ScriptedIssuer.start(), { mcpBaseUrl });
  const refused = await gateway.ask("POST /mcp");
  expect([refused.status, refused.headers["www-authenticate"]]).toEqual([
    401,
    `Bearer resource_metadata="https://xn--tls-snaa.example/a%22b%F0%9F%98%80${METADATA}/mcp"`,
  ]);
});

test("MCA-4 what a request says of host and scheme is never believed", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await start(engine, await ScriptedIssuer.start());
  const headers = {
    host: "evil.example",
    forwarded: "host=evil.example;proto=https",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
    "x-forwarded-port": "444",
    "x-forwarded-prefix": "/evil",
  };
  const metadata = await gateway.ask(`GET ${METADATA}`, { headers });
  expect(metadata.json).toMatchObject({ resource: `${gateway.url}/mcp` });
  const refused = await gateway.ask("POST /mcp", { headers });
  expect(refused.headers["www-authenticate"]).toBe(pointer(gateway));
});

test("AUTH-17 MCA-5 a real provider's token is taken by what its discovery says, and none for others", async () => {
  const audience = "https://engine.example";
  await using issuer = await startRealProvider(audience);
  await using engine = await FakeEngine.start();
  const options = { mcp: true, mcpIssuer: issuer.issuer };
  const headers = { authorization: `Bearer ${await issuer.token()}` };
  await using gateway = await TestGateway.start(engine, { ...options, mcpAudience: audience });
  expect((await gateway.ask("POST /mcp", { headers })).status).not.toBe(401);
  await using other = await TestGateway.start(engine, { ...options, mcpAudience: "other" });
  const refused = await other.ask("POST /mcp", { headers });
  expect(refused.headers["www-authenticate"]).toBe(
    `${pointer(other)}, error="invalid_token", error_description="the token is for another audience"`,
  );
  expect(gateway.lines.filter(({ level }) => level !== "info")).toEqual([]);
});
