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
  [[], /missing required argument 'name'/],
])("GW-22 `engine service start` with %j stops at start, exit code 2", async (args, message) => {
  const io = capturedIo();
  expect(await runCli(["service", "start", ...args], io)).toBe(2);
  expect(io.complained()).toMatch(message);
});

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
