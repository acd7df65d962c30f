import { once } from "node:events";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { connect } from "node:net";
import { EngineError, type ErrorBody, type Route, UnencodableValue } from "@engine/contract";
import { afterEach, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { allowEveryone } from "./authorize.ts";
import { createApp } from "./create-app.ts";
import type { Call, Handlers, RouteTable, TableHandlers } from "./handlers.ts";
import { answer } from "./reply.ts";

const Thing = z.object({ name: z.string(), size: z.number() });
const open = { permission: { kind: "open" }, effect: "read", summary: "-" } as const;

const tinyRoutes = {
  things: {
    get: {
      ...open,
      method: "GET",
      path: "/things/{name}",
      query: z.strictObject({ tag: z.array(z.string()).default([]) }),
      answers: { 200: Thing },
    },
    put: {
      ...open,
      method: "PUT",
      path: "/things/{name}",
      permission: { kind: "grant", grant: "thing:{name}:write" },
      effect: "write",
      query: z.strictObject({ times: z.coerce.number().default(1) }),
      headers: z.object({ "x-mode": z.string().min(1).optional() }),
      body: z.strictObject({ size: z.number(), list: z.array(z.number()).optional() }),
      answers: { 201: Thing },
    },
    echo: {
      ...open,
      method: "POST",
      path: "/echo",
      body: z.unknown(),
      answers: { 200: z.object({ echo: z.unknown() }) },
    },
    small: {
      ...open,
      method: "POST",
      path: "/small",
      body: z.unknown(),
      bodyLimit: 100,
      answers: { 204: { raw: null, meaning: "taken" } },
    },
    plain: {
      ...open,
      method: "GET",
      path: "/plain",
      answers: { 204: { raw: null, meaning: "nothing" } },
    },
    script: {
      ...open,
      method: "GET",
      path: "/script",
      answers: { 200: { raw: "text/javascript", meaning: "a script" } },
    },
  },
} as const satisfies RouteTable;

const tinyHandlers: TableHandlers<typeof tinyRoutes> = {
  things: {
    get: ({ params }) => answer(200, { name: params.name, size: 1 }),
    put: ({ params, body }) => answer(201, { name: params.name, size: body.size }),
    echo: ({ body }) => answer(200, { echo: body }),
    small: () => answer(204, undefined),
    plain: () => answer(204, undefined),
    script: () => answer(200, "export {};"),
  },
};

const logged: Record<string, unknown>[] = [];
const log = { error: (fields: Readonly<Record<string, unknown>>) => void logged.push(fields) };
let nextId = 0;
const ids = () => `request-${++nextId}`;

afterEach(() => {
  logged.length = 0;
});

function tinyApp(handlers: Partial<typeof tinyHandlers.things> = {}) {
  return createApp({
    routes: tinyRoutes,
    handlers: { ...tinyHandlers, things: { ...tinyHandlers.things, ...handlers } },
    log,
    ids,
  });
}

test("a handler receives parsed input and its answer carries status, body and headers", async () => {
  const app = tinyApp({
    put: ({ params, query, body }) =>
      answer(201, { name: params.name, size: body.size * query.times }, { location: "/here" }),
  });
  const response = await app.inject({
    method: "PUT",
    url: "/things/a%2Fb%20c?times=3",
    payload: { size: 2 },
  });
  expect(response.statusCode).toBe(201);
  expect(response.json()).toEqual({ name: "a/b c", size: 6 });
  expect(response.headers["location"]).toBe("/here");
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
});

test("NET-3 every answer has the security headers and its request id, and names no software", async () => {
  const app = tinyApp();
  for (const url of ["/things/a", "/nowhere/at/all", "/things/%zz"]) {
    const { headers } = await app.inject({ url });
    expect(headers, url).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
      "x-request-id": expect.stringMatching(/^request-\d+$/),
    });
    expect(headers).not.toHaveProperty("server");
    expect(headers).not.toHaveProperty("x-powered-by");
  }
});

