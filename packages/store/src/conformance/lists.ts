import {
  type Change,
  decideClaim,
  decideWake,
  type ExecutionRow,
  engineFailure,
  failExecution,
  handOver,
} from "@engine/contract";
import { expect, test } from "vitest";
import type { ExecutionFilter, QueuedExecution, Store } from "../store.ts";
import type { Visible } from "../visible.ts";
import { type Open, opened } from "./opened.ts";
import {
  appending,
  claimant,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "./sample.ts";

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
    await store.createExecution(newExecution(9, { not_before: NOW + 1 }));
    const queued = await store.listQueued({ limit: 100 });
    const order = [5, 2, 3, 4, 1, 6];
    expect(queued.map(({ execution_id }) => execution_id)).toEqual(order.map(executionId));
    expect(queued[0]).toEqual({
      execution_id: executionId(5),
      priority: 10,
      queued_at: NOW + 9,
      last_worker: null,
      requirements: null,
      losses: null,
      head: 1,
    });
    expect(await store.listQueued({ limit: 2 })).toEqual(queued.slice(0, 2));
    for (const [i, after] of queued.entries()) {
      const behind = queued.slice(i + 1);
      expect(await store.listQueued({ limit: 2, after })).toEqual(behind.slice(0, 2));
      expect(await store.listQueued({ limit: 2, after, fromEnd: true })).toEqual(behind.slice(-2));
      expect(await store.listQueued({ limit: i + 1, fromEnd: true })).toEqual(queued.slice(-i - 1));
    }
    // A place in the queue outlives the execution that had it.
    const gone = { ...queued[2], execution_id: `${executionId(3)}x` } as QueuedExecution;
    expect(await store.listQueued({ limit: 9, after: gone })).toEqual(queued.slice(3));
    const found = await store.findQueued([9, 7, 5, 99, 8, 2].map(executionId));
    expect(found).toEqual([queued[1], queued[0]]);
    expect(await store.findQueued([])).toEqual([]);
  });

  test("DSP-2 the queue tells what each execution needs of its worker", async () => {
    const store = await opened(open);
    const requirements = {
      prefers: "w7",
      runner: "process",
      requests: { cpu: 2, packages: ["a b"] },
    } as const;
    await store.createExecution(newExecution(1, { requirements, preferred_worker: "w9" }));
    await store.createExecution(newExecution(2, { requirements }), claimant);
    const needs = { requirements: JSON.stringify(requirements) };
    const [queued] = await store.listQueued({ limit: 9 });
    expect(queued).toMatchObject({ ...needs, last_worker: "w9", losses: null });
    expect(await store.findQueued([executionId(1)])).toEqual([queued]);
    expect(await store.listOwned("session-1")).toMatchObject([needs]);
  });

  test("LIV-5 an execution that workers lost waits its delay out of the queue, and is marked in it", async () => {
    const store = await opened(open);
    await store.createExecution(newExecution(1));
    const loss = { reason: "session_lost", max_crashes: 9 } as const;
    const lose = async (session: string, now: number) => {
      await store.changeExecution(executionId(1), (row) =>
        decideClaim(row, { worker: session, session, now }),
      );
      return store.changeExecution(executionId(1), (row) =>
        handOver(row, { now, cancel_timeout_ms: 1, loss }),
      );
    };
    const first = await lose("a", NOW);
    const lossOf = (worker: string, generation: number, at: number) => {
      return { worker, generation, at, reason: "session_lost" };
    };
    expect(first.row).toMatchObject({ losses: [lossOf("a", 1, NOW)], not_before: null });
    const losses = JSON.stringify(first.row.losses);
    const queued = [{ execution_id: executionId(1), last_worker: "a", losses }];
    expect(await store.listQueued({ limit: 9 })).toMatchObject(queued);
    expect(await store.listDue({ until: NOW + 5_000, limit: 9 })).toEqual([]);

    const second = await lose("b", NOW + 10);
    expect(await store.findExecution(executionId(1))).toEqual(second.row);
    expect(second.row).toMatchObject({ losses: [{}, lossOf("b", 2, NOW + 10)] });
    expect(second.row).toMatchObject({ not_before: NOW + 1_010, queued_at: NOW });
    expect(await store.listQueued({ limit: 9 })).toEqual([]);
    expect(await store.findQueued([executionId(1)])).toEqual([]);
    const due = { execution_id: executionId(1), wake_at: NOW + 1_010 };
    expect(await store.listDue({ until: NOW + 5_000, limit: 9 })).toEqual([due]);

    const wake = { now: NOW + 1_010, cancel_timeout_ms: 1, hasWorker: () => true };
    await store.changeExecution(executionId(1), (row) => decideWake(row, wake));
    expect(await store.listDue({ until: NOW + 5_000, limit: 9 })).toEqual([]);
    expect(await store.listQueued({ limit: 9 })).toMatchObject([
      { ...queued[0], last_worker: "b", losses: JSON.stringify(second.row.losses) },
    ]);
  });

  test("LIV-4 a handed-over execution leaves its owner's list and waits with its old place", async () => {
    const store = await opened(open);
    await store.createExecution(newExecution(1), claimant);
    await store.createExecution(newExecution(2), { ...claimant, session: "session-2" });
    expect(await store.listOwned("session-1")).toEqual([
      {
        execution_id: executionId(1),
        generation: 1,
        state: "CLAIMED",
        head: 2,
        module_hash: "module-1",
        updated_at: NOW,
        requirements: null,
        losses: null,
      },
    ]);
    expect(await store.listQueued({ limit: 9 })).toEqual([]);
    const how = { now: NOW + 60, cancel_timeout_ms: 30_000 };
    await store.changeExecution(executionId(1), (row) => handOver(row, how));
    expect(await store.listOwned("session-1")).toEqual([]);
    expect(await store.listQueued({ limit: 9 })).toMatchObject([
      { execution_id: executionId(1), queued_at: NOW, last_worker: "w1", losses: null },
    ]);
  });

  test("LIV-4 executions whose owner's session is over, lost or unknown belong to nobody", async () => {
    const store = await opened(open);
    const sessions = ["ended", "lost", "alive", "lost", "unknown", "ended"];
    for (const name of new Set(sessions)) {
      if (name !== "unknown") await store.openSession(newSession(name));
    }
    for (const [i, session] of sessions.entries()) {
      await store.createExecution(newExecution(i + 1), { worker: "w", session, now: NOW });
    }
    const local = { version: null, module_hash: null };
    await store.createExecution(newExecution(8, local), { ...claimant, session: "unknown" });
    await store.createExecution(newExecution(9));
    const orphans = async (limit = 9) =>
      (await store.listOrphaned(limit)).map((one) => [one.execution_id, one.session]);
    expect(await store.listOrphaned(9)).toEqual([
      { execution_id: executionId(5), session: "unknown", generation: 1 },
    ]);
    await store.endSession("ended", "disconnected");
    const lost = await store.connectSession("lost", "replica");
    await store.loseSession("lost", lost?.epoch ?? 0);
    const all = [1, 2, 4, 5, 6].map((n) => [executionId(n), sessions[n - 1]]);
    expect(await orphans()).toEqual(all);
    expect(await orphans(2)).toEqual(all.slice(0, 2));
    // A session that connects again is lost no more, and has what it had.
    await store.connectSession("lost", "replica");
    expect(await orphans()).toEqual(all.filter(([, session]) => session !== "lost"));
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
      await store.createExecution(newExecution(n, { namespace, workflow }));
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
      store.changeExecution(executionId(n), () => ({ events: [], patch: { finished_at } }));
    for (const n of [1, 2, 3, 4]) {
      const schedule = { name: n === 3 ? "weekly" : "nightly", scheduled_for: NOW };
      await store.createExecution(newExecution(n, { now: NOW + n, schedule }));
    }
    await store.createExecution(newExecution(5, { now: NOW + 5 }));
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
      await store.createExecution(newExecution(n, n === 6 ? {} : { schedule }));
    }
    const runs = async (name: string, limit: number) =>
      (await store.listOpenRuns(name, limit)).map((row) => Number(row.execution_id.slice(-2)));
    expect(await runs("nightly", 9)).toEqual([4, 3, 2, 1]);
    expect(await runs("nightly", 2)).toEqual([4, 3]);
    expect(await runs("weekly", 9)).toEqual([5]);
    expect(await runs("never", 9)).toEqual([]);
    await store.changeExecution(executionId(3), failed);
    expect(await runs("nightly", 9)).toEqual([4, 2, 1]);
    const [newest] = await store.listOpenRuns("nightly", 1);
    expect(newest).toEqual({ ...(await store.findExecution(executionId(4))), input: null });
  });

  test("EXE-85 a page begins behind an execution, whatever came meanwhile", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 4, 5]) await store.createExecution(newExecution(n));
    await store.createExecution(newExecution(3, { workflow: "bye" }));
    const list = async (filter: Partial<ExecutionFilter>) => numbersOf(store, filter);
    const behind = executionId(4);
    expect(await list({ behind })).toEqual([[3, 2, 1], 5]);
    expect(await list({ behind, limit: 1 })).toEqual([[3], 5]);
    expect(await list({ behind, limit: 1, offset: 1 })).toEqual([[2], 5]);
    expect(await list({ behind, order: "created_asc" })).toEqual([[5], 5]);
    expect(await list({ behind, workflow: "hello" })).toEqual([[2, 1], 4]);
    expect(await list({ behind: executionId(1) })).toEqual([[], 5]);
    await store.createExecution(newExecution(6));
    expect(await list({ behind })).toEqual([[3, 2, 1], 6]);
  });

  test("EXE-85 a renamed execution is found by its new label, in any case", async () => {
    const store = await opened(open);
    await store.createExecution(newExecution(1, { name: "Alt" }));
    await store.createExecution(newExecution(2));
    const rename = (n: number, name: string | null) =>
      store.changeExecution(executionId(n), () => ({ events: [], patch: { name } }));
    // In one commit, with one that keeps its name.
    await Promise.all([
      rename(1, "Größe"),
      store.changeExecution(executionId(2), (row) => appending(row, [event("TASK_STARTED", "a")])),
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

function failed(row: ExecutionRow): Change {
  return failExecution(row, engineFailure("WorkflowTimeoutError", "nobody took it"), {
    cancel_timeout_ms: 1,
    now: NOW,
  });
}

/** The numbers of the executions on a page, and of all that match. */
async function numbersOf(store: Store, filter: Partial<ExecutionFilter>): Promise<unknown> {
  const first = { order: "created_desc", limit: 50, offset: 0 } as const;
  const page = await store.listExecutions({ ...first, ...filter });
  return [page.items.map((row) => Number(row.execution_id.slice(-2))), page.total];
}
