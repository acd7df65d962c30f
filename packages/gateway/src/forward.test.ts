import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { FakeEngine } from "./testing/fake-engine.ts";
import { TestGateway } from "./testing/test-gateway.ts";
import { until } from "./testing/until.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";
const MIB = 1024 * 1024;
const BLOCK = Buffer.alloc(MIB, "x");

test("GW-1 GW-2 GW-3 GW-4 GW-10 method, path, query and body reach the server as they are", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const body = Buffer.from([0x7b, 0x22, 0xff, 0x00, 0xc3, 0x28, 0x7d]);
  for (const line of [
    "POST /invoice",
    "POST /invoice/async?detailed=true&x=%2F%20+&x=",
    "POST /invoice/stream?",
    `POST /invoice/resume/${ID}`,
    `POST /invoice/resume/${ID}/sync?timeout=5`,
  ]) {
    const [method, path] = line.split(" ");
    const expected = { method, url: `/services/billing${path}`, body: body.toString("latin1") };
    expect((await gateway.ask(line, { body })).json).toEqual(expected);
    const below = line.replace(" /", " /services/billing/");
    expect((await gateway.ask(below, { body })).json).toEqual(expected);
  }
  for (const path of [`/invoice/status/${ID}?a=b`, `/invoice/stream/${ID}`]) {
    const expected = { method: "GET", url: `/services/billing${path}`, body: "" };
    expect((await gateway.ask(`GET ${path}`)).json).toEqual(expected);
  }
  expect((await gateway.ask("POST /invoice")).json).toMatchObject({ body: "" });
});

test.each([
  [200, "application/json", '{"total": 1}'],
  [202, "application/json; charset=utf-8", '{"state":"PAUSED"}'],
  [409, "application/json", '{"error":{}}'],
  [500, "application/json", '{"error":{"code":"workflow_failed"}}'],
  [502, "text/html", "<h1>Bad gateway</h1>"],
  [418, "application/octet-stream", "\u0000\u00ff"],
])("GW-10 an answer %d of %s comes back unchanged", async (status, type, text) => {
  await using engine = await FakeEngine.start();
  const sent = Buffer.from(text, "latin1");
  engine.answer = (_, response) => {
    response.writeHead(status, {
      "content-type": type,
      "x-engine-execution-id": ID,
      "x-engine-other": "1",
      "x-request-id": "server-1",
      location: `/services/billing/invoice/status/${ID}`,
      "retry-after": "5",
      "www-authenticate": 'Bearer realm="engine"',
      "idempotency-replayed": "true",
      "set-cookie": "a=b",
      server: "secret",
      "access-control-allow-origin": "*",
    });
    response.end(sent);
  };
  await using gateway = await TestGateway.start(engine);
  const answered = await gateway.ask("POST /invoice", { body: "{}" });
  expect(answered.status).toBe(status);
  expect(answered.body).toEqual(sent);
  expect(answered.headers).toMatchObject({
    "content-type": type,
    "x-engine-execution-id": ID,
    "x-engine-other": "1",
    "x-request-id": "server-1",
    location: `/services/billing/invoice/status/${ID}`,
    "retry-after": "5",
    "www-authenticate": 'Bearer realm="engine"',
    "idempotency-replayed": "true",
  });
  for (const name of ["set-cookie", "server", "access-control-allow-origin"]) {
    expect(answered.headers).not.toHaveProperty(name);
  }
});

test("GW-11 of the request's headers those that mean something to the engine are passed on", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine, { token: async () => "own" });
  const passed = {
    authorization: "Bearer caller",
    "content-type": "application/json",
    accept: "text/event-stream",
    "idempotency-key": "order-17",
    "last-event-id": "3",
    traceparent: "00-1-2-01",
    tracestate: "a=b",
    "x-request-id": "mine",
    "x-engine-require-worker": "w1",
  };
  await gateway.ask("POST /invoice", {
    headers: {
      ...passed,
      host: "billing.example:9000",
      cookie: "a=b",
      "x-other": "1",
      "accept-encoding": "gzip",
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-proto": "https",
    },
    body: "{}",
  });
  const { host, connection, ...headers } = engine.received[0]?.headers ?? {};
  expect(host).toBe(new URL(engine.url).host);
  expect(headers).toEqual({
    ...passed,
    "content-length": "2",
    "x-forwarded-for": "203.0.113.9, 127.0.0.1",
    "x-forwarded-proto": "http",
    "x-forwarded-host": "billing.example:9000",
  });
});

