import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { guardedHost } from "../../testing/guarded-host.ts";

test.each([
  [["Bad"], /small letters/],
  [["a", "--port", "70000"], /a port from 0 to 65535/],
  [["a", "--server-url", "engine:8000"], /such as http:/],
  [["a", "--cache-ttl", "-1"], /number of seconds/],
  [["a", "--upstream-timeout", "x"], /number of seconds/],
  [["a", "--allow-origin", "app.example.com"], /expected an origin/],
  [["a", "--mcp", "--no-mcp"], /say --mcp or --no-mcp, not both/],
  [["a", "--mcp-issuer", "http://id.example"], /^error: --mcp-issuer: expected an https URL, or /m],
  [["a", "--no-mcp", "--mcp-issuer", "id.example"], /^error: --mcp-issuer: .*absolute URL/m],
  [["a", "--mcp-issuer", "https://id.example?x"], /^error: --mcp-issuer: .*without query/m],
  [["a", "--mcp-audience", ""], /^error: --mcp-audience: expected at least one audience/m],
  [["a", "--mcp-jwks-uri", "http://10.0.0.1/keys"], /^error: --mcp-jwks-uri: .*https URL/m],
  [["a", "--mcp-base-url", "tools.example"], /^error: --mcp-base-url: .*absolute URL with http/m],
  [["a", "--mcp-base-url", "https://t.example/?x=1"], /^error: --mcp-base-url: .*without query/m],
  [["a", "--mcp-max-sessions", "1.5"], /whole number of at least 1/],
  [["a", "--mcp-session-ttl", "0"], /number of seconds above 0/],
  [[], /missing required argument 'name'/],
])("GW-22 `engine service start` with %j stops at start, exit code 2", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(["service", "start", ...args], io)).toBe(2);
  expect(io.complained()).toMatch(message);
});

test.each([
  [
    { ENGINE_GATEWAY__MCP_ISSUER: "nowhere" },
    /^error: engine\.gateway\.mcp_issuer: .*absolute URL/m,
  ],
  [{ ENGINE_GATEWAY__MCP_BASE_URL: "x" }, /^error: engine\.gateway\.mcp_base_url: .*absolute URL/m],
  [{ ENGINE_GATEWAY__MCP_SESSION_TTL: "0" }, /ENGINE_GATEWAY__MCP_SESSION_TTL: /],
  [{ ENGINE_GATEWAY__MCP_MAX_SESSIONS: "0" }, /ENGINE_GATEWAY__MCP_MAX_SESSIONS: /],
  [{ ENGINE_GATEWAY__MCP: "maybe" }, /ENGINE_GATEWAY__MCP: /],
  [
    { ENGINE_SECURITY__AUTH__OIDC__ENABLED: "true" },
    /^error: engine\.security\.auth\.oidc\.issuer: needed where oidc is enabled/m,
  ],
  [
    {
      ENGINE_SECURITY__AUTH__OIDC__ENABLED: "true",
      ENGINE_SECURITY__AUTH__OIDC__ISSUER: "http://id.example",
    },
    /^error: engine\.security\.auth\.oidc\.issuer: expected an https URL/m,
  ],
])(
  "GW-22 MCA-1 with %j in the environment it stops at start, exit code 2",
  async (env, message) => {
    const io = capturedIo({ env });
    expect(await runCli(["service", "start", "billing"], io)).toBe(2);
    expect(io.complained()).toMatch(message);
  },
);

test("GW-22 an address that is taken ends the start with 1 and is named", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const io = capturedIo({ env: { ENGINE_SERVER_URL: "http://127.0.0.1:1" } });
  const address = ["--host", "127.0.0.1", "--port", `${port}`];
  expect(await runCli(["service", "start", "billing", ...address], io)).toBe(1);
  expect(io.complained()).toContain(`127.0.0.1:${port}`);
});