test("NET-7 wrong query, headers and body are one 422 that names each field", async () => {
  const response = await tinyApp().inject({
    method: "PUT",
    url: "/things/a?times=none&extra=1",
    headers: { "x-mode": "" },
    payload: { size: "2", list: [1, "two"], more: true },
  });
  expect(response.statusCode).toBe(422);
  expect(response.json<ErrorBody>().error.details?.["issues"]).toEqual([
    { path: "query.times", message: 'expected number, got "NaN"' },
    { path: "query.extra", message: "is unknown" },
    { path: "headers.x-mode", message: expect.stringContaining("at least 1") },
    { path: "body.size", message: "expected number, received string" },
    { path: "body.list[1]", message: "expected number, received string" },
    { path: "body.more", message: "is unknown" },
  ]);
});

test("a missing body of named fields is a 422 about the body", async () => {
  const response = await tinyApp().inject({ method: "PUT", url: "/things/a" });
  expect(response.statusCode).toBe(422);
  expect(response.json<ErrorBody>().error.message).toBe("body: expected object, received null");
});

test("a query parameter of a route that has none is refused", async () => {
  const response = await tinyApp().inject({ url: "/plain?verbose=1" });
  expect(response.statusCode).toBe(422);
  expect(response.json<ErrorBody>().error.message).toBe("query.verbose: is unknown");
});

test("a repeated query key becomes a list", async () => {
  const app = tinyApp({ get: ({ query }) => answer(200, { name: query.tag.join("+"), size: 0 }) });
  const response = await app.inject({ url: "/things/a?tag=x&tag=y%20z" });
  expect(response.json()).toMatchObject({ name: "x+y z" });
});

test("EXE-79 a body that is not JSON is a 400 that says where it breaks", async () => {
  const response = await tinyApp().inject({
    method: "POST",
    url: "/echo",
    headers: { "content-type": "application/json" },
    payload: '{"a": 1,\n "b": oops}',
  });
  expect(response.statusCode).toBe(400);
  expect(response.json()).toEqual({
    error: {
      code: "bad_request",
      message: "the body is not JSON: expected a value at line 2, column 7",
      details: { position: 15, line: 2, column: 7 },
    },
  });
});

test("EXE-79 an empty body is null, whatever media type it claims", async () => {
  for (const headers of [{}, { "content-type": "application/json" }, { "content-type": "x/y" }]) {
    const response = await tinyApp().inject({ method: "POST", url: "/echo", headers });
    expect(response.json()).toEqual({ echo: null });
  }
});

test("NET-1 what curl sends is read as JSON, other media types and encodings are 415", async () => {
  const send = (headers: Record<string, string>) =>
    tinyApp().inject({ method: "POST", url: "/echo", headers, payload: "[1]" });
  for (const type of [
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-8",
    "application/merge-patch+json",
  ]) {
    expect((await send({ "content-type": type })).json(), type).toEqual({ echo: [1] });
  }
  for (const type of ["text/plain", "multipart/form-data; boundary=x", "nonsense", "text/json"]) {
    const response = await send({ "content-type": type });
    expect(response.statusCode, type).toBe(415);
    expect(response.json<ErrorBody>().error.message).toContain("application/json");
  }
  const zipped = await send({ "content-type": "application/json", "content-encoding": "gzip" });
  expect(zipped.statusCode).toBe(415);
});

