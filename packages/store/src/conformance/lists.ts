import { handOver } from "@engine/contract";
import { expect, test } from "vitest";
import type { ExecutionFilter } from "../store.ts";
import { type Open, opened } from "./opened.ts";
import { appending, claimant, event, executionId, NOW, newExecution } from "./sample.ts";

export function listConformance(open: Open): void {
  test("waiting executions are listed by priority, then time, then id", async () => {
    const store = await opened(open);
    await store.createExecution(newExecution(1, { now: NOW + 5 }));
    await store.createExecution(newExecution(2, { now: NOW + 1 }));
    await store.createExecution(newExecution(4, { now: NOW + 1 }));
    await store.createExecution(newExecution(3, { now: NOW + 1 }));
    await store.createExecution(newExecution(5, { priority: 10, now: NOW + 9 }));
    await store.createExecution(newExecution(6, { priority: -1, now: NOW }));
    await store.createExecution(newExecution(7), claimant);
    await store.createExecution(newExecution(8, { version: null, module_hash: null }));
    const queued = await store.listQueued(100);
    const order = [5, 2, 3, 4, 1, 6];
    expect(queued.map(({ execution_id }) => execution_id)).toEqual(order.map(executionId));
    expect(queued[0]).toEqual({
      execution_id: executionId(5),
      priority: 10,
      queued_at: NOW + 9,
      last_worker: null,
    });
    expect(await store.listQueued(2)).toEqual(queued.slice(0, 2));
  });

  test("LIV-4 a handed-over execution leaves its owner's list and waits with its old place", async () => {
    const store = await opened(open);
    await store.createExecution(newExecution(1), claimant);
    await store.createExecution(newExecution(2), { ...claimant, session: "session-2" });
    expect(await store.listOwned("session-1")).toEqual([
      { execution_id: executionId(1), generation: 1, state: "CLAIMED", head: 2 },
    ]);
    expect(await store.listQueued(9)).toEqual([]);
    await store.changeExecution(executionId(1), (row) => handOver(row, NOW + 60, 30_000));
    expect(await store.listOwned("session-1")).toEqual([]);
    expect(await store.listQueued(9)).toEqual([
      { execution_id: executionId(1), priority: 0, queued_at: NOW, last_worker: "w1" },
    ]);
  });

  test("executions with something due are listed by instant, then id, and only a server's own", async () => {
    const store = await opened(open);
    const wakeAt = async (n: number, wake_at: number | null, version: number | null = 1) => {
      await store.createExecution(newExecution(n, { version }));
      await store.changeExecution(executionId(n), () => ({ events: [], patch: { wake_at } }));
    };
    await wakeAt(1, NOW + 30);
    await wakeAt(4, NOW + 10);
    await wakeAt(3, NOW + 10);
    await wakeAt(2, NOW + 10);
    await wakeAt(5, NOW + 10, null);
    await wakeAt(6, null);
    await wakeAt(7, NOW - 5);
    const due = [
      { execution_id: executionId(7), wake_at: NOW - 5 },
      ...[2, 3, 4].map((n) => ({ execution_id: executionId(n), wake_at: NOW + 10 })),
      { execution_id: executionId(1), wake_at: NOW + 30 },
    ];
    expect(await store.listDue({ until: NOW + 30, limit: 9 })).toEqual(due);
    expect(await store.listDue({ until: NOW + 29, limit: 9 })).toEqual(due.slice(0, 4));
    expect(await store.listDue({ until: NOW - 6, limit: 9 })).toEqual([]);
    expect(await store.listDue({ until: NOW + 30, limit: 2 })).toEqual(due.slice(0, 2));
    for (const [i, after] of due.entries()) {
      const page = await store.listDue({ until: NOW + 30, limit: 2, after });
      expect(page).toEqual(due.slice(i + 1, i + 3));
    }
    const wake = () => ({ events: [], patch: { wake_at: null } });
    await store.changeExecution(executionId(3), wake);
    expect(await store.listDue({ until: NOW + 10, limit: 9 })).toEqual(
      due.filter((one) => one.execution_id !== executionId(3)).slice(0, 3),
    );
  });

  test("EXE-85 executions are listed by filters, in order, with the number of all matches", async () => {
    const store = await opened(open);
    await store.createExecution(newExecution(1, { name: "Größe A" }));
    await store.createExecution(newExecution(2, { namespace: "shop", name: "GRÖSSE 100%_b" }));
    await store.createExecution(newExecution(3, { workflow: "bye", version: 2 }), claimant);
    await store.createExecution(newExecution(4, { name: "größer" }));
    await store.createExecution(newExecution(5, { version: null, module_hash: null }));
    const parent = { execution_id: executionId(2), depth: 0, call_id: "call~1", detached: false };
    await store.createExecution(newExecution(6, { namespace: "family", version: 3, parent }));
    await store.createExecution(newExecution(7, { namespace: "family", version: 3, parent }));
    const list = async (filter: Partial<ExecutionFilter>) => {
      const page = await store.listExecutions({
        order: "created_desc",
        limit: 50,
        offset: 0,
        ...filter,
      });
      return [page.items.map((row) => Number(row.execution_id.slice(-2))), page.total];
    };

    expect(await list({})).toEqual([[7, 6, 5, 4, 3, 2, 1], 7]);
    expect(await list({ order: "created_asc" })).toEqual([[1, 2, 3, 4, 5, 6, 7], 7]);
    expect(await list({ limit: 2, offset: 1 })).toEqual([[6, 5], 7]);
    expect(await list({ offset: 9 })).toEqual([[], 7]);
    expect(await list({ root: true })).toEqual([[5, 4, 3, 2, 1], 5]);
    expect(await list({ root: false, limit: 1 })).toEqual([[7], 7]);
    expect(await list({ parent_id: executionId(2) })).toEqual([[7, 6], 2]);
    expect(await list({ parent_id: executionId(2), order: "created_asc" })).toEqual([[6, 7], 2]);
    expect(await list({ parent_id: executionId(1) })).toEqual([[], 0]);
    expect(await list({ parent_id: executionId(2), root: true })).toEqual([[], 0]);
    expect(await list({ namespace: "shop" })).toEqual([[2], 1]);
    expect(await list({ namespace: "default", workflow: "bye" })).toEqual([[3], 1]);
    expect(await list({ workflow: "hello", limit: 1 })).toEqual([[7], 6]);
    expect(await list({ version: 2 })).toEqual([[3], 1]);
    expect(await list({ states: ["CLAIMED", "RUNNING"] })).toEqual([[3], 1]);
    expect(await list({ states: ["CREATED", "CLAIMED"], version: 1 })).toEqual([[4, 2, 1], 3]);
    expect(await list({ states: [] })).toEqual([[7, 6, 5, 4, 3, 2, 1], 7]);
    expect(await list({ label: "GRÖß" })).toEqual([[4, 1], 2]);
    expect(await list({ label: "grösse 100%_" })).toEqual([[2], 1]);
    expect(await list({ label: "%" })).toEqual([[], 0]);
    expect(await list({ namespace: "nowhere" })).toEqual([[], 0]);
  });

  test("EXE-78 a list has the rows without their values", async () => {
    const store = await opened(open);
    const { row } = await store.createExecution(
      newExecution(1, { input: { secret: 1 } }),
      claimant,
    );
    await store.changeExecution(row.execution_id, (found) =>
      appending(found, [event("WORKFLOW_STARTED", row.execution_id)], { output: "big" }),
    );
    const full = await store.findExecution(row.execution_id);
    const filter = { order: "created_desc", limit: 5, offset: 0 } as const;
    const { items } = await store.listExecutions(filter);
    expect(full).toMatchObject({ input: { secret: 1 }, output: "big", state: "RUNNING" });
    expect(items).toEqual([{ ...full, input: null, output: null }]);
  });
}
