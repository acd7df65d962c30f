import type { NewExecution } from "@engine/contract";
import { expect, test } from "vitest";
import type { Store } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { appending, event, executionId, NOW, newExecution } from "./sample.ts";

const LATER = NOW + 60_000;

export function conformance(open: Open): void {
  test("EXE-98 I23 what ended before the instant goes with its log; what lives, or ended later, stays", async () => {
    const store = await opened(open);
    const input = { text: "x".repeat(10_000) };
    for (const n of [1, 2, 3, 4]) await store.executions.create(newExecution(n, { input }));
    await finish(store, 1);
    await finish(store, 2, NOW + 5_000);
    await finish(store, 3, NOW + 4_999);
    const kept = await store.executions.find(executionId(2));
    expect(await store.retention.deleteFinished(NOW + 5_000, 100)).toEqual([1, 3].map(executionId));
    for (const n of [1, 3]) {
      expect(await store.executions.find(executionId(n))).toBeUndefined();
      expect(await store.log.read(executionId(n))).toEqual([]);
    }
    expect(await store.executions.find(executionId(2))).toEqual(kept);
    expect(await store.log.read(executionId(2))).toHaveLength(2);
    expect(await ids(store)).toEqual([2, 4].map(executionId));
    expect(await store.retention.deleteFinished(NOW + 5_000, 100)).toEqual([]);
    expect(await store.executions.create(newExecution(1, { input: "small" }))).toMatchObject({
      row: { head: 1, input: "small" },
    });
  });

  test("EXE-98 I23 however an execution ended it goes, and however it waits it stays", async () => {
    const store = await opened(open);
    const ends = ["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"] as const;
    const waits = ["WORKFLOW_STARTED", "WORKFLOW_PAUSED", "WORKFLOW_CANCELLING"] as const;
    for (const [n, type] of [...ends, ...waits].entries()) {
      const { row } = await store.executions.create(newExecution(n));
      await store.executions.change(row.execution_id, (found) =>
        appending(found, [event(type, found.execution_id)], endOf(type)),
      );
    }
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([0, 1, 2].map(executionId));
    expect(await ids(store)).toEqual([3, 4, 5].map(executionId));
  });

  test("EXE-98 I23 a child stays as long as its parent, and goes with it", async () => {
    const store = await opened(open);
    const childOf = (n: number, detached = false): Partial<NewExecution> => ({
      parent: { execution_id: executionId(n), depth: 0, call_id: "call~1", detached },
    });
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2, childOf(1)));
    await store.executions.create(newExecution(3, childOf(2)));
    await store.executions.create(newExecution(4, childOf(3, true)));
    for (const n of [2, 3]) await finish(store, n);
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([]);
    await finish(store, 1);
    // The detached one lives on without them.
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([1, 2, 3].map(executionId));
    await finish(store, 4);
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([executionId(4)]);
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
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2, forkOf(1)));
    await store.executions.create(newExecution(3, forkOf(2)));
    await store.executions.create(newExecution(11));
    for (const n of [1, 2, 11]) await finish(store, n);
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([executionId(11)]);
    await finish(store, 3);
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([1, 2, 3].map(executionId));
  });

  test("EXE-98 a child is kept for a fork of its parent", async () => {
    const store = await opened(open);
    const parent = { execution_id: executionId(1), depth: 0, call_id: "call~1", detached: false };
    const from = { execution_id: executionId(1), seq: 1 };
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2, { parent }));
    await store.executions.create(
      newExecution(3, { fork: { from, history: [], calls: new Map() } }),
    );
    for (const n of [1, 2]) await finish(store, n);
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([]);
    expect(await ids(store)).toEqual([1, 2, 3].map(executionId));
  });

  test("EXE-98 no more go at a time than asked for, the oldest first, whatever lies between", async () => {
    const store = await opened(open);
    // More of them than are looked at together.
    const waiting = Array.from({ length: 1_100 }, (_, i) => i + 10);
    await Promise.all(waiting.map((n) => store.executions.create(newExecution(n))));
    for (const n of [1, 2, 3, 600, 2_000]) {
      if (n !== 600) await store.executions.create(newExecution(n));
      await finish(store, n);
    }
    expect(await store.retention.deleteFinished(LATER, 2)).toEqual([1, 2].map(executionId));
    expect(await store.retention.deleteFinished(LATER, 2)).toEqual([3, 600].map(executionId));
    expect(await store.retention.deleteFinished(LATER, 2)).toEqual([executionId(2_000)]);
    expect(await store.retention.deleteFinished(LATER, 2)).toEqual([]);
    await finish(store, 10);
    expect(await store.retention.deleteFinished(LATER, 2)).toEqual([executionId(10)]);
  });

  test("EXE-98 a log of many changes goes with its execution, completely", async () => {
    const store = await opened(open);
    const id = executionId(1);
    await store.executions.create(newExecution(1));
    const change = () =>
      store.executions.change(id, (row) => appending(row, [event("TASK_STARTED", "a")]));
    await Promise.all(Array.from({ length: 1_200 }, change));
    await finish(store, 1);
    expect(await store.retention.deleteFinished(LATER, 100)).toEqual([id]);
    expect(await store.log.read(id)).toEqual([]);
    await store.executions.create(newExecution(1));
    expect(await store.log.read(id)).toHaveLength(1);
  });

  test("EXE-98 an idempotency key is free again once its execution is gone", async () => {
    const store = await opened(open);
    const unique = { key: "k", request_hash: "r" };
    await store.executions.create(newExecution(1, { unique }));
    await finish(store, 1);
    await store.retention.deleteFinished(LATER, 100);
    const { row, existing } = await store.executions.create(newExecution(2, { unique }));
    expect(existing).toBeUndefined();
    expect(row.execution_id).toBe(executionId(2));
  });
}

async function ids(store: Store): Promise<readonly string[]> {
  const page = await store.executions.list({ order: "created_asc", limit: 100, offset: 0 });
  return page.items.map(({ execution_id }) => execution_id);
}

async function finish(store: Store, n: number, at: number = NOW): Promise<void> {
  await store.executions.change(executionId(n), (row) => {
    const ended = event("WORKFLOW_COMPLETED", row.execution_id, "done");
    return appending(row, [ended], { state: "COMPLETED", finished_at: at });
  });
}

function endOf(type: string) {
  const isEnd = /COMPLETED|FAILED|CANCELLED/.test(type);
  return { finished_at: isEnd ? NOW : null };
}
