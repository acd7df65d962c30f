import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { Gateway } from "./gateway.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { ManualTiming } from "./testing/manual-timing.ts";
import { TEST_TOOLS, TestGateway } from "./testing/test-gateway.ts";
import { until } from "./testing/until.ts";

const SECOND = 1000;

test("GW-22 a gateway that has started says where it is and what it serves", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine, {
    mcp: true,
    mcpIssuer: "https://id.example",
  });
  const { port } = new URL(gateway.url);
  expect(Number(port)).toBeGreaterThan(0);
  expect(gateway.started).toEqual({
    service: "billing",
    url: `http://127.0.0.1:${port}`,
    server_url: engine.url,
    endpoints: 1,
    mcp_enabled: true,
    mcp_url: `http://127.0.0.1:${port}/mcp`,
    mcp_issuer: "https://id.example",
  });
});

test("GW-22 what is set for tokens of MCP is warned of where MCP is off", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine, { mcpIssuer: "https://id.example" });
  expect(gateway.lines).toEqual([expect.objectContaining({ level: "warn" })]);
  expect(gateway.started).toMatchObject({ mcp_enabled: false, mcp_url: null });
});

test("GW-22 a port in use is named", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const gateway = new Gateway({
    service: "billing",
    serverUrls: ["http://127.0.0.1:1"],
    host: "127.0.0.1",
    port,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    ids: () => "1",
    tools: TEST_TOOLS,
  });
  await expect(gateway.start()).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(String(port)),
  });
  await gateway.close();
  taken.close();
});

test("GW-23 told to stop it takes no connections, ends streams and answers what is running", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const replies: (() => void)[] = [];
  const { promise: streamEnded, resolve } = Promise.withResolvers<void>();
  engine.answer = (request, response) => {
    request.resume();
    if (request.url?.endsWith("/stream")) {
      response.once("close", resolve);
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": one\n\n");
      return;
    }
    replies.push(() => void response.end("{}"));
  };
  const { message: stream } = await gateway.open("POST /invoice/stream");
  const running = gateway.ask("POST /invoice");
  await until(() => replies.length === 1);
  const idle = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  await once(idle, "connect");
  const drained = gateway.gateway.drain();
  // The stream has an end, and nothing that looks like a frame.
  expect((await buffer(stream)).toString()).toBe(": one\n\n");
  expect(stream.complete).toBe(true);
  await streamEnded;
  await expect(gateway.ask("GET /health")).rejects.toThrow(/ECONNREFUSED/);
  await timing.pass(29 * SECOND);
  for (const reply of replies) reply();
  const answered = await running;
  expect([answered.status, answered.headers.connection]).toEqual([200, "close"]);
  await drained;
  expect(timing.pending).toBe(0);
});

test("GW-23 what is running for more than 30 seconds is cut off", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const { promise: left, resolve } = Promise.withResolvers<void>();
  engine.answer = (_, response) => void response.once("close", resolve);
  const cut = gateway.ask("POST /invoice").catch((error: { code: string }) => error.code);
  await until(() => engine.received.length === 1);
  const drained = gateway.gateway.drain();
  await timing.pass(30 * SECOND);
  await drained;
  await left;
  expect(await cut).toBe("ECONNRESET");
});

test("GW-23 told a second time it stops at once", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  engine.answer = () => undefined;
  const cut = gateway.ask("POST /invoice").catch((error: { code: string }) => error.code);
  await until(() => engine.received.length === 1);
  const drained = gateway.gateway.drain();
  await gateway.gateway.close();
  await drained;
  expect(await cut).toBe("ECONNRESET");
});

test("GW-23 a stream that begins while it drains ends with its head", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const { promise: begin, resolve } = Promise.withResolvers<() => void>();
  engine.answer = (_, response) => {
    resolve(() => {
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "x-engine-execution-id": "1",
      });
      response.write(": one\n\n");
    });
  };
  const opened = gateway.ask("POST /invoice/stream");
  const beginning = await begin;
  const drained = gateway.gateway.drain();
  beginning();
  expect(await opened).toMatchObject({ status: 200, headers: { "x-engine-execution-id": "1" } });
  await drained;
});

test("GW-23 a request on a connection that is still open is told that the gateway stops", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const { promise: reply, resolve } = Promise.withResolvers<() => void>();
  engine.answer = (_, response) => resolve(() => void response.end("{}"));
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  const request = "POST /invoice HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
  socket.write(request + request);
  const answer = await reply;
  const drained = gateway.gateway.drain();
  answer();
  const text = (await buffer(socket)).toString();
  expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(engine.received).toHaveLength(1);
  await drained;
});

test("GW-23 a body that nobody reads any more holds its connection for five seconds at most", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const sent = gateway.send("POST /invoice/later", { "content-length": 1000 });
  sent.on("error", () => undefined);
  sent.write("[");
  const closed = new Promise<void>((resolve) => void sent.once("close", resolve));
  await once(sent, "response");
  await timing.pass(5 * SECOND);
  await closed;
});
