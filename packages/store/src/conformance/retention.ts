import { ExtractedWorkflow, type NewExecution } from "@engine/contract";
import { expect, test } from "vitest";
import type { NewVersions, Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { appending, event, executionId, NOW, newExecution, newSession } from "./sample.ts";

const LATER = NOW + 60_000;

export function retentionConformance(open: Open): void {
  test("EXE-98 I23 what ended before the instant goes with its log; what lives, or ended later, stays", async () => {
    const store = await opened(open);
    const input = { text: "x".repeat(10_000) };
    for (const n of [1, 2, 3, 4]) await store.createExecution(newExecution(n, { input }));
    await finish(store, 1);
    await finish(store, 2, NOW + 5_000);
    await finish(store, 3, NOW + 4_999);
    const kept = await store.findExecution(executionId(2));
    expect(await store.deleteFinished(NOW + 5_000, 100)).toEqual([1, 3].map(executionId));
    for (const n of [1, 3]) {
      expect(await store.findExecution(executionId(n))).toBeUndefined();
      expect(await store.readLog(executionId(n))).toEqual([]);
    }
    expect(await store.findExecution(executionId(2))).toEqual(kept);
    expect(await store.readLog(executionId(2))).toHaveLength(2);
    expect(await ids(store)).toEqual([2, 4].map(executionId));
    expect(await store.deleteFinished(NOW + 5_000, 100)).toEqual([]);
    expect(await store.createExecution(newExecution(1, { input: "small" }))).toMatchObject({
      row: { head: 1, input: "small" },
    });
  });

  test("EXE-98 I23 what was deleted is remembered until its stored values are confirmed to be gone", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3]) await store.createExecution(newExecution(n));
    await finish(store, 1);
    await finish(store, 2);
    expect(await store.listForgotten(10)).toEqual([]);
    await store.deleteFinished(LATER, 100);
    expect(await store.listForgotten(1)).toEqual([executionId(1)]);
    expect(await store.listForgotten(10)).toEqual([1, 2].map(executionId));
    await store.confirmForgotten([executionId(1)]);
    expect(await store.listForgotten(10)).toEqual([executionId(2)]);
    await store.confirmForgotten([1, 2].map(executionId));
    expect(await store.listForgotten(10)).toEqual([]);
  });

  test("EXE-98 I23 however an execution ended it goes, and however it waits it stays", async () => {
    const store = await opened(open);
    const ends = ["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"] as const;
    const waits = ["WORKFLOW_STARTED", "WORKFLOW_PAUSED", "WORKFLOW_CANCELLING"] as const;
    for (const [n, type] of [...ends, ...waits].entries()) {
      const { row } = await store.createExecution(newExecution(n));
      await store.changeExecution(row.execution_id, (found) =>
        appending(found, [event(type, found.execution_id)], endOf(type)),
      );
    }
    expect(await store.deleteFinished(LATER, 100)).toEqual([0, 1, 2].map(executionId));
    expect(await ids(store)).toEqual([3, 4, 5].map(executionId));
  });

  test("EXE-98 I23 a child stays as long as its parent, and goes with it", async () => {
    const store = await opened(open);
    const childOf = (n: number, detached = false): Partial<NewExecution> => ({
      parent: { execution_id: executionId(n), depth: 0, call_id: "call~1", detached },
    });
    await store.createExecution(newExecution(1));
    await store.createExecution(newExecution(2, childOf(1)));
    await store.createExecution(newExecution(3, childOf(2)));
    await store.createExecution(newExecution(4, childOf(3, true)));
    for (const n of [2, 3]) await finish(store, n);
    expect(await store.deleteFinished(LATER, 100)).toEqual([]);
    await finish(store, 1);
    // The detached one lives on without them.
    expect(await store.deleteFinished(LATER, 100)).toEqual([1, 2, 3].map(executionId));
    await finish(store, 4);
    expect(await store.deleteFinished(LATER, 100)).toEqual([executionId(4)]);
  });

  test("EXE-98 I23 what a fork was made from stays as long as the fork, and goes with it", async () => {
    const store = await opened(open);
    const forkOf = (n: number): Partial<NewExecution> => ({
      fork: {
        from: { execution_id: executionId(n), seq: 1 },
        history: [event("WORKFLOW_STARTED", executionId(n))],
        calls: new Map(),
      },
    });
    await store.createExecution(newExecution(1));
    await store.createExecution(newExecution(2, forkOf(1)));
    await store.createExecution(newExecution(3, forkOf(2)));
    await store.createExecution(newExecution(11));
    for (const n of [1, 2, 11]) await finish(store, n);
    expect(await store.deleteFinished(LATER, 100)).toEqual([executionId(11)]);
    await finish(store, 3);
    expect(await store.deleteFinished(LATER, 100)).toEqual([1, 2, 3].map(executionId));
  });

  test("EXE-98 a child is kept for a fork of its parent", async () => {
    const store = await opened(open);
    const parent = { execution_id: executionId(1), depth: 0, call_id: "call~1", detached: false };
    const from = { execution_id: executionId(1), seq: 1 };
    await store.createExecution(newExecution(1));
    await store.createExecution(newExecution(2, { parent }));
    await store.createExecution(newExecution(3, { fork: { from, history: [], calls: new Map() } }));
    for (const n of [1, 2]) await finish(store, n);
    expect(await store.deleteFinished(LATER, 100)).toEqual([]);
    expect(await ids(store)).toEqual([1, 2, 3].map(executionId));
  });

  test("EXE-98 no more go at a time than asked for, the oldest first, whatever lies between", async () => {
    const store = await opened(open);
    // More of them than are looked at together.
    const waiting = Array.from({ length: 1_100 }, (_, i) => i + 10);
    await Promise.all(waiting.map((n) => store.createExecution(newExecution(n))));
    for (const n of [1, 2, 3, 600, 2_000]) {
      if (n !== 600) await store.createExecution(newExecution(n));
      await finish(store, n);
    }
    expect(await store.deleteFinished(LATER, 2)).toEqual([1, 2].map(executionId));
    expect(await store.deleteFinished(LATER, 2)).toEqual([3, 600].map(executionId));
    expect(await store.deleteFinished(LATER, 2)).toEqual([executionId(2_000)]);
    expect(await store.deleteFinished(LATER, 2)).toEqual([]);
    await finish(store, 10);
    expect(await store.deleteFinished(LATER, 2)).toEqual([executionId(10)]);
  });

  test("EXE-98 a log of many changes goes with its execution, completely", async () => {
    const store = await opened(open);
    const id = executionId(1);
    await store.createExecution(newExecution(1));
    const change = () =>
      store.changeExecution(id, (row) => appending(row, [event("TASK_STARTED", "a")]));
    await Promise.all(Array.from({ length: 1_200 }, change));
    await finish(store, 1);
    expect(await store.deleteFinished(LATER, 100)).toEqual([id]);
    expect(await store.readLog(id)).toEqual([]);
    await store.createExecution(newExecution(1));
    expect(await store.readLog(id)).toHaveLength(1);
  });

  test("EXE-98 an idempotency key is free again once its execution is gone", async () => {
    const store = await opened(open);
    const unique = { key: "k", request_hash: "r" };
    await store.createExecution(newExecution(1, { unique }));
    await finish(store, 1);
    await store.deleteFinished(LATER, 100);
    const { row, existing } = await store.createExecution(newExecution(2, { unique }));
    expect(existing).toBeUndefined();
    expect(row.execution_id).toBe(executionId(2));
  });

  test("EXE-98 sessions that ended long ago go, except the newest of each worker", async () => {
    const store = await opened(open);
    const begin = async (worker: string, n: number) => {
      const fresh = newSession(`session-${n}`, { worker, instance_id: `process-${n}` });
      const { session } = await store.openSession(fresh);
      await store.noteBeats([{ session_id: session.session_id, at: session.created_at }]);
      return session;
    };
    for (const n of [1, 2, 3]) await begin("a", n);
    for (const n of [4, 5]) {
      const { session_id } = await begin("b", n);
      await store.endSession(session_id, "disconnected");
    }
    const { created_at } = await begin("c", 6);
    expect(await store.deleteEndedSessions(created_at - 60_000, 10)).toBe(0);
    expect(await store.deleteEndedSessions(created_at + 60_000, 2)).toBe(2);
    expect(await store.deleteEndedSessions(created_at + 60_000, 2)).toBe(1);
    expect(await store.deleteEndedSessions(created_at + 60_000, 2)).toBe(0);
    const left = (await store.listWorkers()).map(({ session }) => session?.session_id);
    expect(left).toEqual(["session-3", "session-5", "session-6"]);
    for (const n of [1, 2, 4]) {
      expect(await store.findSessionById(`session-${n}`)).toBeUndefined();
    }
  });

  test("EXE-98 I23 a deleted version goes with its code when no execution needs that", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2", "c3"]) await store.registerVersions(registration(content));
    const pinned = { version: 2, module_hash: "module-of-c2" };
    await store.createExecution(newExecution(1, pinned));
    expect(await store.deleteUnusedVersions(10)).toBe(0);
    await store.deleteVersions("default", "hello", 1);
    await store.deleteVersions("default", "hello", 2);
    expect(await store.deleteUnusedVersions(10)).toBe(1);
    const find = (version: number) =>
      store.findVersion("default", "hello", version, { deleted: true });
    expect(await find(1)).toBeUndefined();
    expect(await store.readModule("module-of-c1")).toBeUndefined();
    expect(await store.readFiles("default", "hello", 1)).toEqual([]);
    expect(await find(2)).toBeDefined();
    expect(await store.readModule("module-of-c2")).toBe("bundle of c2");
    expect(await store.readFiles("default", "hello", 2)).toHaveLength(1);

    await finish(store, 1);
    await store.deleteFinished(LATER, 100);
    expect(await store.deleteUnusedVersions(10)).toBe(1);
    expect(await find(2)).toBeUndefined();
    expect(await store.readModule("module-of-c3")).toBe("bundle of c3");
  });

  test("EXE-98 a version stays while executions of its file may call it", async () => {
    const store = await opened(open);
    const one = registration("c1");
    const [hello] = one.workflows;
    const helper = { extracted: extracted("helper"), content_hash: "h1" };
    await store.registerVersions({ ...one, workflows: [...(hello ? [hello] : []), helper] });
    await store.deleteVersions("default", "helper");
    await store.createExecution(newExecution(1, { module_hash: "module-of-c1" }));
    expect(await store.deleteUnusedVersions(10)).toBe(0);
    expect(await store.findVersionOfModule("default", "helper", "module-of-c1")).toBeDefined();
  });

  test("EXE-98 code that another version has stays with that one", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2", "c1"]) await store.registerVersions(registration(content));
    await store.deleteVersions("default", "hello", 1);
    await store.deleteVersions("default", "hello", 2);
    expect(await store.deleteUnusedVersions(10)).toBe(2);
    expect(await store.readModule("module-of-c2")).toBeUndefined();
    expect(await store.readModule("module-of-c1")).toBe("bundle of c1");
    expect(await store.readFiles("default", "hello", 3)).toHaveLength(1);
  });

  test("EXE-70 the number of a version that is gone is not used again", async () => {
    const store = await opened(open);
    for (const content of ["c1", "c2"]) await store.registerVersions(registration(content));
    await store.deleteVersions("default", "hello");
    expect(await store.deleteUnusedVersions(1)).toBe(1);
    expect(await store.deleteUnusedVersions(10)).toBe(1);
    expect(await store.deleteUnusedVersions(10)).toBe(0);
    const [again] = await store.registerVersions(registration("c1"));
    expect(again).toMatchObject({ version: 3, created: true });
    expect(await store.readModule("module-of-c1")).toBe("bundle of c1");
  });

  test("a version that was deleted a moment ago may still be looked up by a start under way", async () => {
    const store = await opened(open);
    const [registered] = await store.registerVersions(registration("c1"));
    const registeredAt = Date.parse(registered?.created_at ?? "");
    await store.deleteVersions("default", "hello");
    expect(await store.deleteUnusedVersions(10, registeredAt)).toBe(0);
    expect(await store.deleteUnusedVersions(10, registeredAt + 60_000)).toBe(1);
  });
}

async function ids(store: Store): Promise<readonly string[]> {
  const page = await store.listExecutions({ order: "created_asc", limit: 100, offset: 0 });
  return page.items.map(({ execution_id }) => execution_id);
}

async function finish(store: Store, n: number, at: number = NOW): Promise<void> {
  await store.changeExecution(executionId(n), (row) => {
    const ended = event("WORKFLOW_COMPLETED", row.execution_id, "done");
    return appending(row, [ended], { state: "COMPLETED", finished_at: at });
  });
}

function endOf(type: string) {
  const isEnd = /COMPLETED|FAILED|CANCELLED/.test(type);
  return { finished_at: isEnd ? NOW : null };
}

function extracted(name: string): ExtractedWorkflow {
  return ExtractedWorkflow.parse({
    namespace: "default",
    name,
    description: null,
    tasks: [],
    metadata: {},
  });
}

function registration(content_hash: string): NewVersions {
  return {
    workflows: [{ extracted: extracted("hello"), content_hash }],
    module: { hash: `module-of-${content_hash}`, bundle: `bundle of ${content_hash}` },
    files: [{ path: "hello.ts", source: content_hash }],
    source_hash: "s1",
    created_by: "ann",
  };
}
