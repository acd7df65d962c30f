import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { AnyJson, notFound } from "@engine/contract";
import type { FastifyInstance } from "fastify";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { LargeJson } from "./json/large-json.ts";
import type { Repeat } from "./repeat.ts";
import { answer } from "./reply.ts";

const MIB = 1024 * 1024;
const open = {
  permission: { kind: "open" },
  effect: "write",
  summary: "-",
  method: "POST",
  bodyLimit: 16 * MIB,
  answers: { 200: z.unknown() },
} as const;

const routes = {
  bodies: {
    any: { ...open, path: "/any/{name}", body: AnyJson },
    named: { ...open, path: "/named", body: z.strictObject({ source: z.string() }) },
    spoken: {
      ...open,
      path: "/spoken",
      answers: { 202: { raw: null, meaning: "-" } },
      speaks: ["text/plain"],
    },
    field: {
      ...open,
      path: "/field",
      body: z.strictObject({ n: z.int(), input: AnyJson.optional() }).nullable(),
    },
  },
} as const satisfies RouteTable;

const logged: unknown[] = [];
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  expect(logged).toEqual([]);
  for (const one of opened.splice(0).reverse()) await one.close();
});

interface Bodies {
  readonly app: FastifyInstance;
  /** Of the bodies that a handler was given. */
  readonly taken: unknown[];
  /** Lets what a handler was given go, one after the other. */
  answerNext(): void;
  /** As some seconds pass. */
  look(): void;
  connected(): Promise<Socket>;
}

async function serving({ holds = false, mostBytes = 32 * MIB } = {}): Promise<Bodies> {
  const taken: unknown[] = [];
  const held: (() => void)[] = [];
  const looks = new Set<() => void>();
  const stallTimer: Repeat = (_, run) => {
    looks.add(run);
    return () => void looks.delete(run);
  };
  const take = async (body: unknown) => {
    taken.push(body);
    if (holds) await new Promise<void>((resolve) => void held.push(resolve));
    return answer(200, body instanceof LargeJson ? body.length : body);
  };
  const app = createApp({
    routes,
    handlers: {
      bodies: {
        any: ({ body }) => take(body),
        named: ({ body }) => take(body.source.length),
        field: ({ body }) => take(body),
        spoken: () => ({
          speak: async (request, response) => {
            const { body } = await take(await buffer(request));
            response.end(`took ${(body as Buffer).length}`);
          },
        }),
      },
    },
    looks: {
      bodies: {
        any: async ({ params: { name = "" } }) => {
          if (name === "nobody") throw notFound("workflow", name);
        },
      },
    },
    log: { error: (fields) => void logged.push(fields) },
    ids: () => "r",
    stallTimer,
    mostBytes,
  });
  opened.push({ close: () => app.close() });
  const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  return {
    app,
    taken,
    answerNext: () => held.shift()?.(),
    look() {
      for (const run of looks) run();
    },
    async connected() {
      const socket = connect(Number(port), "127.0.0.1").setEncoding("latin1");
      opened.push({ close: () => socket.destroy() });
      socket.on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    },
  };
}

