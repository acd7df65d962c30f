/** `FUZZ_RUNS` sets how many streams each property sees. */
import { EngineError, type SseFrame, sseComment, sseText } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type Frame, FrameStream } from "./frame-stream.ts";

// There are no types of Node here: the package runs elsewhere too.
const { process } = globalThis as { process?: { env: Record<string, string> } };
const numRuns = Number(process?.env["FUZZ_RUNS"] ?? 300);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

/** A stream that brings these bytes, cut wherever the numbers say. */
function streamOf(bytes: Uint8Array, cuts: readonly number[]): FrameStream {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
  places.sort((a, b) => a - b);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const [i, from] of places.entries()) {
        const piece = bytes.subarray(from, places[i + 1] ?? from);
        if (piece.length > 0) controller.enqueue(piece);
      }
      controller.close();
    },
  });
  return new FrameStream(new Response(body), new AbortController(), "http://engine.test");
}

async function all(stream: FrameStream): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of stream) frames.push(frame);
  return frames;
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });
const frame = fc.record<SseFrame>(
  {
    event: fc.constantFrom("shop.order.created", "task.progress", "ping", "größe"),
    data: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    id: fc.nat(),
  },
  { requiredKeys: ["event", "data"] },
);

test("EXE-94 frames read back as they were written, wherever the network cuts them", async () => {
  const sent = fc.array(frame, { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sent, cuts, fc.boolean(), async (frames, at, isChatty) => {
      const text = frames.map(sseText).join(isChatty ? sseComment("ping") : "");
      const heard = await all(streamOf(new TextEncoder().encode(text), at));
      expect(heard).toEqual(frames.map(({ event, data, id }) => ({ event, data, id })));
    }),
    { numRuns },
  );
});

test("EXE-94 whatever a server sends in place of frames ends the loop or is a coded error", async () => {
  const line = fc.constantFrom(
    'data: {"a":1}',
    "data: {",
    "data: undefined",
    "data",
    "event: error",
    'data: {"code":"internal","message":"no","details":null,"request_id":null}',
    "id: 7",
    "id: x",
    "retry: 1e9",
    ": ping",
    "",
    "\ufeff",
    "\r",
  );
  const lines = fc.array(line, { maxLength: 12 }).map((texts) => texts.join("\n"));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    lines.map((text) => new TextEncoder().encode(`${text}\n\n`)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, cuts, async (given, at) => {
      const failure: unknown = await all(streamOf(given, at)).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure !== undefined) expect(failure).toBeInstanceOf(EngineError);
    }),
    { numRuns },
  );
});
