import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import type { SseFrame } from "../harness/sse.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
  await engine.register("counting", "review");
});
afterAll(() => engine[Symbol.asyncDispose]());

async function framesOf(path: string, body: unknown): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  for await (const frame of engine.http.stream(path, body)) frames.push(frame);
  return frames;
}

test("EXE-91 EXE-92 PRG-6 a streamed run shows each state once and in order, progress in between", async () => {
  const frames = await framesOf("/workflows/default/counting/run/stream", 5);
  const states = frames.filter(({ event }) => event !== "task.progress");
  expect(states.map(({ event }) => event)).toEqual([
    "counting.execution.created",
    "counting.execution.claimed",
    "counting.execution.running",
    "counting.execution.completed",
  ]);
  const ids = states.map(({ id }) => Number(id));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect(frames.at(-1)).toMatchObject({ data: { state: "COMPLETED", output: 10 } });

  const progress = frames.filter(({ event }) => event === "task.progress");
  expect(progress.every(({ id }) => id === undefined)).toBe(true);
  // From the first frame behind that of running up to that of the end.
  expect(frames.slice(3, -1)).toEqual(progress);
  expect(progress.map(({ data }) => [data["source_id"], data["value"]])).toEqual(
    ["count~1", "count~2"].flatMap((call) => [1, 2, 3, 4, 5].map((n) => [call, { n }])),
  );
  expect(progress[0]?.data).toMatchObject({
    type: "TASK_PROGRESS",
    name: "count",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/),
  });
});

test("I22 progress is never stored: the log has two events per task", async () => {
  const frames = await framesOf("/workflows/default/counting/run/stream", 2);
  const log = await engine.http.log(String(frames.at(-1)?.data["execution_id"]));
  const tasks = log.filter(({ type }) => type.startsWith("TASK_"));
  expect(tasks.map(({ type }) => type)).toEqual([
    "TASK_STARTED",
    "TASK_COMPLETED",
    "TASK_STARTED",
    "TASK_COMPLETED",
  ]);
});

test("EXE-93 a stream ends at a pause; the stream of its resume begins with resuming", async () => {
  const article = { topic: "streams", file: engine.home.file("bodies.txt") };
  const first = await framesOf("/workflows/default/review/run/stream", article);
  expect(first.at(-1)).toMatchObject({
    event: "review.execution.paused",
    data: { state: "PAUSED", pause: { name: "verdict" } },
  });
  const id = String(first.at(-1)?.data["execution_id"]);
  const second = await framesOf(`/workflows/default/review/resume/${id}/stream`, { ok: true });
  expect(second.map(({ event }) => event)).toEqual([
    "review.execution.resuming",
    "review.execution.claimed",
    "review.execution.running",
    "review.execution.completed",
  ]);
  const ids = [...first, ...second].map((frame) => Number(frame.id));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect(second.at(-1)?.data).toMatchObject({ output: "published: On streams" });
});

test("EXE-91 a stream that cannot start is refused with a JSON error, not with frames", async () => {
  const answer = await engine.http.post("/workflows/default/nowhere/run/stream", null);
  expect(answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
});
