import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { expect, test } from "vitest";
import { FakeEngine } from "./testing/fake-engine.ts";
import { ManualTiming } from "./testing/manual-timing.ts";
import { TestGateway } from "./testing/test-gateway.ts";
import { until } from "./testing/until.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";
const SECOND = 1000;

/** Takes connections and does with them what a test says. */
async function plainServer(
  take: (socket: Socket) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer(take).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("GW-14 GW-20 without a server the answer is 502, which names no address, and it recovers by itself", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  await engine.stop();
  const refused = await gateway.ask("POST /invoice", { body: "{}" });
  expect(refused.status).toBe(502);
  expect(refused.json).toMatchObject({ error: { code: "upstream_unreachable" } });
  expect(refused.body.toString()).not.toMatch(/127\.0\.0\.1|ECONN/);
  expect(gateway.gateway.health()).toMatchObject({
    status: "degraded",
    last_error: "upstream_unreachable",
    endpoints: 1,
  });
  expect(gateway.requests.at(-1)).toMatchObject({
    code: "upstream_unreachable",
    reason: expect.stringContaining("ECONNREFUSED"),
  });
  await engine.listen();
  expect((await gateway.ask("POST /invoice", { body: "{}" })).status).toBe(200);
  expect(gateway.gateway.health()).toMatchObject({ status: "healthy", last_error: null });
});

test("GW-14 a connection that does not come about within five seconds is 502", async () => {
  const timing = new ManualTiming();
  // Connections come about, but nobody answers for TLS: the request cannot be sent.
  const silent = await plainServer((socket) => void socket.on("error", () => undefined));
  const url = silent.url.replace("http:", "https:");
  const starting = TestGateway.start([url], { timing });
  await until(() => timing.pending > 0);
  await timing.pass(5 * SECOND);
  await using gateway = await starting;
  expect(gateway.started.endpoints).toBe(0);
  const asked = gateway.ask("POST /invoice", { body: "{}" });
  await until(() => timing.pending === 2);
  await timing.pass(5 * SECOND - 1);
  expect(gateway.requests).toEqual([]);
  await timing.pass(1);
  expect((await asked).json).toMatchObject({ error: { code: "upstream_unreachable" } });
  silent.server.close();
});

test("GW-14 GW-21 a server that is silent leaves the next one its share of the five seconds", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  const silent = await plainServer((socket) => void socket.on("error", () => undefined));
  const starting = TestGateway.start([silent.url.replace("http:", "https:"), engine.url], {
    timing,
  });
  await until(() => timing.pending > 0);
  await timing.pass(2.5 * SECOND);
  await using gateway = await starting;
  expect(gateway.started.endpoints).toBe(1);
  expect((await gateway.ask("POST /invoice")).status).toBe(200);
  silent.server.close();
});

test("GW-14 a server that ends the connection instead of answering is 502, and the POST is not repeated", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  engine.answer = (request) => void request.socket.destroy();
  // The second on a connection that has been used: still not repeated.
  for (const before of [0, 1]) {
    engine.received.length = 0;
    if (before) {
      const answer = engine.answer;
      engine.answer = (_, response) => void response.end("{}");
      await gateway.ask("POST /invoice", { body: "{}" });
      engine.answer = answer;
    }
    const refused = await gateway.ask("POST /invoice", { body: "{}" });
    expect(refused.json).toMatchObject({ error: { code: "upstream_unreachable" } });
    expect(engine.received).toHaveLength(1 + before);
  }
});

test("GW-12 a read on a connection that the server has just ended is sent once more", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  await gateway.ask("POST /invoice", { body: "{}" });
  let count = 0;
  engine.answer = (request, response) => {
    if (count++ === 0) request.socket.destroy();
    else response.end("{}");
  };
  expect((await gateway.ask(`GET /invoice/status/${ID}`)).status).toBe(200);
  expect(count).toBe(2);
});

test("GW-14 what answers no HTTP is 502", async () => {
  const { server, url } = await plainServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => void socket.end("220 mail.example ESMTP\r\n"));
  });
  await using gateway = await TestGateway.start([url]);
  const refused = await gateway.ask("POST /invoice", { body: "{}" });
  expect(refused.json).toMatchObject({ error: { code: "upstream_unreachable" } });
  server.close();
});

test.each([
  ["POST /invoice/async", 30],
  ["POST /invoice/stream", 30],
  [`POST /invoice/resume/${ID}/async`, 30],
  [`GET /invoice/status/${ID}`, 30],
  [`GET /invoice/stream/${ID}`, 30],
  ["GET /openapi.json", 30],
  ["POST /invoice", 330],
  ["POST /invoice/sync", 330],
  [`POST /invoice/resume/${ID}`, 330],
])("GW-14 %s waits %d seconds for the head of the answer", async (line, seconds) => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing, cacheTtl: 10_000 });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  engine.answer = (request, response) => {
    request.resume();
    response.once("close", resolve);
  };
  const asked = gateway.ask(line);
  await until(() => engine.received.length === 1);
  await timing.pass(seconds * SECOND - 1);
  expect(gateway.requests).toEqual([]);
  await timing.pass(1);
  const refused = await asked;
  expect(refused.status).toBe(504);
  expect(refused.json).toMatchObject({ error: { code: "upstream_timeout" } });
  expect(refused.body.toString()).not.toContain("127.0.0.1");
  await ended;
  expect(gateway.gateway.health().status).toBe("healthy");
});

