import { EngineError, type Json } from "@engine/contract";
import { expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { JsonText } from "./json/json-text.ts";
import type { Redaction, Redactor } from "./redaction.ts";
import { answer, type StreamPart } from "./reply.ts";

const SECRET = "hunter22";
const open = { permission: { kind: "open" }, effect: "read", summary: "-" } as const;
const routes = {
  things: {
    json: { ...open, method: "GET", path: "/json", answers: { 200: z.unknown() } },
    text: {
      ...open,
      method: "GET",
      path: "/text",
      answers: { 200: { raw: "text/plain", meaning: "-" } },
    },
    raw: {
      ...open,
      method: "GET",
      path: "/raw",
      answers: { 200: { raw: "application/json", meaning: "-" } },
    },
    plain: { ...open, method: "GET", path: "/plain", redact: false, answers: { 200: z.unknown() } },
    fails: { ...open, method: "GET", path: "/fails/{name}", answers: { 200: z.unknown() } },
    stream: {
      ...open,
      method: "GET",
      path: "/stream",
      answers: { 200: { raw: "text/event-stream", meaning: "-" } },
      frames: { tick: z.unknown(), passed: z.unknown() },
    },
  },
} as const satisfies RouteTable;

const redactor: Redactor = {
  isEmpty: false,
  text: (text) => text.replaceAll(SECRET, "***"),
  json: (text) => text.replaceAll(SECRET, "***"),
};

function serving(redaction: Partial<Redaction>, frames: () => AsyncIterable<StreamPart> = ticks) {
  return createApp({
    routes,
    handlers: {
      things: {
        json: () => answer(200 as const, { of: SECRET }),
        text: () => answer(200, `is ${SECRET}`),
        raw: () => ({ status: 200 as const, raw: Buffer.from(`{"of":"${SECRET}"}`) }),
        plain: () => answer(200, { of: SECRET }),
        fails: ({ params }) => {
          if (params.name === "away") throw new EngineError("unavailable", "the database is away");
          throw new EngineError("not_found", `no ${params.name}`);
        },
        stream: () => ({ frames: frames() }),
      },
    },
    redaction: {
      known: () => redactor,
      current: () => Promise.reject(new Error("not asked")),
      passedFrames: new Set(["passed"]),
      ...redaction,
    },
    log: { error: () => undefined },
    ids: () => "r1",
  });
}

async function* ticks(): AsyncGenerator<StreamPart> {
  yield `about ${SECRET}`;
  yield { event: "tick", data: SECRET, id: 1 };
  yield { event: "passed", data: SECRET };
  throw new EngineError("conflict", `for ${SECRET}`);
}

test.each([
  ["/json", '{"of":"***"}'],
  ["/text", "is ***"],
  ["/raw", '{"of":"***"}'],
  ["/plain", `{"of":"${SECRET}"}`],
])(
  "RED-3 what is masked is masked in what %s answers, unless its row says otherwise",
  async (url, body) => {
    const app = serving({});
    expect((await app.inject(url)).body).toBe(body);
    await app.close();
  },
);

test.each([`/fails/${SECRET}`, `/nowhere/${SECRET}`])(
  "RED-3 and in the refusal of %s",
  async (url) => {
    const app = serving({});
    const { body, statusCode } = await app.inject(url);
    expect(statusCode).toBe(404);
    expect(body).not.toContain(SECRET);
    expect(body).toContain("***");
    await app.close();
  },
);

test("RED-3 RED-4 and in frames, comments and the error that ends a stream, not in frames that pass", async () => {
  const app = serving({});
  const { body } = await app.inject("/stream");
  expect(body.split("\n\n").slice(0, 3)).toEqual([
    ": about ***",
    'id: 1\nevent: tick\ndata: "***"',
    `event: passed\ndata: "${SECRET}"`,
  ]);
  expect(body).toContain('event: error\ndata: {"code":"conflict","message":"for ***"}');
  await app.close();
});

test("RED-5 while nobody knows what is masked each answer waits until it is known", async () => {
  const known = Promise.withResolvers<Redactor>();
  const app = serving({ known: () => undefined, current: () => known.promise });
  const answers = ["/json", "/stream", "/fails/hunter22"].map((url) => app.inject(url));
  known.resolve(redactor);
  const bodies = (await Promise.all(answers)).map(({ body }) => body);
  expect(bodies[0]).toBe('{"of":"***"}');
  expect(bodies[1]).toContain('data: "***"');
  expect(bodies[1]).toContain("for ***");
  expect(bodies[2]).toContain("no ***");
  await app.close();
});

test("RED-5 where it cannot be known nothing is told but that, and routes that do not depend on it answer", async () => {
  const away = new EngineError("redaction_unavailable", "away");
  const app = serving({ known: () => undefined, current: () => Promise.reject(away) });
  for (const url of ["/json", "/text", "/raw", `/fails/${SECRET}`]) {
    const { statusCode, body } = await app.inject(url);
    expect({ url, statusCode }).toEqual({ url, statusCode: 503 });
    expect(JSON.parse(body).error.code).toBe("redaction_unavailable");
    expect(body).not.toContain(SECRET);
  }
  const { body } = await app.inject("/stream");
  expect(body).toMatch(/^event: error\ndata: \{"code":"redaction_unavailable".*\}\n\n$/);
  expect((await app.inject("/plain")).statusCode).toBe(200);
  await app.close();
});

test("RED-5 who asks while the database is away is told that", async () => {
  const away = new EngineError("redaction_unavailable", "away");
  const app = serving({ known: () => undefined, current: () => Promise.reject(away) });
  const { statusCode, body } = await app.inject("/fails/away");
  expect([statusCode, JSON.parse(body).error.code]).toEqual([503, "unavailable"]);
  await app.close();
});

test.each([
  ["at once", (broken: Redactor) => ({ known: () => broken })],
  [
    "once it is known",
    (broken: Redactor) => ({ known: () => undefined, current: async () => broken }),
  ],
])("RED-5 what cannot be looked through, %s, is not told: only that", async (_, knowing) => {
  // As a masker does where a worker has stored something else than JSON.
  const broken: Redactor = {
    isEmpty: false,
    text: () => JSON.parse("{"),
    json: (text) => (text.startsWith('{"error') ? text : JSON.parse("{")),
  };
  const app = serving(knowing(broken));
  for (const url of ["/json", "/text", "/raw"]) {
    const { statusCode, body } = await app.inject(url);
    expect([url, statusCode, JSON.parse(body).error.code]).toEqual([
      ...[url, 503, "redaction_unavailable"],
    ]);
    expect(body).not.toContain(SECRET);
  }
  const { body } = await app.inject("/stream");
  expect(body).toMatch(/^event: error\ndata: \{"code":"redaction_unavailable".*\}\n\n$/);
  await app.close();
});

test.each([true, false])(
  "RED-3 a stored value of many pieces is looked through across their ends (nothing masked: %s)",
  async (isEmpty) => {
    const token = "engine_ak_0123";
    const masking: Redactor = {
      isEmpty,
      text: (text) => text.replaceAll(token, "***"),
      json: (text) => text.replaceAll(token, "***"),
    };
    const piece = 256 * 1024;
    const text = JSON.stringify(`${" ".repeat(piece - 6)}${token} ${"y".repeat(10)}`);
    const reference = { storage_type: "file", reference_id: "e1/1", metadata: {} };
    const large: Json = JsonText.of(reference, text, async () => text);
    async function* frames(): AsyncGenerator<StreamPart> {
      yield { event: "tick", data: { large }, id: 1 };
    }
    const app = serving({ known: () => masking }, frames);
    const { body } = await app.inject("/stream");
    expect(body).toBe(`id: 1\nevent: tick\ndata: {"large":${text.replace(token, "***")}}\n\n`);
    await app.close();
  },
);
