import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import type { Neighbours } from "./neighbourhood.ts";
import { answer } from "./reply.ts";

const open = { permission: { kind: "open" }, summary: "-" } as const;
const routes = {
  things: {
    read: { ...open, effect: "read", method: "GET", path: "/read", answers: { 200: z.null() } },
    follow: {
      ...open,
      effect: "read",
      method: "GET",
      path: "/follow",
      frames: { x: z.unknown() },
      answers: { 200: { raw: "text/event-stream", meaning: "frames" } },
    },
    cancel: {
      ...open,
      effect: "write",
      method: "GET",
      path: "/cancel",
      answers: { 200: z.null() },
    },
    write: {
      ...open,
      effect: "write",
      method: "POST",
      path: "/write",
      body: z.unknown(),
      answers: { 200: z.null() },
    },
  },
} as const satisfies RouteTable;

let did: string[] = [];
afterEach(() => {
  did = [];
});

function app(neighbours?: Neighbours) {
  const does = (what: string) => () => {
    did.push(what);
    return answer(200, null);
  };
  return createApp({
    routes,
    handlers: {
      things: {
        read: does("read"),
        cancel: does("cancel"),
        write: does("write"),
        follow: () => {
          did.push("follow");
          return { frames: (async function* () {})() };
        },
      },
    },
    log: { error: () => {} },
    ids: () => "r",
    ...(neighbours && { neighbours }),
  });
}

interface Asked {
  readonly method?: "GET" | "POST" | "OPTIONS";
  readonly url?: string;
  readonly headers: Record<string, string>;
  readonly payload?: string;
}

async function ask(asked: Asked, neighbours?: Neighbours) {
  const { method = "GET", url = "/read", ...rest } = asked;
  return app(neighbours).inject({ method, url, ...rest });
}

const EVERYTHING = [
  { method: "GET", url: "/read" },
  { method: "GET", url: "/follow" },
  { method: "GET", url: "/cancel" },
  { method: "POST", url: "/write" },
  { method: "GET", url: "/not/there" },
] as const;

test("NET-5 a server answers as localhost and by its addresses, with any port, however they are written", async () => {
  for (const host of [
    "localhost",
    "LOCALHOST:8000",
    "localhost.",
    "engine.localhost:1",
    "127.0.0.1:8000",
    "127.8.9.10",
    "[::1]:8000",
    "[::1]",
    "192.168.7.9:8000",
  ]) {
    const { statusCode } = await ask({ headers: { host } });
    expect([host, statusCode]).toEqual([host, 200]);
  }
});

test("NET-5 a request by another name is refused before anything is read or done: the name may be a stranger's", async () => {
  for (const host of [
    "evil.com",
    "evil.com:8000",
    "localhost.evil.com",
    "127.0.0.1.evil.com",
    "127.0.0.1@evil.com",
    "notlocalhost",
    "localhost:8000:1",
    "0x7f.1.evil",
    "[::1",
  ]) {
    for (const what of EVERYTHING) {
      const response = await ask({ ...what, headers: { host } });
      expect([host, response.statusCode]).toEqual([host, 400]);
      expect(response.json()).toMatchObject({ error: { code: "host_not_allowed" } });
    }
  }
  expect(did).toEqual([]);
});

test("NET-5 names that are configured are answered, and nothing else; a star is any", async () => {
  const named = { hosts: ["Engine.internal"], origins: [] };
  expect((await ask({ headers: { host: "engine.INTERNAL:8000" } }, named)).statusCode).toBe(200);
  expect((await ask({ headers: { host: "other.internal" } }, named)).statusCode).toBe(400);
  const any = { hosts: ["*"], origins: [] };
  expect((await ask({ headers: { host: "whatever.example" } }, any)).statusCode).toBe(200);
});

test("NET-5 the refusal names the host and what to configure", async () => {
  const { error } = (await ask({ headers: { host: "evil.com" } })).json();
  expect(error).toEqual({
    code: "host_not_allowed",
    message:
      'this server does not go by the name "evil.com": reach it as localhost or by its address, or add the name to [engine.server] allowed_hosts',
    details: { host: "evil.com" },
  });
});