test.each([
  [5, 5],
  [0, undefined],
])(
  "GW-14 GW-21 --upstream-timeout %d is the time of sync calls",
  async (upstreamTimeout, seconds) => {
    await using engine = await FakeEngine.start();
    const timing = new ManualTiming();
    await using gateway = await TestGateway.start(engine, { timing, upstreamTimeout });
    const { promise: answer, resolve } = Promise.withResolvers<() => void>();
    engine.answer = (request, response) => {
      request.resume();
      resolve(() => void response.end("{}"));
    };
    const asked = gateway.ask("POST /invoice");
    const reply = await answer;
    await timing.pass((seconds ?? 100_000) * SECOND);
    if (seconds === undefined) reply();
    expect((await asked).status).toBe(seconds === undefined ? 200 : 504);
  },
);

test("GW-14 while the client sends slowly nobody counts the time of the server", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const sent = gateway.send("POST /invoice/async");
  sent.write("[");
  await until(() => engine.received.length === 1);
  await timing.pass(3600 * SECOND);
  sent.end("]");
  const [message] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
  expect(message.statusCode).toBe(200);
  message.resume();
});

test("GW-14 a stream that is silent for a minute is ended, one with comments goes on", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing, cacheTtl: 10_000 });
  const { promise, resolve } = Promise.withResolvers<(text: string) => void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  engine.answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    response.once("close", end);
    resolve((text) => void response.write(text));
  };
  const { message } = await gateway.open("POST /invoice/stream");
  let text = "";
  message.on("error", () => undefined).on("data", (piece: Buffer) => (text += piece.toString()));
  const closed = new Promise<void>((resolve) => void message.once("close", resolve));
  const write = await promise;
  for (let n = 1; n <= 10; n++) {
    await timing.pass(15 * SECOND);
    write(": ping\n\n");
    await until(() => text.length === n * 8);
  }
  await timing.pass(60 * SECOND - 1);
  expect(message.destroyed).toBe(false);
  await timing.pass(1);
  await closed;
  await ended;
  expect(text).toBe(": ping\n\n".repeat(10));
});

test("GW-14 an answer that is no stream may take its time", async () => {
  await using engine = await FakeEngine.start();
  const timing = new ManualTiming();
  await using gateway = await TestGateway.start(engine, { timing });
  const { promise, resolve } = Promise.withResolvers<() => void>();
  engine.answer = (_, response) => {
    response.writeHead(200).write("[");
    resolve(() => void response.end("]"));
  };
  const { message } = await gateway.open("POST /invoice");
  const end = await promise;
  await timing.pass(3600 * SECOND);
  end();
  const pieces = await message.toArray();
  expect(Buffer.concat(pieces as Buffer[]).toString()).toBe("[]");
});

test("GW-21 of several servers one is used for as long as it answers, then the next", async () => {
  await using first = await FakeEngine.start();
  await using second = await FakeEngine.start();
  await using gateway = await TestGateway.start([first.url, second.url]);
  const used = () => [first.received.length, second.received.length];
  for (let n = 0; n < 3; n++) await gateway.ask("POST /invoice");
  expect(used()).toEqual([3, 0]);
  await first.stop();
  // Nothing of it was sent: it is no repetition.
  expect((await gateway.ask("POST /invoice", { body: "{}" })).json).toMatchObject({ body: "{}" });
  await first.listen();
  for (let n = 0; n < 3; n++) await gateway.ask("POST /invoice");
  expect(used()).toEqual([3, 4]);
  await second.stop();
  expect((await gateway.ask("POST /invoice")).status).toBe(200);
  expect(used()).toEqual([4, 4]);
  await first.stop();
  expect((await gateway.ask("POST /invoice")).status).toBe(502);
});

test("GW-21 many requests that fail together leave a server once", async () => {
  await using first = await FakeEngine.start();
  await using second = await FakeEngine.start();
  await using gateway = await TestGateway.start([first.url, second.url]);
  await first.stop();
  const all = await Promise.all(Array.from({ length: 20 }, () => gateway.ask("POST /invoice")));
  expect(all.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(second.received).toHaveLength(20);
});

test("GW-21 the path before the paths of a server is kept", async () => {
  await using engine = await FakeEngine.start();
  // Where the list is looked for there is none, so each request is for the engine to decide.
  engine.answer = (request, response) => {
    const isList = request.url === "/engine/services/billing";
    response.writeHead(isList ? 401 : 200).end(JSON.stringify(request.url));
  };
  await using gateway = await TestGateway.start([`${engine.url}/engine/`]);
  const answered = await gateway.ask("POST /invoice?x=1");
  expect(answered.json).toBe("/engine/services/billing/invoice?x=1");
});
