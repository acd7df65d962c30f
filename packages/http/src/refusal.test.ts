import { EngineError, type ErrorCode, type Json } from "@engine/contract";
import { expect, test } from "vitest";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";

const routes = {
  things: {
    fail: {
      method: "GET",
      path: "/fail",
      summary: "-",
      permission: { kind: "open" },
      effect: "read",
      answers: { 204: { raw: null, meaning: "-" } },
    },
  },
} as const satisfies RouteTable;

async function refused(code: ErrorCode, details: Record<string, Json>) {
  const app = createApp({
    routes,
    handlers: {
      things: {
        fail: () => {
          throw new EngineError(code, "no", { details });
        },
      },
    },
    log: { error: () => {} },
    ids: () => "r",
  });
  return (await app.inject({ url: "/fail" })).headers;
}

test("AUTH-9 a 401 names the scheme, and that the token is at fault where one came", async () => {
  const challenge = async (reason: string) =>
    (await refused("unauthenticated", { reason }))["www-authenticate"];
  expect(await challenge("missing")).toBe('Bearer realm="engine"');
  for (const reason of ["malformed", "invalid", "expired", "disabled", "not_provisioned"]) {
    expect(await challenge(reason)).toBe('Bearer realm="engine", error="invalid_token"');
  }
});

test("MCA-2 a 401 that knows its metadata names it, and which check a token failed", async () => {
  const challenge = async (details: Record<string, Json>) =>
    (await refused("unauthenticated", { ...details, resource_metadata: "https://a.example/m" }))[
      "www-authenticate"
    ];
  const pointer = 'Bearer resource_metadata="https://a.example/m"';
  expect(await challenge({ reason: "missing" })).toBe(pointer);
  expect(await challenge({ reason: "malformed" })).toBe(pointer);
  expect(await challenge({ reason: "expired", check: "expired" })).toBe(
    `${pointer}, error="invalid_token", error_description="no"`,
  );
});

test("NET-2 a 429 and a 503 say in their headers, too, when to come again", async () => {
  for (const code of ["rate_limited", "auth_unavailable", "unavailable"] as const) {
    expect(await refused(code, { retry_after_seconds: 5 })).toMatchObject({ "retry-after": "5" });
    expect(await refused(code, {})).not.toHaveProperty("retry-after");
  }
  expect(await refused("conflict", { retry_after_seconds: 5 })).not.toHaveProperty("retry-after");
});
