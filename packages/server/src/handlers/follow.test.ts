import { routes } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test, vi } from "vitest";
import type { Follower } from "../executions/follower.ts";
import type { FollowOptions } from "../executions/requests.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, silent, TestEngine } from "../testing/start-engine.ts";
import { executionHandlers } from "./executions.ts";

/** The frames of a whole stream over HTTP, as `<id> <state>`. */
async function streamed(
  t: TestEngine,
  execution_id: string,
  headers: Record<string, string> = {},
  query = "",
) {
  const app = appOf(t);
  const url = `/executions/${execution_id}?mode=stream${query}`;
  const answer = await app.inject({ method: "GET", url, headers });
  const frames = answer.body.matchAll(/^id: (\d+)\nevent: hello\.execution\.(\w+)$/gm);
  return { answer, frames: [...frames].map(([, id, state]) => `${id} ${state}`) };
}

function appOf({ engine }: TestEngine) {
  return createApp({
    routes: { executions: routes.executions },
    handlers: { executions: executionHandlers(engine, 300) },
    log: silent,
    ids: () => "r",
  });
}

/** Reads frames one by one; each as `<id> <state>` of its record. */
function reading(follower: Follower) {
  const frames = follower.frames();
  return async (): Promise<string | undefined> => {
    const { value, done } = await frames.next();
    if (done || typeof value === "string") return undefined;
    return `${value.id} ${(value.data as { state: string }).state}`;
  };
}

/** An execution that rests at a pause: its log is created, claimed, started, …, paused as 6. */
async function paused(t: TestEngine, worker: ScriptedWorker) {
  const { execution_id } = await t.run();
  await worker.paused(await worker.next("assign"));
  return execution_id;
}

async function completeResumed(t: TestEngine, worker: ScriptedWorker, execution_id: string) {
  await t.engine.executions.resume({ execution_id, input: null, by: null });
  const assigned = await worker.next("assign");
  await worker.checkpoint(assigned, assigned.head, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_RESUMED", null),
    worker.event(assigned, "WORKFLOW_COMPLETED", "done"),
  ]);
}

test("EXE-93 following begins with the state now, stays open at a pause and closes after the end", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const execution_id = await paused(t, worker);
  const next = reading(await t.engine.executions.follow({ execution_id }));
  expect(await next()).toBe("6 PAUSED");
  await completeResumed(t, worker, execution_id);
  const rest = [await next(), await next(), await next(), await next(), await next()];
  expect(rest).toEqual([
    expect.stringMatching(/^\d+ RESUMING$/),
    expect.stringMatching(/^\d+ CLAIMED$/),
    expect.stringMatching(/^\d+ RUNNING$/),
    expect.stringMatching(/^\d+ COMPLETED$/),
    undefined,
  ]);
});

test("EXE-93 a reader that comes back with Last-Event-ID gets every state frame after it, pauses included", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const first = reading(follower);
  await worker.paused(await worker.next("assign"));
  const seen = [await first(), await first(), await first(), await first()];
  const { execution_id } = follower;
  await completeResumed(t, worker, execution_id);

  const { answer, frames } = await streamed(t, execution_id, { "last-event-id": "0" });
  expect(answer.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "x-engine-execution-id": execution_id,
  });
  expect(frames.slice(0, 4)).toEqual(seen.map((frame) => frame?.toLowerCase()));
  const ids = frames.map((frame) => Number.parseInt(frame, 10));
  for (const [i, id] of ids.entries()) {
    const again = await streamed(t, execution_id, { "last-event-id": String(id) });
    expect(again.frames).toEqual(frames.slice(i + 1));
  }
  // Between two frames, and past the end.
  const [, , third = 0] = ids;
  const between = await streamed(t, execution_id, { "last-event-id": String(third + 1) });
  expect(between.frames).toEqual(frames.slice(3));
  expect((await streamed(t, execution_id, { "last-event-id": "9999" })).frames).toEqual([]);
});

