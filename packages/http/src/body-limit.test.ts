import { AnyJson } from "@engine/contract";
import { expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { answer } from "./reply.ts";

const open = {
  permission: { kind: "open" },
  effect: "write",
  summary: "-",
  method: "POST",
  answers: { 204: { raw: null, meaning: "-" } },
} as const;

const routes = {
  things: {
    run: { ...open, path: "/run", body: AnyJson, bodyLimit: "value" },
    keep: {
      ...open,
      path: "/keep",
      body: z.strictObject({ text: z.string() }),
      bodyLimit: "quoted_value",
    },
    other: { ...open, path: "/other", body: AnyJson },
  },
} as const satisfies RouteTable;

function app(valueBytes: number) {
  const taken = () => answer(204, undefined);
  return createApp({
    routes,
    handlers: { things: { run: taken, keep: taken, other: taken } },
    log: { error: () => {} },
    ids: () => "r",
    valueBytes,
  });
}

async function post(to: ReturnType<typeof app>, url: string, payload: string, isChunked = false) {
  const headers = {
    "content-type": "application/json",
    ...(isChunked && { "transfer-encoding": "chunked" }),
  };
  const response = await to.inject({ method: "POST", url, payload, headers });
  const { error } = response.statusCode === 204 ? { error: undefined } : response.json();
  return [response.statusCode, error?.details?.limit_bytes];
}

const text = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));

test("NET-1 a body that is a value may be as large as the largest value, declared or not", async () => {
  for (const valueBytes of [2_000, 3_000_000]) {
    for (const isChunked of [false, true]) {
      const to = app(valueBytes);
      expect(await post(to, "/run", text(valueBytes), isChunked)).toEqual([204, undefined]);
      expect(await post(to, "/run", text(valueBytes + 1), isChunked)).toEqual([413, valueBytes]);
      await to.close();
    }
  }
});

test("NET-1 a stored value of that size fits, however much of it has to be quoted", async () => {
  const to = app(2_000);
  const value = `[${'"",'.repeat(665)}1]`;
  expect(value.length).toBe(1998);
  expect(await post(to, "/keep", JSON.stringify({ text: value }))).toEqual([204, undefined]);
  expect(await post(to, "/keep", text(5_025))).toEqual([413, 5_024]);
});

test("NET-1 any other body may take 1 MiB", async () => {
  const to = app(2_000);
  const MIB = 1024 * 1024;
  expect(await post(to, "/other", text(MIB))).toEqual([204, undefined]);
  expect(await post(to, "/other", text(MIB + 1))).toEqual([413, MIB]);
  await to.close();
});
