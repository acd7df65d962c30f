import type { ProgressItem } from "@engine/contract";
import { expect, test } from "vitest";
import type { AuditedCall } from "../auth/audit-entry.ts";
import type { Follower, FollowPart } from "../executions/follower.ts";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

function item(value: number) {
  return { source_id: "/t~1", name: "t", value, time: "2026-01-01 00:00:00.000" };
}

async function readAll(follower: Follower): Promise<FollowPart[]> {
  const parts: FollowPart[] = [];
  for await (const part of follower.frames()) parts.push(part);
  return parts;
}

test("PRG-6 EXE-92 progress comes between the state frames, without an id", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  const assigned = await worker.next("assign");
  expect(assigned.listen).toBe(true);
  await worker.started(assigned);
  const { execution_id } = assigned;
  const batch = { generation: 1, items: [item(1), item(2)] };
  expect(await t.engine.workers.progress(worker.ref, execution_id, batch)).toEqual({
    accepted: 2,
    listening: true,
  });
  await worker.checkpoint(assigned, 3, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  expect((await frames).map((f) => (typeof f === "string" ? f : [f.event, f.id]))).toEqual([
    ["hello.execution.created", 1],
    ["hello.execution.claimed", 2],
    ["hello.execution.running", 3],
    ["task.progress", undefined],
    ["task.progress", undefined],
    ["hello.execution.completed", 4],
  ]);
});

test("PRG-2 without a viewer the worker is told not to send", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  expect((await worker.next("assign")).listen).toBe(false);
  const batch = { generation: 1, items: [item(1)] };
  expect(await t.engine.workers.progress(worker.ref, execution_id, batch)).toMatchObject({
    listening: false,
  });
});

test("PRG-2 the last viewer leaving turns the values off after a second", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const { execution_id } = await worker.next("assign");
  follower.close();
  await t.time.advance(999);
  expect(worker.heard).not.toContain("listen");
  await t.time.advance(1);
  expect(await worker.next("listen")).toEqual({ execution_id, on: false });
});

test("PRG-2 a viewer that joins a running execution turns the values on", async () => {
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
  await t.engine.executions.resumeAndFollow({ execution_id, input: 1, by: null });
  expect(await worker.next("listen")).toEqual({ execution_id, on: true });
});

test("PRG-4 progress of an execution that another worker owns is refused", async () => {
  await using t = await TestEngine.start();
  await t.worker("a");
  const other = await t.worker("b");
  const { execution_id } = await t.run();
  const batch = { generation: 1, items: [item(1)] };
  await expect(t.engine.workers.progress(other.ref, execution_id, batch)).rejects.toMatchObject({
    code: "stale_claim",
  });
});

test("PRG-6 a slow reader loses new progress, is told how much, and loses no state", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const assigned = await worker.next("assign");
  const { execution_id } = assigned;
  for (let sent = 0; sent < 1200; sent += 100) {
    const items = Array.from({ length: 100 }, (_, i) => item(sent + i));
    await t.engine.workers.progress(worker.ref, execution_id, { generation: 1, items });
  }
  await worker.completed(assigned, "done");
  await settled();
  const parts = await readAll(follower);
  const progress = parts.filter((p) => typeof p !== "string" && p.event === "task.progress");
  expect(progress).toHaveLength(1000);
  expect(progress.at(-1)).toMatchObject({ data: { type: "TASK_PROGRESS", value: 999 } });
  expect(parts.filter((p) => typeof p === "string")).toEqual(["dropped 200"]);
  expect(parts.slice(-3).map((p) => (typeof p === "string" ? p : p.id))).toEqual([
    "dropped 200",
    3,
    4,
  ]);
});

test("PRG-6 EXE-93 a stalled reader slows nobody, holds no more than its share, and is told at once what it lost", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower: stalled } = await t.engine.executions.startAndFollow(hello());
  const assigned = await worker.next("assign");
  const { execution_id } = assigned;
  await worker.started(assigned);
  const follow = async () =>
    (await t.engine.executions.follow({ execution_id, after: 0 })).frames();
  const readers = await Promise.all([follow(), follow()]);
  const read: [FollowPart[], FollowPart[]] = [[], []];
  const next = async () => {
    for (const [i, reader] of readers.entries()) {
      const { value } = await reader.next();
      if (value) read[i]?.push(value);
    }
  };
  for (let state = 0; state < 3; state++) await next();
  for (let sent = 0; sent < 5000; sent++) {
    await t.engine.workers.progress(worker.ref, execution_id, {
      generation: 1,
      items: [item(sent)],
    });
    await next();
  }
  // The others have got every value by now, in order and alike.
  const values = read[0].slice(3).map((part) => typeof part !== "string" && part.data);
  expect(values).toEqual(
    Array.from({ length: 5000 }, (_, i) => ({ type: "TASK_PROGRESS", ...item(i) })),
  );
  expect(read[1]).toEqual(read[0]);

  const late: FollowPart[] = [];
  const frames = stalled.frames();
  // Nothing follows yet, and it hears of its loss all the same.
  while (typeof late.at(-1) !== "string") late.push((await frames.next()).value as FollowPart);
  expect(late).toEqual([...read[0].slice(0, 1003), "dropped 4000"]);
  await worker.checkpoint(assigned, 3, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  expect((await frames.next()).value).toMatchObject({ id: 4 });
  expect((await frames.next()).done).toBe(true);
});

