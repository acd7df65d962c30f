import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import type { Follower, FollowPart } from "./follower.ts";

async function readAll(follower: Follower): Promise<FollowPart[]> {
  const parts: FollowPart[] = [];
  for await (const part of follower.frames()) parts.push(part);
  return parts;
}

/** What a frame tells: its name, its id and the state in its record. */
function told(part: FollowPart): unknown {
  if (typeof part === "string") return part;
  const { state } = part.data as { state?: string };
  return [part.event, part.id, state];
}

test("a sync run answers with the output as soon as the worker has finished", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const answer = t.engine.executions.startAndWait(hello({ who: "World" }));
  await worker.completed(await worker.next("assign"), "Hello");
  expect((await answer).row).toMatchObject({ state: "COMPLETED", output: "Hello", worker: null });
});

test("a start with a free worker is created and claimed in one commit", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const row = await t.run({ a: 1 });
  expect(row).toMatchObject({ state: "CLAIMED", worker: "w", generation: 1, head: 2 });
  const assigned = await worker.next("assign");
  expect(assigned).toMatchObject({ reason: "start", input: { a: 1 }, head: 2, listen: false });
  expect(assigned.history.events.map(({ type, seq }) => [seq, type])).toEqual([
    [1, "WORKFLOW_CREATED"],
    [2, "WORKFLOW_CLAIMED"],
  ]);
});

test("EXE-79 an unknown workflow, version or execution is not found, and says which it was", async () => {
  await using t = await TestEngine.start();
  const { executions } = t.engine;
  const start = (changes: object) => executions.start({ ...hello(), ...changes });
  await expect(start({ workflow: "nobody" })).rejects.toMatchObject({
    code: "not_found",
    details: { resource: "workflow" },
  });
  await expect(start({ version: 7 })).rejects.toMatchObject({ details: { resource: "version" } });
  const { execution_id } = await t.run();
  const other = { namespace: "default", name: "other" };
  await expect(executions.get(execution_id, other)).rejects.toMatchObject({ code: "not_found" });
  await expect(executions.get("nonsense")).rejects.toMatchObject({
    details: { resource: "execution" },
  });
});

test("EXE-81 a sync call answers with what it has when its time is over", async () => {
  await using t = await TestEngine.start();
  const answer = t.engine.executions.startAndWait(hello(), { timeoutMs: 2000 });
  await settled();
  await t.time.advance(2000);
  expect((await answer).row).toMatchObject({ state: "CREATED" });
});

test("EXE-81 a wait on something that finished before it was asked for answers at once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const first = t.engine.executions.startAndWait(hello());
  const assigned = await worker.next("assign");
  await worker.paused(assigned);
  const { execution_id } = (await first).row;
  // The resumed run ends while nobody listens yet to anything but the resume's own wait.
  const second = t.engine.executions.resumeAndWait({ execution_id, input: 1, by: null });
  await worker.completed(await worker.next("assign"), 1);
  await settled();
  expect((await second).row).toMatchObject({ state: "COMPLETED" });
});

test("a client that leaves ends only its wait", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const leaving = new AbortController();
  const answer = t.engine.executions.startAndWait(hello(), { signal: leaving.signal });
  const assigned = await worker.next("assign");
  leaving.abort();
  expect((await answer).row).toMatchObject({ state: "CLAIMED" });
  await worker.completed(assigned, 1);
  expect(await t.row(assigned.execution_id)).toMatchObject({ state: "COMPLETED" });
});

test("EXE-52 a resume answers the pause and goes to the worker that had it", async () => {
  await using t = await TestEngine.start();
  await t.worker("a");
  const worker = await t.worker("b");
  const a = await t.run();
  const b = await t.run();
  expect([a.worker, b.worker]).toEqual(["a", "b"]);
  const assigned = await worker.next("assign");
  await worker.paused(assigned);
  const { execution_id } = b;
  expect(await t.row(execution_id)).toMatchObject({ state: "PAUSED", worker: null });
  const resumed = await t.engine.executions.resume({ execution_id, input: "yes", by: null });
  expect(resumed.row).toMatchObject({ state: "RESUMING" });
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, reason: "resume", generation: 2, head: 10 });
  expect(again.history).toMatchObject({ after: 0 });
  expect(again.history.events.map(({ type }) => type)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_PAUSED",
    "WORKFLOW_PAUSED",
    "TASK_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
  ]);
});

test("EXE-82 a resume is refused when nothing is paused and when it has ended", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const resume = () => t.engine.executions.resume({ execution_id, input: 1, by: null });
  await expect(resume()).rejects.toMatchObject({ code: "not_paused" });
  await worker.completed(await worker.next("assign"), 1);
  await expect(resume()).rejects.toMatchObject({ code: "execution_finished" });
});

test("I12 of two racing resumes one wins and the other is told that nothing is paused", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.paused(await worker.next("assign"));
  const resume = (input: number) =>
    t.engine.executions.resume({ execution_id, input, by: null }).then(
      () => "won",
      (error) => error.code,
    );
  expect(await Promise.all([resume(1), resume(2)])).toEqual(["won", "not_paused"]);
  const types = await t.types(execution_id);
  expect(types.filter((type) => type === "TASK_RESUMED")).toHaveLength(1);
});