test("NET-1 a body over the route's limit is a 413 that names the limit, declared or not", async () => {
  const app = tinyApp();
  const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/small`;
  const body = JSON.stringify("x".repeat(200));
  const declared = await fetch(url, { method: "POST", body });
  const chunked = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new Blob([body]).stream(),
    duplex: "half",
  } as RequestInit);
  for (const response of [declared, chunked]) {
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { code: "payload_too_large", details: { limit_bytes: 100 } },
    });
  }
  await app.close();
});

test("NET-1 nesting deeper than 128 levels is a 400; brackets inside strings do not count", async () => {
  const post = (payload: string) => tinyApp().inject({ method: "POST", url: "/echo", payload });
  expect((await post("[".repeat(128) + "]".repeat(128))).statusCode).toBe(200);
  const deep = await post("[".repeat(129) + "]".repeat(129));
  expect(deep.statusCode).toBe(400);
  expect(deep.json<ErrorBody>().error.message).toContain("128");
  expect((await post(JSON.stringify(`\\"${"[".repeat(500)}`))).statusCode).toBe(200);
});

test("NET-1 a path over 2 KiB is a 414 and headers over 16 KiB are a 431", async () => {
  const app = tinyApp();
  expect((await app.inject({ url: `/things/${"x".repeat(2100)}` })).statusCode).toBe(414);
  expect((await app.inject({ url: `/${"x/".repeat(2000)}` })).statusCode).toBe(414);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const response = await fetch(`${base}/plain`, {
    headers: { "x-long": "y".repeat(17_000) },
  });
  expect(response.status).toBe(431);
  expect(await response.json()).toMatchObject({ error: { code: "headers_too_large" } });
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  await app.close();
});

test("NET-3 NET-7 an Expect that nobody knows is refused as everything else is", async () => {
  const app = tinyApp();
  const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const refused = await answerOf({ port, path: "/plain", headers: { expect: "a miracle" } });
  expect(refused.status).toBe(400);
  expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "bad_request" } });
  expect(refused.headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "x-request-id": expect.stringMatching(/^request-\d+$/),
  });
  const taken = await answerOf({ port, path: "/plain", headers: { expect: "100-continue" } });
  expect(taken.status).toBe(204);
  await app.close();
});

