import {
  decideClaim,
  EngineError,
  type ExecutionPatch,
  type ExecutionRow,
  NO_SIGNALS,
  type OpenWait,
} from "@engine/contract";
import { expect, test } from "vitest";
import { type Open, opened } from "../opened.ts";
import { appending, claimant, event, executionId, NOW, newExecution } from "../sample.ts";

export function executionConformance(open: Open): void {
  test("EXE-17 an execution that was acknowledged as created can be read", async () => {
    const store = await opened(open);
    const { row, events } = await store.executions.create(
      newExecution(1, { name: "nightly", priority: 7, by: "ann", input: { who: "World" } }),
    );
    expect(row).toMatchObject({ state: "CREATED", head: 1, generation: 0, session: null });
    expect(row).toMatchObject({ name: "nightly", priority: 7, input: { who: "World" } });
    expect(events).toMatchObject([{ seq: 1, type: "WORKFLOW_CREATED", meta: { by: "ann" } }]);
    expect(await store.executions.find(executionId(1))).toEqual(row);
    expect((await store.log.read(executionId(1))).map((line) => line.event)).toEqual(events);
  });

  test("EXE-22 a row carries what its execution was created with", async () => {
    const store = await opened(open);
    const plain = await store.executions.create(newExecution(1));
    expect(plain.row).toMatchObject({ seed: "seed-1", timeout_ms: null, transient: false });
    expect(plain.row).toMatchObject({ parent_id: null, detached: false, depth: 0 });
    expect(plain.row).toMatchObject({ forked_from: null, wake_at: null, cancelling: null });
    const parent = { execution_id: executionId(1), depth: 4, call_id: "call~1", detached: true };
    const from = { execution_id: executionId(1), seq: 0 };
    const fork = { from, history: [], calls: new Map() };
    const fields = { parent, fork, timeout_ms: 5_000, transient: true, preferred_worker: "w9" };
    const { row } = await store.executions.create(newExecution(2, fields));
    expect(row).toMatchObject({ timeout_ms: 5_000, transient: true, last_worker: "w9" });
    expect(row).toMatchObject({ parent_id: executionId(1), parent_call_id: "call~1" });
    expect(row).toMatchObject({ detached: true, depth: 5, forked_from: from });
    expect(await store.executions.find(executionId(1))).toEqual(plain.row);
    expect(await store.executions.find(executionId(2))).toEqual(row);
  });

  test("RIN-3 a routing input is taken at creation, kept as it is given, and not inherited", async () => {
    const store = await opened(open);
    const plain = await store.executions.create(newExecution(1));
    expect(plain.row.routing_input).toBeNull();
    const routing_input = `k1:${"A".repeat(6_000)}`;
    const { row } = await store.executions.create(newExecution(2, { routing_input }));
    expect(row.routing_input).toBe(routing_input);
    const changed = await store.executions.change(executionId(2), (row) =>
      appending(row, [event("TASK_STARTED", "a")]),
    );
    expect(changed.row.routing_input).toBe(routing_input);
    expect(await store.executions.find(executionId(2))).toEqual(changed.row);
    const page = { order: "created_asc", limit: 9, offset: 0 } as const;
    const { items } = await store.executions.list(page);
    expect(items.map((row) => row.routing_input)).toEqual([null, routing_input]);
  });

  test("DSP-2 what dispatch looks at is taken at creation and kept on the row", async () => {
    const store = await opened(open);
    const plain = await store.executions.create(newExecution(1));
    expect(plain.row).toMatchObject({ requirements: null, not_before: null, park_ttl_ms: null });
    expect(plain.row).toMatchObject({ losses: [], outcome_generation: 0, park_by: null });
    expect(plain.row).toMatchObject({ unique_key: null, schedule: null, scheduled_for: null });
    const requirements = {
      worker: "w1",
      runner: "process",
      requests: { cpu: 0.5, memory: 2 ** 33, packages: ["sharp@>=0.33"] },
    } as const;
    const { row } = await store.executions.create(
      newExecution(2, {
        requirements,
        not_before: NOW + 60_000,
        park_ttl_ms: 2 ** 40,
        unique: { key: "a key", request_hash: "of a request" },
        schedule: { name: "nightly", scheduled_for: NOW - 1 },
      }),
    );
    expect(row).toMatchObject({ requirements, not_before: NOW + 60_000, park_ttl_ms: 2 ** 40 });
    expect(row).toMatchObject({ unique_key: "a key", request_hash: "of a request" });
    expect(row).toMatchObject({ schedule: "nightly", scheduled_for: NOW - 1 });
    expect(row).toMatchObject({ queued_at: NOW + 60_000, wake_at: NOW + 60_000, park_by: null });
    expect(await store.executions.find(executionId(1))).toEqual(plain.row);
    expect(await store.executions.find(executionId(2))).toEqual(row);
  });

  test("an execution that nobody created is not found", async () => {
    const store = await opened(open);
    expect(await store.executions.find(executionId(1))).toBeUndefined();
    expect(await store.log.read(executionId(1))).toEqual([]);
    await expect(store.executions.change(executionId(1), () => undefined)).rejects.toMatchObject({
      code: "not_found",
      details: { resource: "execution" },
    });
  });

  test("a second execution of the same id is refused and the first stays as it is", async () => {
    const store = await opened(open);
    const both = await Promise.allSettled([
      store.executions.create(newExecution(1, { input: "first" })),
      store.executions.create(newExecution(1, { input: "second" }), claimant),
      store.executions.create(newExecution(2)),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(both[1]).toMatchObject({ reason: { code: "conflict" } });
    const kept = { input: "first", state: "CREATED", session: null, head: 1 };
    expect(await store.executions.find(executionId(1))).toMatchObject(kept);
    expect(await store.log.read(executionId(1))).toHaveLength(1);
  });

  test("EXE-17 created with a claimant, it is owned and claimed in the same commit", async () => {
    const store = await opened(open);
    const { row, events, recorded_at } = await store.executions.create(newExecution(1), claimant);
    expect(row).toMatchObject({ state: "CLAIMED", worker: "w1", session: "session-1" });
    expect(row).toMatchObject({ generation: 1, head: 2 });
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "WORKFLOW_CREATED"],
      [2, "WORKFLOW_CLAIMED"],
    ]);
    const log = await store.log.read(executionId(1));
    expect(log.map((line) => line.recorded_at)).toEqual([recorded_at, recorded_at]);
  });

  test("a decision sees the row, and its events follow the head without a gap", async () => {
    const store = await opened(open);
    const created = await store.executions.create(newExecution(1));
    const seen: ExecutionRow[] = [];
    const changed = await store.executions.change(executionId(1), (row) => {
      seen.push(row);
      return appending(row, [event("TASK_STARTED", "a"), event("TASK_COMPLETED", "a", "done")]);
    });
    expect(seen.at(-1)).toEqual(created.row);
    expect(changed.events.map(({ seq, value }) => [seq, value])).toEqual([
      [2, null],
      [3, "done"],
    ]);
    expect(changed.row).toMatchObject({ head: 3, updated_at: NOW });
    expect(await store.executions.find(executionId(1))).toEqual(changed.row);
  });

  test("CKP-3 a decision sees the events recorded above the place it names, and only those", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const events = ["a", "b", "c"].map((id) => event("TASK_STARTED", id));
    await store.executions.change(executionId(1), (row) => appending(row, events));
    const seen = async (options?: { above: number }) => {
      let seqs: number[] = [];
      await store.executions.change(
        executionId(1),
        (_, recorded) => {
          seqs = recorded.map(({ seq }) => seq);
          return undefined;
        },
        options,
      );
      return seqs;
    };
    expect(await seen()).toEqual([]);
    expect(await seen({ above: 0 })).toEqual([1, 2, 3, 4]);
    expect(await seen({ above: 2 })).toEqual([3, 4]);
    expect(await seen({ above: 3 })).toEqual([4]);
    expect(await seen({ above: 4 })).toEqual([]);
  });

  test("every column a change may write is written, and every other is left alone", async () => {
    const store = await opened(open);
    const { row } = await store.executions.create(newExecution(1), claimant);
    const failure = {
      type: "Error",
      code: null,
      message: "no",
      retryable: true,
      details: { a: [1] },
      cause: null,
      attempts: 1,
      task_call_id: "a",
    };
    const wait: OpenWait = {
      kind: "pause",
      task_call_id: "a",
      name: "ok?",
      output: { x: 1 },
      since: NOW,
    };
    const patch: ExecutionPatch = {
      state: "FAILED",
      output: { total: 3 },
      failure,
      worker: null,
      session: null,
      last_worker: "w1",
      last_session: "session-1",
      generation: 9,
      last_time: NOW + 1,
      resuming: true,
      waits: [wait],
      signals: { count: 1, bytes: 7, names: [{ name: "go", count: 1 }] },
      watchers: [{ execution_id: executionId(2), task_call_id: "pause~1" }],
      wake_at: NOW + 6,
      cancelling: { cause: "request", by: NOW + 7 },
      queued_at: NOW + 2,
      name: "renamed",
      losses: [{ worker: "w1", generation: 8, at: NOW + 8, reason: "runner_lost" }],
      outcome_generation: 7,
      not_before: NOW + 9,
      park_by: NOW + 10,
      started_at: NOW + 3,
      finished_at: NOW + 4,
      updated_at: NOW + 5,
    };
    const changed = await store.executions.change(executionId(1), () => ({ events: [], patch }));
    expect(changed.row).toEqual({ ...row, ...patch });
    expect(await store.executions.find(executionId(1))).toEqual({ ...row, ...patch });
    const back: ExecutionPatch = {
      waits: [],
      signals: NO_SIGNALS,
      watchers: [],
      wake_at: null,
      cancelling: null,
      failure: null,
      output: null,
      resuming: false,
      name: null,
      losses: [],
      not_before: null,
      park_by: null,
      started_at: null,
    };
    await store.executions.change(executionId(1), () => ({ events: [], patch: back }));
    expect(await store.executions.find(executionId(1))).toEqual({ ...row, ...patch, ...back });
  });

  test("a large input comes back whole, before and after changes", async () => {
    const store = await opened(open);
    const input = { text: "ß".repeat(50_000) };
    const created = await store.executions.create(newExecution(1, { input }), claimant);
    expect(created.row.input).toEqual(input);
    const changed = await store.executions.change(executionId(1), (row) =>
      appending(row, [event("TASK_STARTED", "a")]),
    );
    expect(changed.row).toEqual({ ...created.row, head: 3 });
    expect((await store.executions.find(executionId(1)))?.input).toEqual(input);
  });

  test("a decision that writes nothing leaves row and log as they were", async () => {
    const store = await opened(open);
    const { row } = await store.executions.create(newExecution(1));
    const changed = await store.executions.change(executionId(1), () => undefined);
    expect(changed).toMatchObject({ row, events: [] });
    expect(await store.executions.find(executionId(1))).toEqual(row);
  });

  test("CKP-5 a refused decision leaves the others of its commit alone", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2));
    const add = (n: number, id: string) =>
      store.executions.change(executionId(n), (row) => appending(row, [event("TASK_STARTED", id)]));
    const fail = (error: Error) =>
      store.executions.change(executionId(1), () => {
        throw error;
      });
    const bug = new TypeError("a bug of ours");
    const all = await Promise.allSettled([
      add(1, "a"),
      fail(new EngineError("stale_claim", "not yours")),
      fail(bug),
      add(1, "b"),
      add(2, "c"),
    ]);
    expect(all.map(({ status }) => status[0])).toEqual(["f", "r", "r", "f", "f"]);
    expect(all[1]).toMatchObject({ reason: { code: "stale_claim" } });
    expect(all[2]).toMatchObject({ reason: bug });
    expect(await idsOf(executionId(1))).toEqual([executionId(1), "a", "b"]);
    expect(await idsOf(executionId(2))).toEqual([executionId(2), "c"]);

    async function idsOf(id: string): Promise<string[]> {
      return (await store.log.read(id)).map((line) => line.event.source_id);
    }
  });

  test("a change that cannot be written does not keep the others of its commit from it", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    await store.executions.create(newExecution(2));
    const unwritable = { ...event("TASK_STARTED", "a"), value: 1n as never };
    const all = await Promise.allSettled([
      store.executions.change(executionId(1), (row) => appending(row, [unwritable])),
      store.executions.change(executionId(1), () => ({ events: [], patch: { head: 9 } })),
      store.executions.change(executionId(2), (row) =>
        appending(row, [event("TASK_STARTED", "b")]),
      ),
    ]);
    expect(all.map(({ status }) => status[0])).toEqual(["r", "r", "f"]);
    expect(await store.executions.find(executionId(1))).toMatchObject({ head: 1 });
    expect(await store.executions.find(executionId(2))).toMatchObject({ head: 2 });
  });

  test("EXE-17 of two claims in one commit the second finds the execution taken", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const claim = (session: string) =>
      store.executions.change(executionId(1), (row) =>
        decideClaim(row, { worker: "w", session, now: NOW }),
      );
    const [first, second] = await Promise.all([claim("one"), claim("two")]);
    expect(first.events).toHaveLength(1);
    expect(second.events).toEqual([]);
    expect(second.row).toMatchObject({ session: "one", generation: 1, head: 2 });
  });

  test("answers come in the order of asking", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        store.executions
          .change(executionId(1), (row) => {
            if (n === 2) throw new EngineError("conflict", "no");
            return n === 3 ? undefined : appending(row, [event("TASK_STARTED", `${n}`)]);
          })
          .catch(() => undefined)
          .then(() => order.push(n)),
      ),
    );
    expect(order.filter((n) => n !== 2)).toEqual([1, 3, 4]);
    expect(order).toHaveLength(4);
  });

  test("after close nothing is accepted, and what was asked before it is written", async () => {
    const store = await open();
    const last = store.executions.create(newExecution(1));
    await store.close();
    await expect(last).resolves.toMatchObject({ row: { state: "CREATED" } });
    const closed = { code: "unavailable" };
    await expect(store.executions.create(newExecution(2))).rejects.toMatchObject(closed);
    await expect(store.executions.find(executionId(1))).rejects.toMatchObject(closed);
    await expect(store.ping()).rejects.toMatchObject(closed);
    await expect(store.close()).resolves.toBeUndefined();
  });

  test("a store counts the statements it sends", async () => {
    const store = await opened(open);
    const before = store.statementCount();
    await store.ping();
    const between = store.statementCount();
    expect(between).toBeGreaterThan(before);
    expect(store.statementCount()).toBe(between);
  });
}
