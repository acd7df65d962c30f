import { EngineError } from "@engine/contract";
import { afterEach, expect, test } from "vitest";
import { type App, createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { RateLimits } from "./rate-limits.ts";
import { answer } from "./reply.ts";

const ok = { 204: { raw: null, meaning: "-" } } as const;
const routes = {
  things: {
    register: {
      method: "POST",
      path: "/register",
      summary: "-",
      permission: { kind: "open" },
      effect: "write",
      limit: { rate: "register", per: "address" },
      answers: ok,
    },
    testToken: {
      method: "POST",
      path: "/test-token",
      summary: "-",
      permission: { kind: "grant", grant: "test" },
      effect: "read",
      limit: { rate: "test_token", per: "principal" },
      answers: ok,
    },
    read: {
      method: "GET",
      path: "/read",
      summary: "-",
      permission: { kind: "identity" },
      effect: "read",
      answers: ok,
    },
  },
} as const satisfies RouteTable;

let app: App | undefined;
afterEach(() => app?.close());

class Asked {
  now = 0;
  asked: (string | undefined)[] = [];
  readonly app: App;

  constructor(rates: Record<string, string>, trustedProxies: string[] = []) {
    const done = () => answer(204, undefined);
    this.app = createApp({
      routes,
      handlers: { things: { register: done, testToken: done, read: done } },
      log: { error: () => {} },
      ids: () => "r",
      authorize: ({ permission }, { headers, address }) => {
        this.asked.push(address);
        if (permission.kind === "open") return { principal: null };
        const { authorization } = headers;
        if (authorization === "Bearer bad" || authorization === undefined) {
          const details = { reason: authorization ? "invalid" : "missing" };
          throw new EngineError("unauthenticated", "no", { details });
        }
        const holds = () => authorization !== "Bearer weak";
        return { principal: String(authorization), rights: { holds, seenBy: () => [] } };
      },
      limits: new RateLimits({ rates, monotonic: () => this.now }),
      trustedProxies,
    });
    app = this.app;
  }

  async post(url: string, headers: Record<string, string> = {}, remoteAddress = "203.0.113.1") {
    const method = url === "/read" ? "GET" : "POST";
    const response = await this.app.inject({ method, url, headers, remoteAddress });
    const { error } = response.body ? response.json() : { error: {} };
    return {
      status: response.statusCode,
      code: error.code,
      retry: response.headers["retry-after"],
      seconds: error.details?.retry_after_seconds,
    };
  }
}

const OK = { status: 204 };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("NET-2 registrations of an address run out and come back one by one; others are not concerned", async () => {
  const t = new Asked({ register: "3/minute" });
  for (let i = 0; i < 3; i++) expect(await t.post("/register")).toMatchObject(OK);
  const refused = { status: 429, code: "rate_limited" };
  expect(await t.post("/register")).toEqual({ ...refused, retry: "20", seconds: 20 });
  expect(await t.post("/register", {}, "203.0.113.2")).toMatchObject(OK);
  t.now = 19_500;
  expect(await t.post("/register")).toMatchObject({ ...refused, retry: "1" });
  t.now = 20_000;
  expect(await t.post("/register")).toMatchObject(OK);
  expect(await t.post("/register")).toMatchObject(refused);
  t.now = 1e6;
  for (let i = 0; i < 3; i++) expect(await t.post("/register")).toMatchObject(OK);
  expect(await t.post("/register")).toMatchObject(refused);
  // Refused before anybody is asked who calls (AUTH-5).
  expect(t.asked).toHaveLength(8);
});

test("NET-2 addresses of one IPv6 network share a limit; behind a proxy each client has its own", async () => {
  const t = new Asked({ register: "1/minute" }, ["10.0.0.0/8"]);
  expect(await t.post("/register", {}, "2001:db8::1")).toMatchObject(OK);
  expect(await t.post("/register", {}, "2001:db8::2")).toMatchObject({ status: 429 });
  const from = (forwarded: string) =>
    t.post("/register", { "x-forwarded-for": forwarded }, "10.1.1.1");
  expect(await from("198.51.100.1")).toMatchObject(OK);
  expect(await from("198.51.100.2")).toMatchObject(OK);
  expect(await from("6.6.6.6, 198.51.100.2")).toMatchObject({ status: 429 });
  expect(t.asked).toEqual(["2001:db8::1", "198.51.100.1", "198.51.100.2"]);
});

test("NET-2 credentials refused too often are 429, and what counts still passes", async () => {
  const t = new Asked({ auth_failures: "2/minute" });
  for (let i = 0; i < 5; i++) expect(await t.post("/read", bearer("good"))).toMatchObject(OK);
  expect(await t.post("/read", bearer("bad"))).toMatchObject({ status: 401 });
  expect(await t.post("/read")).toMatchObject({ status: 401 });
  const refused = { status: 429, code: "rate_limited", retry: "30", seconds: 30 };
  expect(await t.post("/read", bearer("bad"))).toEqual(refused);
  expect(await t.post("/read", bearer("good"))).toMatchObject(OK);
  expect(await t.post("/read", bearer("bad"), "203.0.113.2")).toMatchObject({ status: 401 });
  t.now = 30_000;
  expect(await t.post("/read", bearer("bad"))).toMatchObject({ status: 401 });
  // A missing permission is no refused credential.
  for (let i = 0; i < 3; i++) {
    expect(await t.post("/test-token", bearer("weak"))).toMatchObject({ status: 403 });
  }
});

test("NET-2 a limit by principal counts what is permitted, for each one apart", async () => {
  const t = new Asked({ test_token: "2/minute" });
  for (let i = 0; i < 9; i++) {
    expect(await t.post("/test-token", bearer("weak"))).toMatchObject({ status: 403 });
  }
  for (let i = 0; i < 2; i++)
    expect(await t.post("/test-token", bearer("a"), `203.0.113.${i}`)).toMatchObject(OK);
  expect(await t.post("/test-token", bearer("a"))).toMatchObject({ status: 429, seconds: 30 });
  expect(await t.post("/test-token", bearer("b"))).toMatchObject(OK);
});

test("NET-2 an empty rate is no limit, and a rate that is none is refused", async () => {
  const t = new Asked({ register: "", auth_failures: "", test_token: "" });
  for (let i = 0; i < 200; i++) {
    expect(await t.post("/register")).toMatchObject(OK);
    expect(await t.post("/read")).toMatchObject({ status: 401 });
  }
  for (const register of ["0/minute", "5", "5/hour", "-1/minute", "1.5/minute"]) {
    expect(() => new RateLimits({ rates: { register }, monotonic: () => 0 })).toThrow("is no rate");
  }
});

test("NET-2 however many addresses come, only so many are counted at a time", () => {
  let now = 0;
  const limits = new RateLimits({ rates: { register: "1/minute" }, monotonic: () => now });
  const isRefused = (key: string) => {
    try {
      limits.take("register", key);
      return false;
    } catch {
      return true;
    }
  };
  for (let i = 0; i < 10_001; i++) expect(isRefused(`a${i}`)).toBe(false);
  // The first address was forgotten for the last one; the second is still known.
  expect(isRefused("a1")).toBe(true);
  expect(isRefused("a10000")).toBe(true);
  expect(isRefused("a0")).toBe(false);
  now = 60_000;
  expect(isRefused("a1")).toBe(false);
});
