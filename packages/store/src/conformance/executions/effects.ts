import { decideCancel, type Effect, EngineError, type ExecutionRow } from "@engine/contract";
import { expect, test } from "vitest";
import type { Changed, Decide } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import { type Open, opened } from "../opened.ts";
import { appending, event, executionId, NOW, newExecution } from "../sample.ts";
import { CALL, callChild, complete, run, startRunning } from "./family.ts";

export function effectConformance(open: Open): void {
  test("EXE-54 a child is created in the commit that holds its parent's call", async () => {
    const store = await opened(open);
    const parent = await startRunning(store, 1);
    const called = await callChild(store, parent, 2);
    expect(called.row).toMatchObject({ state: "RUNNING", session: null });
    expect(called.row.waits).toMatchObject([{ kind: "child", execution_id: executionId(2) }]);
    const [child, ...more] = called.others;
    expect(more).toEqual([]);
    expect(child).toMatchObject({
      row: { parent_id: parent, parent_call_id: CALL, depth: 1, detached: false, head: 1 },
      events: [{ seq: 1, type: "WORKFLOW_CREATED", source_id: executionId(2) }],
      recorded_at: called.recorded_at,
      others: [],
    });
    expect(await store.executions.find(executionId(2))).toEqual(child?.row);
    expect(await logOf(store, executionId(2))).toEqual(["1 WORKFLOW_CREATED"]);
    expect(await store.queue.list({ limit: 9 })).toMatchObject([{ execution_id: executionId(2) }]);
  });

  test("EXE-55 the end of a child and the outcome in its parent's log are one commit", async () => {
    const store = await opened(open);
    const parent = await startRunning(store, 1);
    await callChild(store, parent, 2);
    await run(store, executionId(2));
    const ended = await complete(store, executionId(2), { total: 3 });
    expect(ended.row).toMatchObject({ state: "COMPLETED", output: { total: 3 } });
    expect(ended.others).toMatchObject([
      {
        row: { execution_id: parent, state: "RESUMING", waits: [], head: 6 },
        events: [
          { seq: 5, type: "TASK_COMPLETED", source_id: CALL, value: { total: 3 } },
          { seq: 6, type: "WORKFLOW_RESUMING" },
        ],
        recorded_at: ended.recorded_at,
      },
    ]);
    expect(await store.executions.find(parent)).toEqual(ended.others[0]?.row);
    expect(await logOf(store, parent)).toHaveLength(6);
  });

  test("EXE-21 a cancel reaches children of children in one commit, and no detached one", async () => {
    const store = await opened(open);
    const [root, child, grandchild] = [await startRunning(store, 1), ...[2, 3].map(executionId)];
    await callChild(store, root, 2);
    await run(store, child as string);
    await callChild(store, child as string, 3);
    const detached = newExecution(4, {
      parent: { execution_id: root, depth: 0, call_id: "call~2", detached: true },
    });
    await store.executions.create(detached);
    const cancelled = await store.executions.change(root, cancel);
    expect(cancelled.row).toMatchObject({ state: "CANCELLING" });
    expect(cancelled.others.map(({ row }) => [row.execution_id, row.state])).toEqual([
      [child, "CANCELLING"],
      [grandchild, "CANCELLED"],
    ]);
    for (const { row, events, recorded_at } of cancelled.others) {
      expect(events[0]).toMatchObject({ type: "WORKFLOW_CANCELLING", meta: { cause: "parent" } });
      expect(recorded_at).toBe(cancelled.recorded_at);
      expect(await store.executions.find(row.execution_id)).toEqual(row);
    }
    expect(await store.executions.find(executionId(4))).toMatchObject({ state: "CREATED" });
    const again = await store.executions.change(root, cancel);
    expect(again).toMatchObject({ row: cancelled.row, events: [], others: [], unchanged: true });
  });

  test("effects come breadth first, each execution once and in the order of its first change", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3]) await store.executions.create(newExecution(n));
    const changed = await store.executions.change(executionId(1), (row) => ({
      ...note(row, "first"),
      effects: [
        noting(3, "a", noting(2, "aa"), noting(1, "ab")),
        noting(2, "b", noting(3, "ba")),
        { kind: "create", fresh: newExecution(4) },
        noting(4, "c"),
      ],
    }));
    const notes = ({ events }: Changed) => events.map(({ seq, source_id }) => [seq, source_id]);
    expect(notes(changed)).toEqual([
      [2, "first"],
      [3, "ab"],
    ]);
    expect(changed.row).toMatchObject({ execution_id: executionId(1), head: 3 });
    expect(changed.others.map((other) => [other.row.execution_id, notes(other)])).toEqual([
      [executionId(3), [[2, "a"], [3, "ba"]]], // biome-ignore format: a table
      [executionId(2), [[2, "b"], [3, "aa"]]], // biome-ignore format: a table
      [executionId(4), [[1, executionId(4)], [2, "c"]]], // biome-ignore format: a table
    ]);
    for (const { row } of [changed, ...changed.others]) {
      expect(await store.executions.find(row.execution_id)).toEqual(row);
      expect(await logOf(store, row.execution_id)).toHaveLength(row.head);
    }
  });

  test("an effect sees its execution as the change has left it, created or changed", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const seen: unknown[] = [];
    const look = (n: number): Effect => ({
      kind: "change",
      execution_id: executionId(n),
      decide: (row) => void seen.push(row?.execution_id, row?.head),
    });
    const parent = { execution_id: executionId(1), depth: 0, call_id: CALL, detached: false };
    await store.executions.create(newExecution(3, { parent }));
    await store.executions.change(executionId(1), (row) => {
      seen.length = 0;
      const lookAtChildren: Effect = {
        kind: "children",
        parent_id: row.execution_id,
        decide: (child) => void seen.push(child.execution_id, child.head),
      };
      const create: Effect = { kind: "create", fresh: newExecution(2, { parent }) };
      const effects = [look(1), create, look(2), noting(3, "a"), lookAtChildren];
      return { ...note(row, "first"), effects };
    });
    const [first, second, third] = [1, 2, 3].map(executionId);
    expect(seen).toEqual([first, 2, second, 1, second, 1, third, 2]);
  });

  test("an effect on an unknown execution writes nothing, and what follows from it is written", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const missing: Effect = {
      kind: "change",
      execution_id: executionId(9),
      decide: (row) => {
        expect(row).toBeUndefined();
        return { events: [event("TASK_STARTED", "a")], patch: {}, effects: [noting(1, "told")] };
      },
    };
    const nobody: Effect = {
      kind: "children",
      parent_id: executionId(9),
      decide: () => expect.unreachable("it has no children"),
    };
    const changed = await store.executions.change(executionId(1), () => ({
      events: [],
      patch: {},
      effects: [missing, nobody],
    }));
    expect(changed).toMatchObject({
      row: { head: 2 },
      events: [{ source_id: "told" }],
      others: [],
    });
    expect(await store.executions.find(executionId(9))).toBeUndefined();
    expect(await store.log.read(executionId(9))).toEqual([]);
  });

  test("an effect that changes nothing leaves its execution out of the answer", async () => {
    const store = await opened(open);
    const created = await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2));
    const quiet: Decide = () => ({ events: [], patch: {} });
    const effects: Effect[] = [
      { kind: "change", execution_id: executionId(2), decide: () => undefined },
      { kind: "change", execution_id: executionId(2), decide: () => ({ events: [], patch: {} }) },
    ];
    for (const decide of [quiet, () => ({ events: [], patch: {}, effects })]) {
      const changed = await store.executions.change(executionId(1), decide);
      expect(changed).toMatchObject({ row: created.row, events: [], others: [] });
      expect(changed.unchanged).toBeUndefined();
    }
    expect(await store.executions.find(executionId(1))).toEqual(created.row);
  });

  test("CKP-5 a refusal in an effect undoes its whole change and leaves its neighbours alone", async () => {
    const store = await opened(open);
    for (const n of [1, 2, 3]) await store.executions.create(newExecution(n));
    const before = await Promise.all([1, 2, 3].map((n) => store.executions.find(executionId(n))));
    const refuse = (error: Error): Effect => ({
      kind: "change",
      execution_id: executionId(3),
      decide: () => {
        throw error;
      },
    });
    const change = (...effects: Effect[]) =>
      store.executions.change(executionId(1), (row) => ({
        ...note(row, "refused"),
        effects: [noting(2, "too"), { kind: "create", fresh: newExecution(5) }, ...effects],
      }));
    const bug = new TypeError("a bug of ours");
    const all = await Promise.allSettled([
      store.executions.create(newExecution(4)),
      change(refuse(new EngineError("conflict", "no"))),
      change(refuse(bug)),
      change({ kind: "create", fresh: newExecution(3) }),
      change({ kind: "create", fresh: newExecution(5) }),
      store.executions.change(executionId(3), (row) => note(row, "kept")),
    ]);
    expect(all.map(({ status }) => status[0])).toEqual(["f", "r", "r", "r", "r", "f"]);
    const conflict = { reason: { code: "conflict" } };
    expect(all.slice(1, 5)).toMatchObject([conflict, { reason: bug }, conflict, conflict]);
    const after = await Promise.all([1, 2, 3].map((n) => store.executions.find(executionId(n))));
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[2]).toMatchObject({ head: 2 });
    expect(await logOf(store, executionId(1))).toEqual(["1 WORKFLOW_CREATED"]);
    expect(await logOf(store, executionId(2))).toEqual(["1 WORKFLOW_CREATED"]);
    expect(await store.executions.find(executionId(4))).toBeDefined();
    expect(await store.executions.find(executionId(5))).toBeUndefined();
  });

  test("EXE-84 an effect has nobody to tell of an existing execution, so it brings no unique key", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const unique = { key: "k", request_hash: "h" };
    const change = store.executions.change(executionId(1), (row) => ({
      ...note(row, "refused"),
      effects: [{ kind: "create", fresh: newExecution(2, { unique }) }],
    }));
    await expect(change).rejects.toThrow("an effect cannot create under a unique key");
    expect(await logOf(store, executionId(1))).toEqual(["1 WORKFLOW_CREATED"]);
    expect(await store.executions.find(executionId(2))).toBeUndefined();
  });

  test("a chain of effects that never ends is refused, and its neighbours are written", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const endless: Effect = {
      kind: "change",
      execution_id: executionId(9),
      decide: () => ({ events: [], patch: {}, effects: [endless] }),
    };
    const all = await Promise.allSettled([
      store.executions.change(executionId(1), (row) => ({ ...note(row, "a"), effects: [endless] })),
      store.executions.change(executionId(1), (row) => note(row, "b")),
    ]);
    expect(all).toMatchObject([
      { reason: { message: "a change has more than 100000 effects" } },
      { value: { events: [{ seq: 2, source_id: "b" }] } },
    ]);
  });
}

function cancel(row: ExecutionRow) {
  const of = {
    cause: "request",
    by: null,
    cancel_timeout_ms: 9,
    hasWorker: () => true,
    now: NOW,
  } as const;
  const verdict = decideCancel(row, of);
  if (verdict instanceof EngineError) throw verdict;
  return verdict;
}

function note(row: ExecutionRow, id: string) {
  return appending(row, [event("TASK_STARTED", id)]);
}

function noting(n: number, id: string, ...effects: Effect[]): Effect {
  return {
    kind: "change",
    execution_id: executionId(n),
    decide: (row) => row && { ...note(row, id), effects },
  };
}

async function logOf(store: Store, execution_id: string): Promise<string[]> {
  const log = await store.log.read(execution_id);
  return log.map(({ event: { seq, type } }) => `${seq} ${type}`);
}
