import { RecordedEvent, routes } from "@engine/contract";
import { createApp } from "@engine/http";
import { expect, test } from "vitest";
import type { Follower } from "../executions/follower.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, silent, TestEngine } from "../testing/start-engine.ts";
import { executionHandlers } from "./executions.ts";

/** A frame as `<id> <type of the event, or state>`. */
function shortOf({ event, id, data }: { event: string; id?: number | undefined; data: unknown }) {
  if (event === "event") return `${id} ${(data as RecordedEvent).type}`;
  return `${id} ${event.split(".").at(-1)}`;
}

async function readAll(follower: Follower): Promise<string[]> {
  const read: string[] = [];
  for await (const part of follower.frames()) {
    if (typeof part !== "string") read.push(shortOf(part));
  }
  return read;
}

/** Runs a task, rests at a pause and completes once it is answered. */
async function liveThrough(t: TestEngine, worker: ScriptedWorker): Promise<void> {
  const first = await worker.next("assign");
  await worker.started(first, [
    worker.callEvent("TASK_STARTED", "t~1"),
    worker.callEvent("TASK_COMPLETED", "t~1", 7),
  ]);
  const pause = { name: "answer", output: "what?" };
  await worker.checkpoint(first, first.head + 3, "PAUSED", [
    worker.pauseEvent("TASK_STARTED", pause),
    worker.pauseEvent("TASK_PAUSED", pause),
    worker.event(first, "WORKFLOW_PAUSED", pause),
  ]);
  const { execution_id } = first;
  await t.engine.executions.resume({ execution_id, input: null, by: null });
  const second = await worker.next("assign");
  await worker.completed(second, "done");
}

/** What `events=all` streams over HTTP of an execution that has ended, in its whole text. */
async function streamed(t: TestEngine, url: string, after?: number) {
  const app = createApp({
    routes: { executions: routes.executions },
    handlers: { executions: executionHandlers(t.engine, 300) },
    log: silent,
    ids: () => "r",
  });
  const headers = after === undefined ? {} : { "last-event-id": String(after) };
  const { body, statusCode } = await app.inject({ method: "GET", url, headers });
  const frames = [...body.matchAll(/^id: (\d+)\nevent: (.+)\ndata: (.+)$/gm)];
  const read = frames.map(([, id, event = "", data = ""]) =>
    shortOf({ event, id: Number(id), data: JSON.parse(data) }),
  );
  return { frames: read, statusCode };
}

const WHOLE = [
  "1 WORKFLOW_CREATED",
  "1 created",
  "2 WORKFLOW_CLAIMED",
  "2 claimed",
  "3 WORKFLOW_STARTED",
  "3 running",
  "4 TASK_STARTED",
  "5 TASK_COMPLETED",
  "6 TASK_STARTED",
  "7 TASK_PAUSED",
  "8 WORKFLOW_PAUSED",
  "8 paused",
];
const AFTER_PAUSE = [
  "9 TASK_RESUMED",
  "10 TASK_COMPLETED",
  "11 WORKFLOW_RESUMING",
  "11 resuming",
  "12 WORKFLOW_CLAIMED",
  "12 claimed",
  "13 WORKFLOW_RESUMED",
  "13 running",
  "14 WORKFLOW_COMPLETED",
  "14 completed",
];

test("EXE-92 events=all gives each event of the log as a frame, before that of the state it makes", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower: run } = await t.engine.executions.startAndFollow(hello(), { events: "all" });
  const { execution_id } = run;
  const follow = await t.engine.executions.follow({ execution_id, after: 0 }, { events: "all" });
  const reads = [readAll(run), readAll(follow)] as const;
  await liveThrough(t, worker);
  expect(await reads[0]).toEqual(WHOLE);
  expect(await reads[1]).toEqual([...WHOLE, ...AFTER_PAUSE]);
});

test("EXE-92 the stream of a resume has the events of the answer first, and its first state is resuming", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.paused(await worker.next("assign"));
  const resume = { execution_id, input: null, by: null };
  const { follower } = await t.engine.executions.resumeAndFollow(resume, { events: "all" });
  const read = readAll(follower);
  await worker.completed(await worker.next("assign"), "done");
  expect((await read).slice(0, 4)).toEqual([
    "7 TASK_RESUMED",
    "8 TASK_COMPLETED",
    "9 WORKFLOW_RESUMING",
    "9 resuming",
  ]);
});

test("EXE-92 an event frame is the event as the log's own page has it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower: run } = await t.engine.executions.startAndFollow(hello("hi"), {
    events: "all",
  });
  await worker.completed(await worker.next("assign"), "done");
  const events: RecordedEvent[] = [];
  for await (const part of run.frames()) {
    if (typeof part !== "string" && part.event === "event") {
      events.push(RecordedEvent.parse(part.data));
    }
  }
  const follower = await t.engine.executions.follow(run, { detailed: true });
  const { value } = await follower.frames().next();
  expect(value).toMatchObject({ data: { events } });
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});

test("EXE-92 EXE-93 whatever frame was the last, Last-Event-ID loses none of those after it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await liveThrough(t, worker);
  const url = `/executions/${execution_id}?mode=stream&events=all`;
  const whole = [...WHOLE, ...AFTER_PAUSE];
  expect((await streamed(t, url, 0)).frames).toEqual(whole);
  for (const id of Array.from({ length: 14 }, (_, i) => i + 1)) {
    // A state has the number of its event, so the reader may have one without the other.
    const state = whole.filter((frame) => new RegExp(`^${id} [a-z]+$`).test(frame));
    const behind = whole.filter((frame) => Number.parseInt(frame, 10) > id);
    expect((await streamed(t, url, id)).frames).toEqual([...state, ...behind]);
  }
});

test("EXE-92 EXE-93 without Last-Event-ID the follow stream begins with the state now", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.paused(await worker.next("assign"));
  const follower = await t.engine.executions.follow({ execution_id }, { events: "all" });
  const read = readAll(follower);
  await t.engine.executions.resume({ execution_id, input: null, by: null });
  await worker.completed(await worker.next("assign"), "done");
  expect((await read).slice(0, 3)).toEqual(["6 paused", "7 TASK_RESUMED", "8 TASK_COMPLETED"]);
});

test("EXE-92 events has one value, and another is refused before the stream", async () => {
  await using t = await TestEngine.start();
  const { execution_id } = await t.run();
  const url = `/executions/${execution_id}?mode=stream&events=some`;
  expect((await streamed(t, url)).statusCode).toBe(422);
});

test("EXE-91 the record of a long log comes with all its events, however long that is", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const value = "x".repeat(100_000);
  const tasks = Array.from({ length: 40 }, (_, i) => [
    worker.callEvent("TASK_STARTED", `t~${i}`),
    worker.callEvent("TASK_COMPLETED", `t~${i}`, `${i} ${value}`),
  ]);
  await worker.started(assigned, tasks.flat());
  await worker.checkpoint(assigned, 83, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", "done"),
  ]);
  const app = createApp({
    routes: { executions: routes.executions },
    handlers: { executions: executionHandlers(t.engine, 300) },
    log: silent,
    ids: () => "r",
  });
  const url = `/executions/${execution_id}?mode=stream&detailed=true`;
  const { body } = await app.inject({ method: "GET", url });
  const [, data = ""] = /^data: (.+)$/m.exec(body) ?? [];
  const record = (await app.inject({ url: `/executions/${execution_id}?detailed=true` })).json();
  expect(JSON.parse(data)).toEqual(record);
});