test("EXE-19 a resume of a running execution is recorded and pushed to its worker", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const pause = { name: "answer" };
  await worker.checkpoint(assigned, 2, "RUNNING", [
    worker.event(assigned, "WORKFLOW_STARTED", null),
    worker.pauseEvent("TASK_STARTED", pause),
    worker.pauseEvent("TASK_PAUSED", pause),
  ]);
  const { row } = await t.engine.executions.resume({ execution_id, input: 42, by: null });
  expect(row).toMatchObject({ state: "RUNNING", worker: "w" });
  const pushed = await worker.next("events");
  expect(pushed).toMatchObject({ execution_id, generation: 1, base_seq: 5 });
  expect(pushed.events.map(({ seq, type }) => [seq, type])).toEqual([
    [6, "TASK_RESUMED"],
    [7, "TASK_COMPLETED"],
  ]);

  // CKP-3: the worker decided to pause before it heard of it.
  const late = await worker.checkpoint(assigned, 5, "PAUSED", [
    worker.event(assigned, "WORKFLOW_PAUSED", pause),
  ]);
  expect(late).toMatchObject({
    error: { code: "seq_conflict", details: { head: 7, acknowledged: 5 } },
  });
  expect(await t.row(execution_id)).toMatchObject({ state: "RUNNING" });
});

test("EXE-14 a local run cannot be resumed through the server", async () => {
  await using t = await TestEngine.start();
  const execution_id = "01900000-0000-7000-8000-00000000000a";
  await t.store.executions.create({
    execution_id,
    namespace: "default",
    workflow: "hello",
    version: null,
    module_hash: null,
    input: null,
    trigger: { kind: "local" },
    by: null,
    seed: "seed",
    now: t.time.now,
  });
  await expect(
    t.engine.executions.resume({ execution_id, input: 1, by: null }),
  ).rejects.toMatchObject({ code: "local_execution" });
});

test("EXE-91 a run streams one frame per state, from created to the end, each with its own state", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  await worker.completed(await worker.next("assign"), "done");
  expect((await frames).map(told)).toEqual([
    ["hello.execution.created", 1, "CREATED"],
    ["hello.execution.claimed", 2, "CLAIMED"],
    ["hello.execution.running", 3, "RUNNING"],
    ["hello.execution.completed", 4, "COMPLETED"],
  ]);
});

test("EXE-91 the first frame of a run comes before any worker is there", async () => {
  await using t = await TestEngine.start();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = follower.frames();
  expect(told((await frames.next()).value as FollowPart)).toEqual([
    "hello.execution.created",
    1,
    "CREATED",
  ]);
  follower.close();
  expect(await frames.next()).toMatchObject({ done: true });
});

test("EXE-93 a run stream closes at a pause; the resume stream goes on with resuming", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const first = readAll(follower);
  await worker.paused(await worker.next("assign"));
  const paused = await first;
  expect(paused.map(told).at(-1)).toEqual(["hello.execution.paused", 6, "PAUSED"]);
  expect(paused.at(-1)).toMatchObject({
    data: { pause: { name: "answer", value: "what?" }, resume_url: expect.any(String) },
  });

  const { execution_id } = follower;
  const { follower: resumed } = await t.engine.executions.resumeAndFollow(
    { execution_id, input: "yes", by: null },
    { detailed: true },
  );
  const second = readAll(resumed);
  await worker.completed(await worker.next("assign"), "done");
  const frames = await second;
  expect(frames.map(told)).toEqual([
    ["hello.execution.resuming", 9, "RESUMING"],
    ["hello.execution.claimed", 10, "CLAIMED"],
    ["hello.execution.running", 11, "RUNNING"],
    ["hello.execution.completed", 12, "COMPLETED"],
  ]);
  const counts = frames.map((f) => ((f as { data: unknown }).data as { events: [] }).events.length);
  expect(counts).toEqual([9, 10, 11, 12]);
});

test("EXE-91 a refused start is an error, not a stream", async () => {
  await using t = await TestEngine.start();
  await expect(
    t.engine.executions.startAndFollow({ ...hello(), workflow: "nobody" }),
  ).rejects.toMatchObject({ code: "not_found" });
});

test("EXE-94 a stopping server ends streams without a closing frame and answers waits", async () => {
  await using t = await TestEngine.start();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  const answer = t.engine.executions.startAndWait(hello());
  await settled();
  await t.engine.close();
  expect((await frames).map(told)).toEqual([["hello.execution.created", 1, "CREATED"]]);
  expect((await answer).row).toMatchObject({ state: "CREATED" });
});

test("EXE-81 what another process wrote reaches waits and streams at the safety tick", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  const answer = t.engine.executions.startAndWait(hello());
  const [a, b] = [await worker.next("assign"), await worker.next("assign")];
  for (const { execution_id } of [a, b]) {
    // Behind the engine's back, straight into the store.
    const end = worker.event({ execution_id, workflow: "hello" }, "WORKFLOW_FAILED", null);
    await t.store.executions.change(execution_id, () => ({
      events: [end],
      patch: { state: "FAILED", worker: null, session: null },
    }));
  }
  await t.time.advance(31_000);
  expect((await frames).map(told).at(-1)).toEqual(["hello.execution.failed", 3, "FAILED"]);
  expect((await answer).row).toMatchObject({ state: "FAILED" });
});
