import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  EngineError,
  Heartbeat,
  Poll,
  SESSION_HEADER,
  sseComment,
  sseText,
  type WorkerFrame,
} from "@engine/contract";
import { expect, test } from "vitest";
import { isTransient } from "../transient.ts";
import { type HttpLinkOptions, httpLink } from "./http-link.ts";

const ref = { worker: "builder", session: "secret" };
const IDLE = Heartbeat.parse({ running: [], slots_free: 1 });

interface Seen {
  request: IncomingMessage;
  body: string;
}

/** An HTTP server that hands each request to the test. */
async function listen(handle: (seen: Seen, response: ServerResponse) => void, prefix = "") {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    // A server of before there were streams.
    if (request.url?.endsWith("/stream")) {
      response.writeHead(404).end();
      return;
    }
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      seen.push({ request, body });
      handle({ request, body }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const link = (options: Omit<HttpLinkOptions, "baseUrl"> = {}) =>
    httpLink({ baseUrl: `http://127.0.0.1:${port}${prefix}`, ...options });
  return {
    seen,
    link,
    url: `http://127.0.0.1:${port}${prefix}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

test("checkpoints travel as the text they came as, under the session of the worker", async () => {
  const answer = { execution_id: "e", seq: 3, state: "RUNNING", generation: 1 };
  await using server = await listen(
    (_, response) => json(response, { items: [answer] }),
    "/engine",
  );
  const body = '{"items":[{"execution_id":"e", "generation": 1}]}';

  expect(await server.link().checkpointsText(ref, body)).toEqual([answer]);
  const [{ request, body: sent } = { request: undefined, body: "" }] = server.seen;
  expect(request?.url).toBe("/engine/workers/builder/checkpoints");
  expect(request?.headers).toMatchObject({
    [SESSION_HEADER]: "secret",
    "content-type": "application/json",
    "content-length": String(body.length),
  });
  expect(sent).toBe(body);
});

test("one connection serves call after call", async () => {
  const ports = new Set<number | undefined>();
  await using server = await listen(({ request }, response) => {
    ports.add(request.socket.remotePort);
    json(response, { items: [] });
  });
  const link = server.link();
  for (let i = 0; i < 5; i++) await link.checkpointsText(ref, '{"items":[]}');
  expect(ports.size).toBe(1);
});

test("an error of the server is thrown as it was, and only 429 and 5xx may be tried again", async () => {
  const errors = [
    new EngineError("session_unknown", "no such session"),
    new EngineError("unavailable", "the database is away"),
  ];
  await using server = await listen((_, response) => {
    const error = errors.shift();
    if (error) json(response, error.toBody(), error.status);
  });
  const beat = () => server.link().heartbeat(ref, IDLE);
  const unknown = await beat().catch((error: unknown) => error);
  expect(unknown).toMatchObject({ code: "session_unknown", message: "no such session" });
  expect(isTransient(unknown)).toBe(false);
  const away = await beat().catch((error: unknown) => error);
  expect(away).toMatchObject({ code: "unavailable" });
  expect(isTransient(away)).toBe(true);
});

test("an answer that is not the server's own counts as trouble on the way", async () => {
  await using server = await listen((_, response) => {
    response.writeHead(404, { "content-type": "text/html" }).end("<h1>nginx</h1>");
  });
  const error = await server
    .link()
    .module(ref, "ab")
    .catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(EngineError);
  expect(isTransient(error)).toBe(true);
  expect(String(error)).toMatch(/404 to GET \/workers\/builder\/modules\/ab; is this the address/);
});

test("WRK-7 a page of a log comes as the text it was sent as", async () => {
  const text = '{"events":[{"seq":3,"value":1.0}],"head":4}';
  const answers = [text, '{"hello":"proxy"}'];
  await using server = await listen((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(answers.shift());
  });
  const page = { generation: 2, after: 2, limit: 1 };
  expect(await server.link().eventsText(ref, "e/1", page)).toBe(text);
  expect(server.seen[0]?.request.url).toBe(
    "/workers/builder/executions/e%2F1/events?generation=2&after=2&limit=1",
  );
  await expect(server.link().eventsText(ref, "e", page)).rejects.toSatisfy(isTransient);
});

test("a call that is not answered in time, or cut off, rejects", async () => {
  await using silent = await listen(() => {});
  await expect(silent.link({ timeoutMs: 20 }).module(ref, "ab")).rejects.toThrow(/no answer/);
  await using cutting = await listen((_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{", () => response.destroy());
  });
  await expect(cutting.link().module(ref, "ab")).rejects.toThrow();
});

test("EXE-49 a value is put under the hash of its text, and read by the execution that made it", async () => {
  const text = '{"a":"ü—😀 \\" "}';
  const sha256 = createHash("sha256").update(text).digest("hex");
  const reference = { storage_type: "file", reference_id: `e/${sha256}`, metadata: { bytes: 22 } };
  await using server = await listen(({ request }, response) => {
    if (request.method === "PUT") json(response, reference);
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  const link = server.link();
  expect(await link.saveValue(ref, "e", { generation: 3, text })).toEqual(reference);
  const { reference_id } = reference;
  expect(await link.loadValue(ref, "child/of", { generation: 3, reference_id })).toBe(text);

  const [put, get] = server.seen;
  const path = "/workers/builder/executions";
  expect(put?.request.url).toBe(`${path}/e/values/${sha256}?generation=3`);
  expect(JSON.parse(put?.body ?? "")).toEqual({ text });
  expect(get?.request.url).toBe(`${path}/child%2Fof/values/${sha256}?generation=3&of=e`);
  for (const { request } of server.seen) {
    expect(request.headers[SESSION_HEADER]).toBe("secret");
  }
});

test("EXE-49a a cached output comes back as the text it was kept as; null is a hit", async () => {
  const kept: unknown[] = [];
  await using server = await listen(({ request, body }, response) => {
    const { value, ...key } = JSON.parse(body);
    if (request.method === "PUT") {
      kept.push(value);
      response.writeHead(204).end();
    } else
      json(response, key.digest === "none" ? { hit: false } : { hit: true, value: kept.at(-1) });
  });
  const link = server.link();
  const key = { task: "resize", version: "1", digest: "ab" };
  for (const text of ['{"$rich":[[1],3]}', "null", '"x"']) {
    await link.cacheKeep(ref, "e", { generation: 3, key, text, ttl_ms: 60_000 });
    expect(await link.cacheLookup(ref, "e", { generation: 3, key })).toEqual({ text });
  }
  const missing = { ...key, digest: "none" };
  expect(await link.cacheLookup(ref, "e", { generation: 3, key: missing })).toEqual({ text: null });

  const [keep, lookup] = server.seen;
  expect(keep?.request.url).toBe("/workers/builder/executions/e/cache");
  const own = { generation: 3, ...key };
  expect(JSON.parse(keep?.body ?? "")).toEqual({
    ...own,
    ttl_ms: 60_000,
    value: { $rich: [[1], 3] },
  });
  expect(JSON.parse(lookup?.body ?? "")).toEqual(own);
});

test("WRK-7 the stream brings frames in order, whatever pieces they travel in", async () => {
  const frames: WorkerFrame[] = [
    {
      event: "welcome",
      data: { replica: "r", server_time: "2026-01-01T00:00:00Z", services: [], keep: [], drop: [] },
    },
    { event: "listen", data: { execution_id: "ü—\n", on: true } },
    { event: "ping", data: {} },
  ];
  const text = sseComment("hello") + frames.map((frame) => sseText(frame)).join("");
  const write = async (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const byte of Buffer.from(text)) {
      await new Promise((resolve) => response.write(Buffer.from([byte]), resolve));
    }
    response.end();
  };
  await using server = await listen((_, response) => void write(response));
  const received: WorkerFrame[] = [];
  const running = [{ execution_id: "e", generation: 1, seq: 4 }];
  const connection = await server.link().connect(ref, running, (frame) => received.push(frame));
  await connection.closed;

  expect(received).toEqual(frames);
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ running });
});

test("a closed stream brings nothing more and tells that it has ended", async () => {
  let write = (_text: string) => {};
  await using server = await listen((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    write = (text) => response.write(text);
    write(sseText({ event: "ping", data: {} }));
  });
  const first = Promise.withResolvers<void>();
  let count = 0;
  const connection = await server.link().connect(ref, [], () => {
    count++;
    first.resolve();
  });
  await first.promise;
  connection.close();
  write(sseText({ event: "ping", data: {} }));
  await connection.closed;
  expect(count).toBe(1);
});

test("a stream that brings something else than JSON is given up", async () => {
  await using server = await listen((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: ping\ndata: {\n\n");
  });
  const connection = await server.link().connect(ref, [], () => {});
  await connection.closed;
});

test("an address nobody listens on rejects as trouble on the way", async () => {
  const link = httpLink({ baseUrl: "http://127.0.0.1:1" });
  const error = await link.disconnect(ref).catch((thrown: unknown) => thrown);
  expect(isTransient(error)).toBe(true);
});

test("WRK-10 a poll is one request, which may be kept back longer than any other call", async () => {
  const frame = { event: "ping", data: {} };
  let answer = () => {};
  await using server = await listen((_, response) => {
    answer = () => json(response, { frames: [frame] });
    setTimeout(() => answer(), 60);
  });
  const poll = Poll.parse({ running: [], slots_free: 1, wait_seconds: 1 });

  expect(await server.link({ timeoutMs: 30 }).poll(ref, poll)).toEqual([frame]);
  expect(server.seen[0]?.request.url).toBe("/workers/builder/poll");
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual(poll);
});

test("WRK-13 of several addresses the next one is used when one is away, for as long as it answers", async () => {
  let isAway = false;
  const answer = (_: unknown, response: ServerResponse) =>
    isAway ? json(response, {}, 503) : json(response, { items: [] });
  await using first = await listen(answer);
  await using second = await listen((_, response) => json(response, { items: [] }));
  const link = httpLink({ baseUrl: ["http://127.0.0.1:1", first.url, second.url] });
  const send = () => link.checkpointsText(ref, '{"items":[]}');

  await expect(send()).rejects.toSatisfy(isTransient);
  await send();
  await send();
  expect([first.seen.length, second.seen.length]).toEqual([2, 0]);
  isAway = true;
  await expect(send()).rejects.toSatisfy(isTransient);
  await send();
  expect([first.seen.length, second.seen.length]).toEqual([3, 1]);
});

test("WRK-13 a link that leaves a server goes by a new connection, to the next address", async () => {
  const ports = new Set<number | undefined>();
  await using only = await listen(({ request }, response) => {
    ports.add(request.socket.remotePort);
    json(response, { items: [] });
  });
  const link = only.link();
  await link.checkpointsText(ref, '{"items":[]}');
  link.leaveServer();
  await link.checkpointsText(ref, '{"items":[]}');
  expect(ports.size).toBe(2);

  await using other = await listen((_, response) => json(response, { items: [] }));
  const both = httpLink({ baseUrl: [only.url, other.url] });
  both.leaveServer();
  await both.checkpointsText(ref, '{"items":[]}');
  expect(other.seen).toHaveLength(1);
});

test("WRK-7 a stream that brings a frame without an end is given up", async () => {
  await using server = await listen((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: ping\ndata: ");
    const piece = "x".repeat(1024 * 1024);
    const more = () => response.destroyed || response.write(piece, more);
    more();
  });
  const frames: unknown[] = [];
  const connection = await server.link().connect(ref, [], (frame) => frames.push(frame));
  await connection.closed;
  expect(frames).toEqual([]);
});

test("LIV-1 a heartbeat and a connect that a hung server keeps do not wait as long as other calls may", async () => {
  await using hung = await listen(() => {});
  const link = hung.link({ heartbeatTimeoutMs: 20, connectTimeoutMs: 20 });
  await expect(link.heartbeat(ref, IDLE)).rejects.toThrow(/no answer/);
  await expect(link.connect(ref, [], () => {})).rejects.toThrow(/no answer/);
  const [first, second] = hung.seen;
  expect(first?.request.socket).not.toBe(second?.request.socket);
});