test("EXE-93 what happens while a reader comes back follows what it missed, once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const execution_id = await paused(t, worker);
  const next = reading(await t.engine.executions.follow({ execution_id, after: 2 }));
  await completeResumed(t, worker, execution_id);
  const told: string[] = [];
  for (let frame = await next(); frame; frame = await next()) told.push(frame);
  const whole = await streamed(t, execution_id, { "last-event-id": "2" });
  expect(told.map((frame) => frame.toLowerCase())).toEqual(whole.frames);
});

test("EXE-93 the first frame has the number of the event that made the state, and the record as it is now", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const assigned = await worker.next("assign");
  const { execution_id } = assigned;
  const tasks = Array.from({ length: 120 }, (_, i) => [
    worker.callEvent("TASK_STARTED", `t~${i}`),
    worker.callEvent("TASK_COMPLETED", `t~${i}`),
  ]);
  await worker.started(assigned, tasks.flat());
  await worker.checkpoint(assigned, 243, "RUNNING", [
    worker.callEvent("TASK_STARTED", "signal~1", { name: "paid" }),
  ]);
  for (const detailed of [false, true]) {
    const options: FollowOptions = { detailed };
    const follower = await t.engine.executions.follow({ execution_id }, options);
    const { value } = await follower.frames().next();
    expect(value).toMatchObject({
      event: "hello.execution.running",
      id: 3,
      data: { state: "RUNNING", waiting: [{ kind: "signal", name: "paid" }] },
    });
    const { events } = (value as { data: { events?: unknown[] } }).data;
    expect(events?.length).toBe(detailed ? 244 : undefined);
    follower.close();
  }
});

test("EXE-93 of an execution that has ended there is one frame", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.completed(await worker.next("assign"), "done");
  const { frames } = await streamed(t, execution_id);
  expect(frames).toEqual(["4 completed"]);
});

test("EXE-93 a reader that leaves affects nobody", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const execution_id = await paused(t, worker);
  const left = await t.engine.executions.follow({ execution_id });
  const stays = reading(await t.engine.executions.follow({ execution_id }));
  left.close();
  expect(await stays()).toBe("6 PAUSED");
  await completeResumed(t, worker, execution_id);
  expect(await stays()).toBe("9 RESUMING");
});

test("EXE-93 PRG-2 a client that hangs up is followed no more, and whoever stays goes on", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const execution_id = await paused(t, worker);
  const app = appOf(t);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const clients = [new AbortController(), new AbortController()] as const;
  const [first, second] = await Promise.all(
    clients.map(async ({ signal }) => {
      const { body } = await fetch(`${base}/executions/${execution_id}?mode=stream`, { signal });
      return body?.pipeThrough(new TextDecoderStream()).getReader();
    }),
  );
  expect((await first?.read())?.value).toContain("hello.execution.paused");
  expect((await second?.read())?.value).toContain("hello.execution.paused");
  clients[0].abort();
  await t.engine.executions.resume({ execution_id, input: null, by: null });
  const assigned = await worker.next("assign");
  expect(assigned.listen).toBe(true);
  expect((await second?.read())?.value).toContain("hello.execution.resuming");
  clients[1].abort();
  // The server hears of it when the socket closes; a second later the worker need not send.
  await vi.waitFor(async () => {
    await t.time.advance(1_000);
    expect(worker.frames.at(-1)).toEqual({ event: "listen", data: { execution_id, on: false } });
  });
  app.server.closeAllConnections();
  await app.close();
});

test("EXE-91 what cannot be followed is refused before the stream", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await t.run();
  expect((await streamed(t, "nobody")).answer.statusCode).toBe(404);
  for (const id of ["x", "-1", "1.5"]) {
    expect((await streamed(t, execution_id, { "last-event-id": id })).answer.statusCode).toBe(422);
  }
  const { answer } = await streamed(t, execution_id, {}, "&after=2");
  expect(answer.json()).toMatchObject({
    error: { code: "invalid_input", message: expect.stringContaining("Last-Event-ID") },
  });
});