test("RIN-1 RIN-2 GW-11 a routing input goes to the server as it came, and as often as it came", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const bytes = Buffer.from('{"dataset":"züri"}').toString("latin1");
  for (const given of [bytes, ['{"a":1', '"b":2}'], ["{}", "{}"]]) {
    await gateway.ask("POST /invoice", { headers: { "x-engine-routing-input": given } });
    const { headersDistinct } = engine.received.at(-1) ?? expect.unreachable();
    expect(headersDistinct["x-engine-routing-input"]).toEqual([given].flat());
  }
});

test("GW-11 GW-16 the gateway's own token asks for the list and is never put on a request", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine, { token: async () => "own" });
  await gateway.ask("POST /invoice");
  await gateway.ask("POST /refund", { headers: { authorization: "Bearer caller" } });
  await gateway.ask("GET /openapi.json");
  expect(engine.lists.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer own",
    "Bearer own",
  ]);
  expect(engine.received).toHaveLength(2);
  expect(engine.received.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test("GW-12 each frame reaches the client while the next does not exist yet", async () => {
  await using engine = await FakeEngine.start();
  const frames = Array.from({ length: 5 }, (_, n) => `id: ${n}\nevent: a\ndata: ${n}\n\n`);
  const { promise: write, resolve } = Promise.withResolvers<(frame: string) => void>();
  engine.answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
    response.flushHeaders();
    resolve((frame) => (frame === "" ? response.end() : response.write(frame)));
  };
  await using gateway = await TestGateway.start(engine);
  // The head comes before any frame.
  const { message, headers } = await gateway.open("POST /invoice/stream");
  expect(headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
  const send = await write;
  for (const frame of frames) {
    send(frame);
    const [piece] = (await once(message, "data")) as [Buffer];
    expect(piece.toString()).toBe(frame);
  }
  send("");
  await once(message, "end");
  expect(message.complete).toBe(true);
});

test("GW-12 a request's body reaches the server piece by piece", async () => {
  await using engine = await FakeEngine.start();
  const pieces: string[] = [];
  engine.answer = (request, response) => {
    request.on("data", (piece: Buffer) => void pieces.push(piece.toString()));
    request.on("end", () => void response.end("{}"));
  };
  await using gateway = await TestGateway.start(engine);
  const sent = gateway.send("POST /invoice");
  for (const piece of ["[1,", "2,", "3]"]) {
    sent.write(piece);
    await until(() => pieces.includes(piece));
  }
  sent.end();
  await once(sent, "response");
  expect(pieces.join("")).toBe("[1,2,3]");
});

test("GW-12 a client that reads slowly slows the server down, and still gets every byte", async () => {
  await using engine = await FakeEngine.start();
  const total = 32;
  let written = 0;
  engine.answer = async (_, response) => {
    for (; written < total; written++) {
      if (!response.write(BLOCK)) await once(response, "drain");
    }
    response.end();
  };
  await using gateway = await TestGateway.start(engine);
  const { message } = await gateway.open("POST /invoice");
  await until(() => written > 0);
  await standing(() => written);
  expect(written).toBeLessThan(total / 2);
  expect(await lengthOf(message)).toBe(total * MIB);
});

test("GW-12 a server that reads slowly slows the client down, and still gets every byte", async () => {
  await using engine = await FakeEngine.start();
  const { promise: request, resolve } = Promise.withResolvers<IncomingMessage>();
  engine.answer = async (incoming, response) => {
    incoming.pause();
    resolve(incoming);
    await reading.promise;
    response.end(String(await lengthOf(incoming)));
  };
  const reading = Promise.withResolvers<void>();
  await using gateway = await TestGateway.start(engine);
  const total = 32;
  const sent = gateway.send("POST /invoice", { "content-length": total * MIB });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  let written = 0;
  const writing = (async () => {
    for (; written < total; written++) {
      if (!sent.write(BLOCK)) await once(sent, "drain");
    }
    sent.end();
  })();
  await request;
  await standing(() => written);
  expect(written).toBeLessThan(total / 2);
  reading.resolve();
  await writing;
  const [message] = await answered;
  expect((await buffer(message)).toString()).toBe(String(total * MIB));
});

test.each(["before the answer", "in the middle of it"])(
  "GW-12 a client that leaves %s ends the request at the server",
  async (when) => {
    await using engine = await FakeEngine.start();
    const { promise: left, resolve } = Promise.withResolvers<void>();
    engine.answer = (_, response) => {
      response.once("close", resolve);
      if (when === "in the middle of it") response.writeHead(200).write("{");
    };
    await using gateway = await TestGateway.start(engine);
    const sent = gateway.send("POST /invoice");
    sent.on("error", () => undefined);
    sent.end("{}");
    if (when === "in the middle of it") await once(sent, "response");
    else await until(() => engine.received.length === 1);
    sent.destroy();
    await left;
    await until(() => gateway.requests.length === 1);
    const status = when === "in the middle of it" ? 200 : null;
    expect(gateway.requests[0]).toMatchObject({ status, is_cut: true });
    expect(gateway.gateway.health().status).toBe("healthy");
  },
);

test("GW-12 a client that leaves while it sends ends the request at the server", async () => {
  await using engine = await FakeEngine.start();
  const { promise: left, resolve } = Promise.withResolvers<void>();
  engine.answer = (request) => {
    request.on("error", () => undefined).once("close", resolve);
    request.resume();
  };
  await using gateway = await TestGateway.start(engine);
  const sent = gateway.send("POST /invoice", { "content-length": 1000 });
  sent.on("error", () => undefined);
  sent.write("[");
  await until(() => engine.received.length === 1);
  sent.destroy();
  await left;
});

test.each([
  ["text/event-stream", {}],
  ["application/json", {}],
  ["application/json", { "content-length": "1000" }],
])(
  "GW-12 an answer of %s that breaks off breaks off at the client, with nothing added",
  async (type, more) => {
    await using engine = await FakeEngine.start();
    engine.answer = (_, response) => {
      response.writeHead(200, { "content-type": type, ...more });
      response.write("event: a\ndata: 1\n\n");
      setImmediate(() => response.destroy());
    };
    await using gateway = await TestGateway.start(engine);
    const { message } = await gateway.open("POST /invoice/stream");
    const pieces: Buffer[] = [];
    message.on("data", (piece: Buffer) => void pieces.push(piece));
    message.on("error", () => undefined);
    await new Promise<void>((resolve) => void message.once("close", resolve));
    expect(message.complete).toBe(false);
    expect(Buffer.concat(pieces).toString()).toBe("event: a\ndata: 1\n\n");
  },
);

test("GW-10 an answer that comes before the body was read reaches the client", async () => {
  await using engine = await FakeEngine.start();
  engine.answer = (_, response) => {
    response.writeHead(413, { "content-type": "application/json", connection: "close" });
    response.end('{"error":1}');
  };
  await using gateway = await TestGateway.start(engine);
  const sent = gateway.send("POST /invoice", { "content-length": 100 * MIB });
  sent.on("error", () => undefined);
  sent.write("[");
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  expect(message.statusCode).toBe(413);
  expect((await buffer(message)).toString()).toBe('{"error":1}');
  sent.destroy();
});

test("GW-10 a client that waits to be told to go on is told once the server is reached", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const sent = gateway.send("POST /invoice", { expect: "100-continue", "content-length": 2 });
  sent.flushHeaders();
  await once(sent, "continue");
  sent.end("{}");
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  expect(message.statusCode).toBe(200);
  const refused = gateway.send("POST /unknown", { expect: "100-continue", "content-length": 2 });
  let isTold = false;
  refused.on("continue", () => {
    isTold = true;
  });
  refused.flushHeaders();
  const [answer] = (await once(refused, "response")) as [IncomingMessage];
  expect([answer.statusCode, isTold]).toEqual([404, false]);
  refused.destroy();
});

test("GW-10 chunked bodies and heads alone are passed on as such", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  const sent = gateway.send("POST /invoice", { "transfer-encoding": "chunked" });
  sent.end("[1]");
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  expect(JSON.parse((await buffer(message)).toString())).toMatchObject({ body: "[1]" });
  expect(engine.received[0]?.headers["transfer-encoding"]).toBe("chunked");
  const head = await gateway.ask(`HEAD /invoice/status/${ID}`);
  expect([head.status, head.body.length]).toEqual([200, 0]);
  expect(engine.received.at(-1)?.method).toBe("HEAD");
});

test("GW-12 connections to the server are used again", async () => {
  await using engine = await FakeEngine.start();
  await using gateway = await TestGateway.start(engine);
  for (let n = 0; n < 10; n++) {
    const answered = await gateway.ask("POST /invoice", { body: String(n) });
    expect(answered.json).toMatchObject({ body: String(n) });
  }
  expect(engine.connections).toBe(1);
});

/** Waits until a count has stood still for a while: nothing tells when there is no more to come. */
async function standing(count: () => number): Promise<void> {
  for (let last = -1; count() !== last; ) {
    last = count();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

async function lengthOf(message: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const piece of message) length += (piece as Buffer).length;
  return length;
}
