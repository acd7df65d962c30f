import { type Change, type ExecutionRow, engineFailure, failExecution } from "@engine/contract";
import { expect, test } from "vitest";
import type { ExecutionFilter } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import type { Visible } from "../../visible.ts";
import { type Open, opened } from "../opened.ts";
import { appending, claimant, event, executionId, NOW, newExecution } from "../sample.ts";

export function listConformance(open: Open): void {
  test("EXE-85 executions are listed by filters, in order, with the number of all matches", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1, { name: "Größe A" }));
    await store.executions.create(newExecution(2, { namespace: "shop", name: "GRÖSSE 100%_b" }));
    await store.executions.create(newExecution(3, { workflow: "bye", version: 2 }), claimant);
    await store.executions.create(newExecution(4, { name: "größer" }));
    await store.executions.create(newExecution(5, { version: null, module_hash: null }));
    const parent = { execution_id: executionId(2), depth: 0, call_id: "call~1", detached: false };
    await store.executions.create(newExecution(6, { namespace: "family", version: 3, parent }));
    await store.executions.create(newExecution(7, { namespace: "family", version: 3, parent }));
    const list = async (filter: Partial<ExecutionFilter>) => numbersOf(store, filter);

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

  test("AUTH-33 a list of executions knows only those of workflows that may be seen", async () => {
    const store = await opened(open);
    for (const [n, namespace, workflow] of [
      [1, "shop", "pay"],
      [2, "shop", "refund"],
      [3, "bank", "pay"],
      [4, "bank", 'a "quoted" name'],
      [5, "shop", "pay"],
    ] as const) {
      await store.executions.create(newExecution(n, { namespace, workflow }));
    }
    const list = async (visible: Visible, filter: Partial<ExecutionFilter> = {}) =>
      numbersOf(store, { ...filter, visible });

    expect(await list([{ namespace: "shop" }])).toEqual([[5, 2, 1], 3]);
    expect(await list([{ namespace: "shop" }], { limit: 1, offset: 1 })).toEqual([[2], 3]);
    expect(await list([{ namespace: "shop" }], { behind: executionId(5) })).toEqual([[2, 1], 3]);
    expect(await list([{ name: "pay" }])).toEqual([[5, 3, 1], 3]);
    expect(await list([{ namespace: "shop", name: "pay" }])).toEqual([[5, 1], 2]);
    expect(
      await list([
        { namespace: "shop", name: "refund" },
        { namespace: "bank", name: 'a "quoted" name' },
        { namespace: "bank", name: "refund" },
      ]),
    ).toEqual([[4, 2], 2]);
    expect(await list([{ namespace: "shop" }], { workflow: "pay" })).toEqual([[5, 1], 2]);
    expect(await list([{ namespace: "shop" }], { namespace: "bank" })).toEqual([[], 0]);
    expect(await list([{}])).toEqual([[5, 4, 3, 2, 1], 5]);
    expect(await list([])).toEqual([[], 0]);
  });

  test("EXE-85 executions are listed by schedule and by when they began and ended", async () => {
    const store = await opened(open);
    const end = (n: number, finished_at: number) =>
      store.executions.change(executionId(n), () => ({ events: [], patch: { finished_at } }));
    for (const n of [1, 2, 3, 4]) {
      const schedule = { name: n === 3 ? "weekly" : "nightly", scheduled_for: NOW };
      await store.executions.create(newExecution(n, { now: NOW + n, schedule }));
    }
    await store.executions.create(newExecution(5, { now: NOW + 5 }));
    await end(1, NOW + 50);
    await end(4, NOW + 60);
    const list = async (filter: Partial<ExecutionFilter>) => numbersOf(store, filter);

    expect(await list({ schedule: "nightly" })).toEqual([[4, 2, 1], 3]);
    expect(await list({ schedule: "weekly", workflow: "hello" })).toEqual([[3], 1]);
    expect(await list({ schedule: "never" })).toEqual([[], 0]);
    expect(await list({ created_after: NOW + 3 })).toEqual([[5, 4], 2]);
    expect(await list({ created_before: NOW + 3 })).toEqual([[2, 1], 2]);
    expect(await list({ created_after: NOW + 1, created_before: NOW + 4 })).toEqual([[3, 2], 2]);
    expect(await list({ finished_after: 0 })).toEqual([[4, 1], 2]);
    expect(await list({ finished_after: NOW + 50 })).toEqual([[4], 1]);
    expect(await list({ finished_before: NOW + 60 })).toEqual([[1], 1]);
    expect(await list({ schedule: "nightly", finished_before: NOW + 90 })).toEqual([[4, 1], 2]);
  });

  test("EXE-75 the open runs of a schedule are listed, the newest first, whatever has ended", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      const schedule = { name: n === 5 ? "weekly" : "nightly", scheduled_for: NOW + n };
      await store.executions.create(newExecution(n, n === 6 ? {} : { schedule }));
    }
    const runs = async (name: string, limit: number) =>
      (await store.executions.listOpenRuns(name, limit)).map((row) =>
        Number(row.execution_id.slice(-2)),
      );
    expect(await runs("nightly", 9)).toEqual([4, 3, 2, 1]);
    expect(await runs("nightly", 2)).toEqual([4, 3]);
    expect(await runs("weekly", 9)).toEqual([5]);
    expect(await runs("never", 9)).toEqual([]);
    await store.executions.change(executionId(3), failed);
    expect(await runs("nightly", 9)).toEqual([4, 2, 1]);
    const [newest] = await store.executions.listOpenRuns("nightly", 1);
    expect(newest).toEqual({ ...(await store.executions.find(executionId(4))), input: null });
  });

  test("EXE-85 a page begins behind an execution, whatever came meanwhile", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 4, 5]) await store.executions.create(newExecution(n));
    await store.executions.create(newExecution(3, { workflow: "bye" }));
    const list = async (filter: Partial<ExecutionFilter>) => numbersOf(store, filter);
    const behind = executionId(4);
    expect(await list({ behind })).toEqual([[3, 2, 1], 5]);
    expect(await list({ behind, limit: 1 })).toEqual([[3], 5]);
    expect(await list({ behind, limit: 1, offset: 1 })).toEqual([[2], 5]);
    expect(await list({ behind, order: "created_asc" })).toEqual([[5], 5]);
    expect(await list({ behind, workflow: "hello" })).toEqual([[2, 1], 4]);
    expect(await list({ behind: executionId(1) })).toEqual([[], 5]);
    await store.executions.create(newExecution(6));
    expect(await list({ behind })).toEqual([[3, 2, 1], 6]);
  });

  test("EXE-85 a renamed execution is found by its new label, in any case", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1, { name: "Alt" }));
    await store.executions.create(newExecution(2));
    const rename = (n: number, name: string | null) =>
      store.executions.change(executionId(n), () => ({ events: [], patch: { name } }));
    // In one commit, with one that keeps its name.
    await Promise.all([
      rename(1, "Größe"),
      store.executions.change(executionId(2), (row) =>
        appending(row, [event("TASK_STARTED", "a")]),
      ),
    ]);
    expect(await numbersOf(store, { label: "GRÖ" })).toEqual([[1], 1]);
    expect(await numbersOf(store, { label: "alt" })).toEqual([[], 0]);
    await rename(2, "gröber");
    expect(await numbersOf(store, { label: "GRÖ" })).toEqual([[2, 1], 2]);
    await rename(1, null);
    expect(await numbersOf(store, { label: "g" })).toEqual([[2], 1]);
  });

  test("EXE-78 a list has the rows without their values", async () => {
    const store = await opened(open);
    const { row } = await store.executions.create(
      newExecution(1, { input: { secret: 1 } }),
      claimant,
    );
    await store.executions.change(row.execution_id, (found) =>
      appending(found, [event("WORKFLOW_STARTED", row.execution_id)], { output: "big" }),
    );
    const full = await store.executions.find(row.execution_id);
    const filter = { order: "created_desc", limit: 5, offset: 0 } as const;
    const { items } = await store.executions.list(filter);
    expect(full).toMatchObject({ input: { secret: 1 }, output: "big", state: "RUNNING" });
    expect(items).toEqual([{ ...full, input: null, output: null }]);
  });
}

function failed(row: ExecutionRow): Change {
  return failExecution(row, engineFailure("WorkflowTimeoutError", "nobody took it"), {
    cancel_timeout_ms: 1,
    now: NOW,
  });
}

/** The numbers of the executions on a page, and of all that match. */
async function numbersOf(store: Store, filter: Partial<ExecutionFilter>): Promise<unknown> {
  const first = { order: "created_desc", limit: 50, offset: 0 } as const;
  const page = await store.executions.list({ ...first, ...filter });
  return [page.items.map((row) => Number(row.execution_id.slice(-2))), page.total];
}
