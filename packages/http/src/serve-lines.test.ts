import { type ClientRequest, type IncomingMessage, request as open } from "node:http";
import { EngineError } from "@engine/contract";
import type { FastifyInstance } from "fastify";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";

const routes = {
  things: {
    talk: {
      method: "POST",
      path: "/talk",
      summary: "-",
      permission: { kind: "open" },
      effect: "write",
      body: z.strictObject({ n: z.number() }),
      bodyLimit: 100,
      lines: z.unknown(),
      answers: { 200: { raw: "application/x-ndjson", meaning: "-" } },
    },
  },
} as const satisfies RouteTable;

let app: FastifyInstance | undefined;
afterEach(() => app?.close());

async function talk(answerLine: (line: { n: number }) => Promise<unknown>) {
  app = createApp({
    routes,
    handlers: { things: { talk: () => ({ answerLine }) } },
    log: { error: () => {} },
    ids: () => "r1",
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  const headers = { "content-type": "application/x-ndjson" };
  const request = open(`${base}/talk`, { method: "POST", headers });
  request.flushHeaders();
  request.on("error", () => {});
  const response = await new Promise<IncomingMessage>((resolve) => request.on("response", resolve));
  response.setEncoding("utf8");
  return { request, response, next: reader(response) };
}

/** Gives one line of the answer after the other; undefined once it has ended. */
function reader(response: IncomingMessage): () => Promise<unknown> {
  const parts = response[Symbol.asyncIterator]();
  let text = "";
  return async () => {
    while (!text.includes("\n")) {
      const { value, done } = await parts.next();
      if (done) return undefined;
      text += value;
    }
    const [line = "", ...rest] = text.split("\n");
    text = rest.join("\n");
    return JSON.parse(line);
  };
}

const say = (request: ClientRequest, text: string) => request.write(text);

test("every line is answered by one, in order, while the request is still open", async () => {
  const { request, next } = await talk(async ({ n }) => ({ twice: n * 2 }));
  say(request, '{"n":1}\n');
  expect(await next()).toEqual({ twice: 2 });
  say(request, '{"n":2}\n{"n":3}\n{"n"');
  expect(await next()).toEqual({ twice: 4 });
  expect(await next()).toEqual({ twice: 6 });
  say(request, ":4}\n");
  expect(await next()).toEqual({ twice: 8 });
  request.end();
  expect(await next()).toBeUndefined();
});

test("a slow answer is not overtaken by the one behind it", async () => {
  const finish: (() => void)[] = [];
  const { request, next } = await talk(async ({ n }) => {
    if (n === 1) await new Promise<void>((resolve) => finish.push(resolve));
    return { n };
  });
  say(request, '{"n":1}\n{"n":2}\n');
  while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
  finish[0]?.();
  expect([await next(), await next()]).toEqual([{ n: 1 }, { n: 2 }]);
});

test("a line that is refused is answered by its error and the conversation goes on", async () => {
  const { request, next } = await talk(async ({ n }) => {
    if (n === 2) throw new EngineError("session_unknown", "no such session");
    if (n === 3) throw new Error("a defect with a secret");
    return { n };
  });
  say(request, '{"n":2}\n{"n":"x"}\nnot json\n{"n":3}\n{"n":1}\n');
  expect(await next()).toMatchObject({ error: { code: "session_unknown" } });
  expect(await next()).toMatchObject({
    error: { code: "invalid_input", details: { issues: [{ path: "body.n" }] } },
  });
  expect(await next()).toMatchObject({ error: { code: "bad_request" } });
  const defect = await next();
  expect(defect).toMatchObject({ error: { code: "internal" } });
  expect(JSON.stringify(defect)).not.toContain("secret");
  expect(await next()).toEqual({ n: 1 });
});

test("NET-1 a line over the limit is refused and ends the conversation", async () => {
  const { request, next } = await talk(async ({ n }) => ({ n }));
  say(request, `{"n":${"1".repeat(200)}`);
  expect(await next()).toMatchObject({
    error: { code: "payload_too_large", details: { limit_bytes: 100 } },
  });
  expect(await next()).toBeUndefined();
});

test("NET-1 a sender who does not wait for answers is not read on until there are some", async () => {
  const first = Promise.withResolvers<void>();
  const { request, next } = await talk(async ({ n }) => {
    await first.promise;
    return { n };
  });
  // What is not read stays with the sender, once the connection is full.
  const [lines, most] = [1_000, 400_000];
  const text = `{"n":1${" ".repeat(90)}}\n`.repeat(lines);
  let said = 0;
  while (said < most && (request.socket?.writableLength ?? 0) < 1_000_000) {
    say(request, text);
    said += lines;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(said).toBeLessThan(most);
  first.resolve();
  expect([await next(), await next()]).toEqual([{ n: 1 }, { n: 1 }]);
  request.destroy();
});

test("a server that closes ends the conversation", async () => {
  const { request, next } = await talk(async ({ n }) => ({ n }));
  say(request, '{"n":1}\n');
  expect(await next()).toEqual({ n: 1 });
  await app?.close();
  expect(await next().catch(() => undefined)).toBeUndefined();
});
