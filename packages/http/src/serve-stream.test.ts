import { once } from "node:events";
import { connect } from "node:net";
import { EngineError } from "@engine/contract";
import type { FastifyInstance } from "fastify";
import { expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { Call, RouteTable } from "./handlers.ts";
import type { Repeat } from "./repeat.ts";
import type { StreamPart } from "./reply.ts";
import type { OpenStreams } from "./serve-stream.ts";

const routes = {
  watch: {
    watch: {
      method: "GET",
      path: "/watch",
      summary: "-",
      permission: { kind: "open" },
      effect: "read",
      answers: { 200: { raw: "text/event-stream", meaning: "frames" } },
      frames: { tick: z.unknown() },
    },
  },
} as const satisfies RouteTable;

interface Watched {
  app: FastifyInstance;
  streams: OpenStreams;
  logged: unknown[];
  /** Calls what the ping timer was given; counts the timers that run. */
  ping(): void;
  timers(): number;
}

function watching(frames: (call: Call) => AsyncIterable<StreamPart>, cut?: AbortSignal): Watched {
  const timers = new Map<() => void, number>();
  const pingTimer: Repeat = (everyMs, run) => {
    timers.set(run, everyMs);
    return () => void timers.delete(run);
  };
  const logged: unknown[] = [];
  const streams: OpenStreams = new Set();
  const app = createApp({
    routes,
    handlers: {
      watch: {
        watch: (_, call) => ({
          frames: frames(call),
          headers: { "x-engine-execution-id": "e1" },
          cut,
        }),
      },
    },
    log: { error: (fields) => void logged.push(fields) },
    ids: () => "r1",
    streams,
    pingTimer,
  });
  const ping = () => {
    for (const [run, everyMs] of timers) if (everyMs === 15_000) run();
  };
  return { app, streams, logged, ping, timers: () => timers.size };
}

async function openWatch(app: FastifyInstance, signal?: AbortSignal) {
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const response = await fetch(`${base}/watch`, { signal: signal ?? null });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return { response, read: async () => (await reader?.read())?.value };
}

test("EXE-94 frames, comments and ids arrive as server-sent events, never cached", async () => {
  const { app, streams, timers } = watching(async function* () {
    yield { event: "tick", data: { n: 1, text: "two\nlines" }, id: 7 };
    yield "note";
    yield { event: "tick", data: null };
  });
  const response = await app.inject({ url: "/watch" });
  expect(response.statusCode).toBe(200);
  expect(response.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
    "x-request-id": "r1",
    "x-engine-execution-id": "e1",
  });
  expect(response.body).toBe(
    'id: 7\nevent: tick\ndata: {"n":1,"text":"two\\nlines"}\n\n: note\n\nevent: tick\ndata: null\n\n',
  );
  expect([streams.size, timers()]).toEqual([0, 0]);
});

test("EXE-94 a quiet stream gets a ping comment", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { app, ping } = watching(async function* () {
    yield "quiet from here";
    await promise;
  });
  const { read } = await openWatch(app);
  expect(await read()).toBe(": quiet from here\n\n");
  ping();
  expect(await read()).toBe(": ping\n\n");
  resolve();
  expect(await read()).toBeUndefined();
  await app.close();
});

test("EXE-94 a frame in pieces arrives as one, and no ping comes in between", async () => {
  const more = Promise.withResolvers<void>();
  async function* pieces() {
    yield '{"list":[1';
    await more.promise;
    yield ",2]}";
  }
  const { app, ping } = watching(async function* () {
    yield { event: "tick", id: 3, data: {}, pieces: pieces() };
    yield { event: "tick", data: null };
  });
  const { read } = await openWatch(app);
  let text = (await read()) ?? "";
  expect(text).toBe('id: 3\nevent: tick\ndata: {"list":[1');
  ping();
  more.resolve();
  for (let part = await read(); part !== undefined; part = await read()) text += part;
  expect(text).toBe('id: 3\nevent: tick\ndata: {"list":[1,2]}\n\nevent: tick\ndata: null\n\n');
  await app.close();
});