test("NET-4 a page of another origin reads nothing and does nothing, whatever it asks with", async () => {
  for (const origin of [
    "https://evil.com",
    "http://localhost:3000",
    "http://127.0.0.1:8001",
    "https://localhost.evil.com",
    "null",
    "file://",
    "chrome-extension://abc",
    "localhost:8000",
  ]) {
    for (const what of EVERYTHING) {
      const response = await ask({ ...what, headers: { host: "localhost:8000", origin } });
      expect([origin, response.statusCode]).toEqual([origin, 403]);
      expect(response.json()).toMatchObject({
        error: { code: "origin_denied", details: { origin } },
      });
      expect(response.headers["access-control-allow-origin"]).toBeUndefined();
    }
  }
  expect(did).toEqual([]);
});

test("NET-4 images, forms and links of another site are refused too, which send no origin", async () => {
  for (const site of ["cross-site", "same-site"]) {
    for (const what of EVERYTHING) {
      const { statusCode } = await ask({ ...what, headers: { "sec-fetch-site": site } });
      expect([site, what.url, statusCode]).toEqual([site, what.url, 403]);
    }
  }
  expect(did).toEqual([]);
});

test("NET-4 programs, the address bar and the server's own pages are answered", async () => {
  const own = { host: "localhost:8000", origin: "http://localhost:8000" };
  for (const headers of [
    {},
    { "sec-fetch-mode": "cors" },
    { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
    { ...own, "sec-fetch-site": "same-origin" },
    { ...own, origin: "https://localhost:8000" },
  ]) {
    for (const what of EVERYTHING.slice(0, 4)) {
      expect((await ask({ ...what, headers })).statusCode).toBe(200);
    }
  }
});

test("NET-4 a page of a listed origin is answered so that it can read the answer, refusals too", async () => {
  const listed = { hosts: [], origins: ["https://app.example.com"] };
  const headers = { origin: "https://app.example.com", "sec-fetch-site": "cross-site" };
  for (const what of EVERYTHING) {
    const response = await ask({ ...what, headers }, listed);
    expect(response.statusCode).toBe(what.url === "/not/there" ? 404 : 200);
    expect(response.headers).toMatchObject({
      "access-control-allow-origin": "https://app.example.com",
      vary: "Origin",
    });
    expect(response.headers["access-control-allow-credentials"]).toBeUndefined();
  }
  const other = await ask({ headers: { origin: "https://app.example.com.evil.com" } }, listed);
  expect(other.statusCode).toBe(403);
  const image = await ask({ headers: { "sec-fetch-site": "cross-site" } }, listed);
  expect(image.statusCode).toBe(403);
});

test("NET-4 a preflight is answered for a listed origin only", async () => {
  const listed = { hosts: [], origins: ["https://app.example.com"] };
  const preflight = (origin: string) =>
    ask(
      {
        method: "OPTIONS",
        url: "/write",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,idempotency-key",
        },
      },
      listed,
    );
  const granted = await preflight("https://app.example.com");
  expect(granted.statusCode).toBe(204);
  expect(granted.headers).toMatchObject({
    "access-control-allow-origin": "https://app.example.com",
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type,idempotency-key",
  });
  expect((await preflight("https://evil.com")).statusCode).toBe(403);
});

test("NET-1 what curl sends without a type is read as JSON, and of a browser it is not", async () => {
  const send = (headers: Record<string, string>) =>
    ask({
      method: "POST",
      url: "/write",
      payload: '{"a":1}',
      headers: { host: "localhost", ...headers },
    });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect((await send(form)).statusCode).toBe(200);
  for (const browser of [
    { origin: "http://localhost" },
    { referer: "http://localhost/page" },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-dest": "empty" },
  ]) {
    const refused = await send({ ...form, ...browser });
    expect(refused.statusCode).toBe(415);
    const json = { "content-type": "application/json", ...browser };
    expect((await send(json as Record<string, string>)).statusCode).toBe(200);
  }
  expect((await send({ "content-type": "text/plain" })).statusCode).toBe(415);
});