test("PRG-6 EXE-93 every reader of an execution gets the same frames in the same order", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower: run } = await t.engine.executions.startAndFollow(hello(), { events: "all" });
  const { execution_id } = run;
  const all = { events: "all" } as const;
  const others = await Promise.all(
    [1, 2, 3].map(() => t.engine.executions.follow({ execution_id, after: 0 }, all)),
  );
  const reads = [run, ...others].map(readAll);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  for (const value of [1, 2, 3]) {
    const batch = { generation: 1, items: [item(value), item(-value)] };
    await t.engine.workers.progress(worker.ref, execution_id, batch);
    await worker.checkpoint(assigned, assigned.head + value, "RUNNING", [
      worker.callEvent("TASK_STARTED", `t~${value}`),
    ]);
  }
  await worker.checkpoint(assigned, assigned.head + 4, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  const [first = [], ...rest] = await Promise.all(reads);
  expect(first).toHaveLength(2 * 4 + 3 + 6);
  for (const read of rest) expect(read).toEqual(first);
});

const SECRET = "correct horse battery";

async function keepSecret(t: TestEngine, value: string): Promise<void> {
  const call = {
    action: "secrets.put",
    address: undefined,
    request_id: "r",
    caller: { principal: null, identity: undefined },
  } as unknown as AuditedCall;
  await t.engine.secrets.put("key", { value, unmasked: false }, call);
}

function said(parts: readonly FollowPart[]): unknown[] {
  return parts.flatMap((part) =>
    typeof part !== "string" && part.event === "task.progress"
      ? [(part.data as ProgressItem).value]
      : [],
  );
}

test("PRG-7 RED-4 every reader, whenever it came and however it reads, sees progress masked", async () => {
  await using t = await TestEngine.start();
  await keepSecret(t, SECRET);
  const worker = await t.worker();
  const { follower: run } = await t.engine.executions.startAndFollow(hello());
  const { execution_id } = run;
  const attached = await t.engine.executions.follow({ execution_id });
  const detailed = await t.engine.executions.follow({ execution_id, after: 0 }, { detailed: true });
  const reads = [run, attached, detailed].map(readAll);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const items = ["one", `it is ${SECRET}`].map((value) => ({ ...item(1), value }));
  const batch = { generation: 1, items };
  expect(await t.engine.workers.progress(worker.ref, execution_id, batch)).toMatchObject({
    accepted: 2,
  });
  await worker.checkpoint(assigned, 3, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  for (const parts of await Promise.all(reads)) {
    expect(said(parts)).toEqual(["one", "it is ***REDACTED***"]);
    expect(JSON.stringify(parts)).not.toContain(SECRET);
  }
});

test("RED-4 a value that is split over values of a call is masked, and what was held back comes before the call's end", async () => {
  await using t = await TestEngine.start();
  await keepSecret(t, SECRET);
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  const assigned = await worker.next("assign");
  await worker.started(assigned, [worker.callEvent("TASK_STARTED", "t~1")]);
  const texts = ["so: correct", " horse bat", "tery, and corre"];
  const items = texts.map((value) => ({ ...item(1), source_id: "t~1", value }));
  await t.engine.workers.progress(worker.ref, assigned.execution_id, { generation: 1, items });
  await worker.checkpoint(assigned, 4, "COMPLETED", [
    worker.callEvent("TASK_COMPLETED", "t~1"),
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  const parts = await frames;
  expect(said(parts).join("")).toBe("so: ***REDACTED***, and corre");
  const last = parts.at(-1);
  expect(typeof last !== "string" && last?.event).toBe("hello.execution.completed");
});

test("PRG-7 RED-5 what cannot be redacted is withheld, and the execution goes on", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  const assigned = await worker.next("assign");
  // What is known of the masks is too old by then, and nobody can tell whether it changed.
  t.failing.add("epochs.read");
  await t.time.advance(1_000);
  const batch = { generation: 1, items: [item(1)] };
  const answer = await t.engine.workers.progress(worker.ref, assigned.execution_id, batch);
  expect(answer).toEqual({ accepted: 1, listening: true });
  await worker.completed(assigned, "done");
  const names = (await frames).map((part) => (typeof part === "string" ? part : part.event));
  expect(names).not.toContain("task.progress");
  expect(names.at(-1)).toBe("hello.execution.completed");
});

test("RED-4 with progress = false values pass as they are", async () => {
  await using t = await TestEngine.start({ security: { redaction: { progress: false } } });
  await keepSecret(t, SECRET);
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const frames = readAll(follower);
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  const items = [{ ...item(1), value: SECRET }];
  await t.engine.workers.progress(worker.ref, assigned.execution_id, { generation: 1, items });
  await worker.checkpoint(assigned, 3, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  expect(said(await frames)).toEqual([SECRET]);
});

test("PRG-4 progress is part of no record: no event, no checkpoint, nothing in the database", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow(hello());
  const assigned = await worker.next("assign");
  const { execution_id } = assigned;
  await worker.started(assigned, [worker.callEvent("TASK_STARTED", "t~1")]);
  // What is masked is read with the first value.
  const first = { generation: 1, items: [item(0)] };
  await t.engine.workers.progress(worker.ref, execution_id, first);
  const before = t.store.statementCount();
  for (let n = 1; n < 10; n++) {
    const batch = { generation: 1, items: [item(n)] };
    await t.engine.workers.progress(worker.ref, execution_id, batch);
  }
  expect(t.store.statementCount()).toBe(before);
  await worker.checkpoint(assigned, 4, "COMPLETED", [
    worker.callEvent("TASK_COMPLETED", "t~1"),
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  expect((await readAll(follower)).filter((p) => typeof p !== "string" && !p.id)).toHaveLength(10);
  const tasks = (await t.types(execution_id)).filter((type) => type.startsWith("TASK_"));
  expect(tasks).toEqual(["TASK_STARTED", "TASK_COMPLETED"]);
});