test("EXE-94 a frame that breaks off half way breaks the connection: no error can stand in its data", async () => {
  async function* pieces() {
    yield '{"list":[1';
    throw new EngineError("unavailable", "the database is away");
  }
  const { app, streams } = watching(async function* () {
    yield { event: "tick", id: 3, data: {}, pieces: pieces() };
  });
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  await expect(fetch(`${base}/watch`).then((response) => response.text())).rejects.toThrow();
  expect(streams.size).toBe(0);
  await app.close();
});

test("a client that leaves ends the frames, and nothing is logged as a defect", async () => {
  const ended = Promise.withResolvers<void>();
  const watched = watching(async function* ({ signal }) {
    try {
      yield { event: "tick", data: 1 };
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    } finally {
      ended.resolve();
    }
  });
  const leave = new AbortController();
  const { read } = await openWatch(watched.app, leave.signal);
  expect(await read()).toContain("tick");
  expect(watched.streams.size).toBe(1);
  leave.abort();
  await ended.promise;
  expect([watched.streams.size, watched.timers(), watched.logged]).toEqual([0, 0, []]);
  await watched.app.close();
});

test("EXE-94 closing the server ends an open stream without a closing frame", async () => {
  const { app } = watching(async function* ({ signal }) {
    yield { event: "tick", data: 1 };
    await once(signal, "abort");
    yield { event: "tick", data: 2 };
  });
  const { read } = await openWatch(app);
  expect(await read()).toContain("data: 1");
  await app.close();
  expect(await read()).toBeUndefined();
});

test("a stream that cannot go on closes with an error frame; a defect shows nothing of itself", async () => {
  const refused = watching(async function* () {
    yield "begun";
    throw new EngineError("permission_denied", "no longer yours");
  });
  expect((await refused.app.inject({ url: "/watch" })).body).toBe(
    ': begun\n\nevent: error\ndata: {"code":"permission_denied","message":"no longer yours"}\n\n',
  );
  expect(refused.logged).toEqual([]);

  const broken = watching(async function* () {
    yield "begun";
    throw new Error("/etc/passwd");
  });
  const { body } = await broken.app.inject({ url: "/watch" });
  expect(body).toContain('"code":"internal"');
  expect(body).not.toContain("passwd");
  expect(broken.logged).toHaveLength(1);
});

test("a reader that does not read holds the frames back", async () => {
  let made = 0;
  const { app } = watching(async function* () {
    for (;;) {
      made += 1;
      yield { event: "tick", data: "x".repeat(20_000) };
      // Lets the socket take what was written.
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const socket = connect(port ?? 0, "127.0.0.1");
  socket.pause();
  socket.write("GET /watch HTTP/1.1\r\nhost: localhost\r\n\r\n");
  // The frames stop when the buffers of both sockets are full: no more after many turns.
  let before = -1;
  for (let turn = 0; turn < 8 && before !== made; turn++) {
    before = made;
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(made).toBe(before);
  expect(made).toBeGreaterThan(0);
  socket.destroy();
  await app.close();
});

test("WRK-7 a stream that is cut off ends at once, although its reader never took what was sent", async () => {
  const cut = new AbortController();
  const ended = Promise.withResolvers<void>();
  let sent = 0;
  const { app, streams } = watching(async function* () {
    try {
      for (; ; sent++) yield { event: "tick", data: "x".repeat(64 * 1024) };
    } finally {
      ended.resolve();
    }
  }, cut.signal);
  const { port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const reader = connect(Number(port), "127.0.0.1");
  reader.write("GET /watch HTTP/1.1\r\nhost: localhost\r\n\r\n");
  // It reads the head and nothing more.
  await once(reader, "readable");
  for (let before = -1; before < sent; await new Promise((next) => setTimeout(next, 20))) {
    before = sent;
  }
  expect(streams.size).toBe(1);
  cut.abort();
  await ended.promise;
  expect(streams.size).toBe(0);
  reader.on("error", () => undefined);
  reader.resume();
  await once(reader, "close");
  await app.close();
});
