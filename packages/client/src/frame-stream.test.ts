import { EngineError, type SseFrame, sseComment, sseText } from "@engine/contract";
import { expect, test } from "vitest";
import { createClient } from "./client.ts";
import type { Frame, FrameStream } from "./frame-stream.ts";

const run = { params: { ns: "default", wf: "hello", mode: "stream" as const }, body: null };

/** A stream whose server side is in the test's hands. */
async function opened(options: { signal?: AbortSignal } = {}) {
  const encoder = new TextEncoder();
  let server: ReadableStreamDefaultController<Uint8Array> | undefined;
  const left = Promise.withResolvers<void>();
  const client = createClient({
    baseUrl: "http://engine.test",
    fetch: async (_, { signal }) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          server = controller;
          signal?.addEventListener("abort", () => {
            left.resolve();
            controller.error(signal.reason);
          });
        },
      });
      return new Response(body, {
        headers: {
          "content-type": "text/event-stream; charset=utf-8",
          "x-engine-execution-id": "e1",
        },
      });
    },
  });
  const frames = await client.executions.run.stream(run, options);
  return {
    frames,
    left: left.promise,
    send: (...texts: string[]) => {
      for (const text of texts) server?.enqueue(encoder.encode(text));
    },
    end: () => server?.close(),
    breaks: () => server?.error(new TypeError("terminated")),
  };
}

async function all(frames: FrameStream): Promise<Frame[]> {
  const list: Frame[] = [];
  for await (const frame of frames) list.push(frame);
  return list;
}

test("frames arrive in order with data and id; comments and cut chunks do not show", async () => {
  const { frames, send, end } = await opened();
  const sent: SseFrame[] = [
    { event: "hello.execution.created", data: { state: "CREATED", text: "größer\n" }, id: 1 },
    { event: "task.progress", data: 5 },
  ];
  const bytes = sent.map(sseText).join(sseComment("ping"));
  send(bytes.slice(0, 17), bytes.slice(17, 60), bytes.slice(60));
  end();
  expect(frames.executionId).toBe("e1");
  expect(await all(frames)).toEqual([
    { event: "hello.execution.created", data: { state: "CREATED", text: "größer\n" }, id: 1 },
    { event: "task.progress", data: 5, id: undefined },
  ]);
});

test("leaving the loop closes the connection", async () => {
  const { frames, send, left } = await opened();
  send(sseText({ event: "tick", data: 1 }), sseText({ event: "tick", data: 2 }));
  for await (const frame of frames) {
    expect(frame.data).toBe(1);
    break;
  }
  await left;
});

test("close, or the caller's signal, ends a loop that waits, without an error", async () => {
  const closed = await opened();
  const waiting = all(closed.frames);
  closed.frames.close();
  expect(await waiting).toEqual([]);

  const leave = new AbortController();
  const aborted = await opened({ signal: leave.signal });
  const waitingToo = all(aborted.frames);
  leave.abort();
  expect(await waitingToo).toEqual([]);
});

test("a connection that breaks throws unavailable after the frames that arrived", async () => {
  const { frames, send, breaks } = await opened();
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const { data } of frames) {
      seen.push(data);
      breaks();
    }
  })();
  send(sseText({ event: "tick", data: 1 }));
  await expect(reading).rejects.toMatchObject({ code: "unavailable" });
  expect(seen).toEqual([1]);
});

test("an error frame is thrown as the error it holds", async () => {
  const { frames, send, left } = await opened();
  send(sseText({ event: "error", data: { code: "permission_denied", message: "no longer" } }));
  await expect(all(frames)).rejects.toEqual(new EngineError("permission_denied", "no longer"));
  await left;
});

test("EXE-91 a refusal before the stream is thrown by the call itself", async () => {
  const client = createClient({
    baseUrl: "http://engine.test",
    fetch: async () => {
      const error = { code: "not_found", message: "no workflow hello" };
      return new Response(JSON.stringify({ error }), { status: 404 });
    },
  });
  await expect(client.executions.run.stream(run)).rejects.toMatchObject({ code: "not_found" });
});