const head = (path: string, length: number | "chunked") =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${
    length === "chunked" ? "transfer-encoding: chunked" : `content-length: ${length}`
  }\r\n\r\n`;

async function answered(socket: Socket): Promise<{ status: number; text: string }> {
  const [text] = (await once(socket, "data")) as [string];
  return { status: Number(text.slice(9, 12)), text };
}

const CHUNK = `${MIB.toString(16)}\r\n${" ".repeat(MIB)}\r\n`;

const nested = (bytes: number) => Buffer.from(`[${"[],".repeat(bytes / 3 - 2)}[]]`);

test("nothing of a large body is read for what is not there: the answer comes before the body", async () => {
  const { connected, taken } = await serving();
  for (const length of [16 * MIB, "chunked"] as const) {
    const socket = await connected();
    socket.write(head("/any/nobody", length));
    expect(await answered(socket)).toMatchObject({
      status: 404,
      text: expect.stringContaining("no workflow nobody"),
    });
  }
  expect(taken).toEqual([]);
});

test("NET-1 a large body is refused by its declared size before it is looked what it is for", async () => {
  const { connected } = await serving();
  const socket = await connected();
  socket.write(head("/any/nobody", 17 * MIB));
  expect((await answered(socket)).status).toBe(413);
});

test("NET-1 who reads only when all is sent is still told why a body was refused, and then let go", async () => {
  const { connected, look } = await serving();
  const socket = await connected();
  socket.pause();
  socket.write(head("/any/x", "chunked"));
  for (let sent = 0; sent < 20; sent++) {
    const isTaken = new Promise<unknown>((resolve) => void socket.write(CHUNK, resolve));
    expect(await isTaken, "a reset while it is sent").toBeFalsy();
  }
  // One that never ends of itself is cut off.
  socket.allowHalfOpen = true;
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  socket.on("end", look);
  const answer = answered(socket);
  socket.resume();
  expect((await answer).text).toMatch(/^HTTP\/1.1 413 .*\r\nconnection: close\r\n/s);
  await expect.poll(() => socket.readableEnded).toBe(true);
  socket.write(CHUNK);
  await closed;
});

test("of large bodies only so much is taken at a time; the rest is told when to come again", async () => {
  const { connected, taken, answerNext, app } = await serving({ holds: true });
  const body = nested(12 * MIB);
  const first = [await connected(), await connected()] as const;
  for (const socket of first) socket.write(head("/any/x", body.length));
  for (const socket of first) socket.write(body);
  await expect.poll(() => taken.length, { timeout: 20_000 }).toBe(2);

  const third = await connected();
  third.write(head("/any/x", body.length));
  const { status, text } = await answered(third);
  expect(status).toBe(503);
  expect(text).toMatch(/\r\nretry-after: 2\r\n/);
  expect(text).toContain('"code":"unavailable"');
  // A body that does not say how long it is counts as it comes.
  const chunked = await connected();
  chunked.write(head("/any/x", "chunked"));
  chunked.write(`${body.length.toString(16)}\r\n`);
  chunked.write(body);
  expect((await answered(chunked)).status).toBe(503);
  // A small one always gets in.
  const small = app.inject({ method: "POST", url: "/any/x", payload: { a: 1 } });
  await expect.poll(() => taken.length).toBe(3);
  for (let held = 0; held < 3; held++) answerNext();
  expect((await small).statusCode).toBe(200);

  for (const socket of first) expect((await answered(socket)).status).toBe(200);
  const again = await connected();
  again.write(head("/any/x", body.length));
  again.write(body);
  await expect.poll(() => taken.length, { timeout: 20_000 }).toBe(4);
  answerNext();
  expect((await answered(again)).status).toBe(200);
});

test("a body that does not come on is ended after a while, and what it held is free", async () => {
  const { connected, look, taken } = await serving({ mostBytes: 16 * MIB });
  const body = nested(12 * MIB);
  const stalled = await connected();
  stalled.write(head("/any/x", body.length));
  stalled.write(body.subarray(0, body.length / 2));
  const slow = await connected();
  slow.write(head("/any/x", 100));
  slow.write("[");
  await expect.poll(() => stalled.writableLength, { timeout: 20_000 }).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Once it has come on since; then it has not, three times.
  for (let times = 0; times < 4; times++) look();
  for (const socket of [stalled, slow]) {
    const { status, text } = await answered(socket);
    expect(status).toBe(408);
    expect(text).toContain('"code":"request_timeout"');
  }
  const next = await connected();
  next.write(head("/any/x", body.length));
  next.write(body);
  expect((await answered(next)).status).toBe(200);
  expect(taken).toHaveLength(1);
});

test("EXE-79 a large body that is no JSON, or too deep, is refused as a small one is", async () => {
  const { app } = await serving();
  const post = async (url: string, payload: string) => {
    const headers = { "content-type": "application/json" };
    const response = await app.inject({ method: "POST", url, payload, headers });
    return [response.statusCode, response.json().error?.message];
  };
  const text = "x".repeat(100_000);
  expect(await post("/any/x", `{"a": "${text}",}`)).toEqual([
    400,
    "the body is not JSON: expected a field name in double quotes at line 1, column 100010",
  ]);
  const deep = `"${text}",${"[".repeat(200)}${"]".repeat(200)}`;
  expect(await post("/any/x", `[${deep}]`)).toEqual([
    400,
    "the body is nested deeper than 128 levels",
  ]);
});

test("a large body of named fields is a value, one of a million parts is none of those", async () => {
  const { app } = await serving();
  const headers = { "content-type": "application/json" };
  const source = "x".repeat(MIB);
  const named = await app.inject({ method: "POST", url: "/named", payload: { source } });
  expect(named.json()).toBe(MIB);
  const payload = `{"source":${nested(3 * MIB).toString()}}`;
  const refused = await app.inject({ method: "POST", url: "/named", payload, headers });
  expect(refused.statusCode).toBe(422);
  expect(refused.json().error.details.issues).toEqual([
    { path: "body", message: expect.stringContaining("values, more than") },
  ]);
});

test("NET-1 a message for what speaks a protocol of its own is counted, bounded and ended as other bodies are", async () => {
  const { app, connected, look, taken } = await serving({ mostBytes: 4 * MIB });
  const payload = JSON.stringify("x".repeat(MIB));
  const headers = { "content-type": "application/json" };
  const post = (text: string) =>
    app.inject({ method: "POST", url: "/spoken", payload: text, headers });
  expect((await post(payload)).payload).toBe(`took ${payload.length}`);
  expect((await post("{")).payload).toBe("took 1");
  expect((await app.inject({ method: "POST", url: "/spoken" })).payload).toBe("took 0");
  expect((await post("[".repeat(200))).json().error.message).toContain("128 levels");
  expect((await post(nested(2 * MIB).toString())).json().error.code).toBe("invalid_input");
  // Its values would take more than there is.
  expect((await post(nested(MIB / 4).toString())).json().error.code).toBe("unavailable");
  expect(taken).toHaveLength(3);

  const [first, second] = [await connected(), await connected()];
  for (const socket of [first, second]) {
    socket.write(head("/spoken", "chunked"));
    socket.write(`${(3 * MIB).toString(16)}\r\n`);
    socket.write(Buffer.alloc(3 * MIB, " "));
  }
  const refused = await Promise.race([first, second].map(answered));
  expect(refused.status).toBe(503);
  const stalled = [first, second].map(answered);
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (let times = 0; times < 4; times++) look();
  expect((await Promise.race(stalled)).status).toBe(408);
});

interface Field {
  readonly n: number;
  readonly input: LargeJson;
}

test("a field that may be any JSON is given as its text where it is large", async () => {
  const { app, taken } = await serving();
  const list = nested(MIB).toString();
  const headers = { "content-type": "application/json" };
  for (const payload of [
    `{"n":1,"input":${list}}`,
    `{ "input" : 1, "\\u0069nput" :\n${list} , "n":1 }`,
    `{"n":1,"input":1}`,
  ]) {
    const response = await app.inject({ method: "POST", url: "/field", payload, headers });
    expect(response.statusCode).toBe(200);
  }
  const [first, second, third] = taken as [Field, Field, unknown];
  expect([first.n, second.n, third]).toEqual([1, 1, { n: 1, input: 1 }]);
  expect(first.input.text).toBe(list);
  expect(second.input.text.trim()).toBe(list);
});