/** Runs the process until the test tells it to stop; what it printed is given once it serves. */
async function started(args: readonly string[], env: Readonly<Record<string, string>>) {
  const first = Promise.withResolvers<void>();
  const printed = Promise.withResolvers<string>();
  const io = capturedIo({
    env,
    stopSignals: () => ({ first: first.promise, second: new Promise(() => {}) }),
  });
  const write = io.out.write.bind(io.out);
  io.out.write = (text: string) => {
    printed.resolve(text);
    return write(text);
  };
  const ended = runCli(["service", "start", "billing", "--port", "0", ...args], io);
  const stop = () => {
    first.resolve();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { line: await printed.promise, io, stop };
}

test("GW-21 GW-22 GW-23 it says what it serves, in a line of JSON for programs, and stops with 0", async () => {
  const { url, key, client } = await guardedHost();
  await client.services.create({ body: { name: "billing" } });
  const env = { ENGINE_SERVER_URL: url, ENGINE_AUTH_TOKEN: key };
  const json = await started(["--format", "json", "--host", "127.0.0.1"], env);
  const said = JSON.parse(json.line);
  expect(said).toEqual({
    ...{ service: "billing", url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
    ...{ server_url: url, endpoints: 0, mcp_enabled: false, mcp_url: null, mcp_issuer: null },
  });
  const health = await (await fetch(`${said.url}/health`)).json();
  expect(health).toMatchObject({ status: "healthy", service: "billing", last_error: null });
  expect(await json.stop()).toBe(0);
  const simple = await started(["--host", "127.0.0.1"], env);
  expect(simple.line).toMatch(
    /^service billing on http:\/\/127\.0\.0\.1:\d+, server \S+, 0 endpoints, MCP off\n$/,
  );
});

test("GW-20 GW-22 without a server it starts degraded, and says why once", async () => {
  const { line, io } = await started(["--format", "json", "--host", "127.0.0.1"], {
    ENGINE_SERVER_URL: "http://127.0.0.1:1",
  });
  const health = await (await fetch(`${JSON.parse(line).url}/health`)).json();
  expect(health).toMatchObject({ status: "degraded", last_error: "upstream_unreachable" });
  expect(io.complained()).toContain("the endpoints of the service cannot be fetched");
});

const METADATA = "/.well-known/oauth-protected-resource/mcp";
const OIDC = {
  ENGINE_SECURITY__AUTH__OIDC__ENABLED: "true",
  ENGINE_SECURITY__AUTH__OIDC__ISSUER: "https://id.example",
  ENGINE_SECURITY__AUTH__OIDC__AUDIENCE: "engine",
};
/** Where no server is. */
const AWAY = { ENGINE_SERVER_URL: "http://127.0.0.1:1" };
const HERE = ["--host", "127.0.0.1"];

test("GW-21 GW-22 with --mcp it says where MCP is, and whose tokens it takes", async () => {
  const flags = ["--mcp", "--mcp-issuer", "https://id.example", "--mcp-audience", "engine"];
  const { line, io } = await started([...HERE, ...flags], AWAY);
  expect(line).toMatch(
    /^service billing on (\S+), server \S+, 0 endpoints, MCP on \1\/mcp, tokens of https:\/\/id\.example\n$/,
  );
  expect(io.complained()).not.toMatch(/audience|MCP is off/);
  const open = await started([...HERE, "--mcp", "--mcp-base-url", "https://t.example/b/"], AWAY);
  expect(open.line).toMatch(/, MCP on https:\/\/t\.example\/b\/mcp\n$/);
});

test("MCA-1 with the server's provider enabled its issuer is the one that MCP clients are sent to", async () => {
  const { line } = await started([...HERE, "--mcp", "--format", "json"], { ...AWAY, ...OIDC });
  const { url, mcp_issuer } = JSON.parse(line);
  expect(mcp_issuer).toBe("https://id.example");
  const metadata = await (await fetch(url + METADATA)).json();
  expect(metadata).toMatchObject({
    resource: `${url}/mcp`,
    authorization_servers: ["https://id.example"],
  });
  const refused = await fetch(`${url}/mcp`, { method: "POST" });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toBe(
    `Bearer resource_metadata="${url}${METADATA}"`,
  );
});

test("MCA-1 GW-21 a flag goes before the environment, and that before the server's provider", async () => {
  const env = { ...AWAY, ...OIDC, ENGINE_GATEWAY__MCP_ISSUER: "https://two.example" };
  const issuerOf = ({ line }: { line: string }) => JSON.parse(line).mcp_issuer;
  const given = [...HERE, "--mcp", "--format", "json"];
  expect(issuerOf(await started(given, env))).toBe("https://two.example");
  const flag = ["--mcp-issuer", "https://three.example"];
  expect(issuerOf(await started([...given, ...flag], env))).toBe("https://three.example");
});

test("GW-22 with --no-mcp its auth options are ignored, with a warning", async () => {
  const flags = ["--no-mcp", "--mcp-issuer", "https://id.example", "--format", "json"];
  const env = { ...AWAY, ENGINE_GATEWAY__MCP: "true" };
  const { line, io } = await started([...HERE, ...flags], env);
  const { url, ...said } = JSON.parse(line);
  expect(said).toMatchObject({ mcp_enabled: false, mcp_url: null, mcp_issuer: null });
  expect(io.complained()).toContain("MCP is off");
  expect((await fetch(`${url}/mcp`)).status).toBe(404);
  expect((await fetch(url + METADATA)).status).toBe(404);
});