test("a connection that would be upgraded is answered once and closed, whatever else it brings", async () => {
  const app = tinyApp();
  const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(
    "GET /plain HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 204 [\s\S]*connection: close/i);
  socket.write("FOO / HTTP/1.1\r\n\r\n");
  await once(socket, "close");
  await app.close();
});

/** By node's own client, which sends every header. */
async function answerOf(options: RequestOptions) {
  const asked = request(options);
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const { statusCode: status, headers } = response;
  return { status, headers, text: (await response.toArray()).join("") };
}

test("an unknown path is a 404 and a known one under another method a 405 with Allow", async () => {
  const app = tinyApp();
  const missing = await app.inject({ url: "/things/a/b/c" });
  expect(missing.statusCode).toBe(404);
  expect(missing.json<ErrorBody>().error).toMatchObject({
    code: "not_found",
    details: { resource: "route" },
  });
  const wrong = await app.inject({ method: "DELETE", url: "/things/a" });
  expect(wrong.statusCode).toBe(405);
  expect(wrong.headers["allow"]).toBe("GET, HEAD, PUT");
  expect(wrong.json<ErrorBody>().error).toMatchObject({
    code: "method_not_allowed",
    details: { allow: ["GET", "HEAD", "PUT"] },
  });
});

test("AUTH-5 the path is authorized before the body is read, and after the declared size", async () => {
  const seen: unknown[] = [];
  const app = createApp({
    routes: tinyRoutes,
    handlers: tinyHandlers,
    log,
    ids,
    authorize: (route, { params }) => {
      seen.push([route.permission, params]);
      throw new EngineError("permission_denied", "no");
    },
  });
  const broken = { method: "PUT", url: "/things/a%20b", payload: "{" } as const;
  expect((await app.inject(broken)).statusCode).toBe(403);
  expect(seen).toEqual([[tinyRoutes.things.put.permission, { name: "a b" }]]);
  const large = await app.inject({ method: "POST", url: "/small", payload: "x".repeat(101) });
  expect(large.statusCode).toBe(413);
  expect((await app.inject({ url: "/nowhere/at/all" })).statusCode).toBe(404);
  expect(seen).toHaveLength(1);
});

test("a handler knows who calls, the request id and the headers", async () => {
  const calls: Call[] = [];
  const app = createApp({
    routes: tinyRoutes,
    handlers: {
      ...tinyHandlers,
      things: {
        ...tinyHandlers.things,
        plain: (_, call) => {
          calls.push(call);
          return answer(204, undefined);
        },
      },
    },
    log,
    ids: () => "the-id",
    authorize: () => ({ principal: "ada" }),
  });
  const response = await app.inject({ url: "/plain", headers: { "X-Colour": "blue" } });
  expect(response.statusCode).toBe(204);
  expect(response.body).toBe("");
  expect(calls[0]?.caller).toEqual({ principal: "ada" });
  expect(calls[0]?.request_id).toBe("the-id");
  expect(calls[0]?.headers["x-colour"]).toBe("blue");
});

test("NET-3 a defect is a fixed 500 on the wire and whole in the log", async () => {
  const defect = new Error("SELECT secret FROM /etc/passwd");
  const app = tinyApp({
    plain: () => {
      throw defect;
    },
  });
  const response = await app.inject({ url: "/plain?" });
  const id = response.headers["x-request-id"];
  expect(response.statusCode).toBe(500);
  expect(response.json()).toEqual({
    error: {
      code: "internal",
      message: `the engine failed; its log tells why under ${id}`,
      details: { request_id: id },
    },
  });
  expect(logged).toEqual([{ err: defect, request_id: id, method: "GET", path: "/plain" }]);
});

test("an expected failure answers under its own status and logs nothing", async () => {
  const app = tinyApp({
    get: async () => {
      throw new EngineError("not_paused", "nothing to resume", { details: { state: "RUNNING" } });
    },
    plain: () => {
      throw new UnencodableValue("input.a", "it is odd");
    },
  });
  const refused = await app.inject({ url: "/things/a" });
  expect(refused.statusCode).toBe(409);
  expect(refused.json()).toEqual({
    error: { code: "not_paused", message: "nothing to resume", details: { state: "RUNNING" } },
  });
  expect((await app.inject({ url: "/plain" })).statusCode).toBe(422);
  expect(logged).toEqual([]);
});

test("an answer that is text already goes out as it is, under the media type of its row", async () => {
  const app = tinyApp({ get: () => ({ status: 200, raw: '{"name":"kept",  "size":1}' }) });
  const kept = await app.inject({ url: "/things/a" });
  expect(kept.body).toBe('{"name":"kept",  "size":1}');
  expect(kept.headers["content-type"]).toBe("application/json; charset=utf-8");
  const script = await tinyApp().inject({ url: "/script" });
  expect(script.body).toBe("export {};");
  expect(script.headers["content-type"]).toBe("text/javascript");
});

test("the signal of a call fires when the client leaves before the answer", async () => {
  const left = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const app = tinyApp({
    plain: async (_, { signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      left.resolve();
      return answer(204, undefined);
    },
  });
  const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/plain`;
  const leave = new AbortController();
  const request = fetch(url, { signal: leave.signal });
  await started.promise;
  leave.abort();
  await expect(request).rejects.toThrow();
  await left.promise;
  await app.close();
});

async function* noFrames(): AsyncGenerator<string> {}

test("a wrong handler does not compile", () => {
  type Things = typeof tinyRoutes.things;
  const things = tinyHandlers.things;
  const { get: _, ...incomplete } = things;
  // @ts-expect-error a handler is missing
  const missing: Handlers<Things> = incomplete;
  // @ts-expect-error the answer lacks `size`
  const misshapen: Handlers<Things> = { ...things, get: () => answer(200, { name: "a" }) };
  // @ts-expect-error the row has no status 202
  const status: Handlers<Things> = { ...things, get: () => ({ status: 202, raw: "{}" }) };
  // @ts-expect-error the row has no frames
  const frames: Handlers<Things> = { ...things, get: () => ({ frames: noFrames() }) };
  expect([missing, misshapen, status, frames]).toHaveLength(4);

  const row = { method: "GET", path: "/x", summary: "x", effect: "read", answers: {} } as const;
  // @ts-expect-error a row without a permission is no route
  const unguarded: Route = row;
  expect(unguarded).toBe(row);
  expectTypeOf(allowEveryone).returns.resolves.toHaveProperty("principal");
});
