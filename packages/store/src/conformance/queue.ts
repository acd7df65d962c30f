import { decideClaim, decideWake, handOver } from "@engine/contract";
import { expect, test } from "vitest";
import type { QueuedExecution } from "../ports/queue.ts";
import { type Open, opened } from "./opened.ts";
import { claimant, executionId, NOW, newExecution, newSession } from "./sample.ts";

export function conformance(open: Open): void {
  test("waiting executions are listed by priority, then time, then id", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1, { now: NOW + 5 }));
    await store.executions.create(newExecution(2, { now: NOW + 1 }));
    await store.executions.create(newExecution(4, { now: NOW + 1 }));
    await store.executions.create(newExecution(3, { now: NOW + 1 }));
    await store.executions.create(newExecution(5, { priority: 10, now: NOW + 9, by: "ada" }));
    await store.executions.create(newExecution(6, { priority: -1, now: NOW }));
    await store.executions.create(newExecution(7), claimant);
    await store.executions.create(newExecution(8, { version: null, module_hash: null }));
    await store.executions.create(newExecution(9, { not_before: NOW + 1 }));
    const queued = await store.queue.list({ limit: 100 });
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
      generation: 0,
      state: "CREATED",
      run_as: "ada",
      namespace: "default",
      workflow: "hello",
    });
    expect(await store.queue.list({ limit: 2 })).toEqual(queued.slice(0, 2));
    for (const [i, after] of queued.entries()) {
      const behind = queued.slice(i + 1);
      expect(await store.queue.list({ limit: 2, after })).toEqual(behind.slice(0, 2));
      expect(await store.queue.list({ limit: 2, after, fromEnd: true })).toEqual(behind.slice(-2));
      expect(await store.queue.list({ limit: i + 1, fromEnd: true })).toEqual(queued.slice(-i - 1));
    }
    // A place in the queue outlives the execution that had it.
    const gone = { ...queued[2], execution_id: `${executionId(3)}x` } as QueuedExecution;
    expect(await store.queue.list({ limit: 9, after: gone })).toEqual(queued.slice(3));
    const found = await store.queue.find([9, 7, 5, 99, 8, 2].map(executionId));
    expect(found).toEqual([queued[1], queued[0]]);
    expect(await store.queue.find([])).toEqual([]);
  });

  test("DSP-2 the queue tells what each execution needs of its worker", async () => {
    const store = await opened(open);
    const requirements = {
      prefers: "w7",
      runner: "process",
      requests: { cpu: 2, packages: ["a b"] },
    } as const;
    await store.executions.create(newExecution(1, { requirements, preferred_worker: "w9" }));
    await store.executions.create(newExecution(2, { requirements }), claimant);
    const needs = { requirements: JSON.stringify(requirements) };
    const [queued] = await store.queue.list({ limit: 9 });
    expect(queued).toMatchObject({ ...needs, last_worker: "w9", losses: null });
    expect(await store.queue.find([executionId(1)])).toEqual([queued]);
    expect(await store.queue.listOwned("session-1")).toMatchObject([needs]);
  });

  test("LIV-5 an execution that workers lost waits its delay out of the queue, and is marked in it", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1));
    const loss = { reason: "session_lost", max_crashes: 9 } as const;
    const lose = async (session: string, now: number) => {
      await store.executions.change(executionId(1), (row) =>
        decideClaim(row, { worker: session, session, now }),
      );
      return store.executions.change(executionId(1), (row) =>
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
    expect(await store.queue.list({ limit: 9 })).toMatchObject(queued);
    expect(await store.queue.listDue({ until: NOW + 5_000, limit: 9 })).toEqual([]);

    const second = await lose("b", NOW + 10);
    expect(await store.executions.find(executionId(1))).toEqual(second.row);
    expect(second.row).toMatchObject({ losses: [{}, lossOf("b", 2, NOW + 10)] });
    expect(second.row).toMatchObject({ not_before: NOW + 1_010, queued_at: NOW });
    expect(await store.queue.list({ limit: 9 })).toEqual([]);
    expect(await store.queue.find([executionId(1)])).toEqual([]);
    const due = { execution_id: executionId(1), wake_at: NOW + 1_010 };
    expect(await store.queue.listDue({ until: NOW + 5_000, limit: 9 })).toEqual([due]);

    const wake = { now: NOW + 1_010, cancel_timeout_ms: 1, hasWorker: () => true };
    await store.executions.change(executionId(1), (row) => decideWake(row, wake));
    expect(await store.queue.listDue({ until: NOW + 5_000, limit: 9 })).toEqual([]);
    expect(await store.queue.list({ limit: 9 })).toMatchObject([
      { ...queued[0], last_worker: "b", losses: JSON.stringify(second.row.losses) },
    ]);
  });

  test("LIV-4 a handed-over execution leaves its owner's list and waits with its old place", async () => {
    const store = await opened(open);
    await store.executions.create(newExecution(1), claimant);
    await store.executions.create(newExecution(2), { ...claimant, session: "session-2" });
    expect(await store.queue.listOwned("session-1")).toEqual([
      {
        execution_id: executionId(1),
        generation: 1,
        state: "CLAIMED",
        head: 2,
        module_hash: "module-1",
        updated_at: NOW,
        requirements: null,
        losses: null,
        run_as: null,
        namespace: "default",
        workflow: "hello",
      },
    ]);
    expect(await store.queue.list({ limit: 9 })).toEqual([]);
    const how = { now: NOW + 60, cancel_timeout_ms: 30_000 };
    await store.executions.change(executionId(1), (row) => handOver(row, how));
    expect(await store.queue.listOwned("session-1")).toEqual([]);
    expect(await store.queue.list({ limit: 9 })).toMatchObject([
      { execution_id: executionId(1), queued_at: NOW, last_worker: "w1", losses: null },
    ]);
  });

  test("LIV-4 executions whose owner's session is over, lost or unknown belong to nobody", async () => {
    const store = await opened(open);
    const sessions = ["ended", "lost", "alive", "lost", "unknown", "ended"];
    for (const name of new Set(sessions)) {
      if (name !== "unknown") await store.sessions.open(newSession(name));
    }
    for (const [i, session] of sessions.entries()) {
      await store.executions.create(newExecution(i + 1), { worker: "w", session, now: NOW });
    }
    const local = { version: null, module_hash: null };
    await store.executions.create(newExecution(8, local), { ...claimant, session: "unknown" });
    await store.executions.create(newExecution(9));
    const orphans = async (limit = 9) =>
      (await store.queue.listOrphaned(limit)).map((one) => [one.execution_id, one.session]);
    expect(await store.queue.listOrphaned(9)).toEqual([
      { execution_id: executionId(5), session: "unknown", generation: 1 },
    ]);
    await store.sessions.end("ended", "disconnected");
    const lost = await store.sessions.connect("lost", "replica");
    await store.sessions.lose("lost", lost?.epoch ?? 0);
    const all = [1, 2, 4, 5, 6].map((n) => [executionId(n), sessions[n - 1]]);
    expect(await orphans()).toEqual(all);
    expect(await orphans(2)).toEqual(all.slice(0, 2));
    // A session that connects again is lost no more, and has what it had.
    await store.sessions.connect("lost", "replica");
    expect(await orphans()).toEqual(all.filter(([, session]) => session !== "lost"));
  });

  test("executions with something due are listed by instant, then id, and only a server's own", async () => {
    const store = await opened(open);
    const wakeAt = async (n: number, wake_at: number | null, version: number | null = 1) => {
      await store.executions.create(newExecution(n, { version }));
      await store.executions.change(executionId(n), () => ({ events: [], patch: { wake_at } }));
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
    expect(await store.queue.listDue({ until: NOW + 30, limit: 9 })).toEqual(due);
    expect(await store.queue.listDue({ until: NOW + 29, limit: 9 })).toEqual(due.slice(0, 4));
    expect(await store.queue.listDue({ until: NOW - 6, limit: 9 })).toEqual([]);
    expect(await store.queue.listDue({ until: NOW + 30, limit: 2 })).toEqual(due.slice(0, 2));
    for (const [i, after] of due.entries()) {
      const page = await store.queue.listDue({ until: NOW + 30, limit: 2, after });
      expect(page).toEqual(due.slice(i + 1, i + 3));
    }
    const wake = () => ({ events: [], patch: { wake_at: null } });
    await store.executions.change(executionId(3), wake);
    expect(await store.queue.listDue({ until: NOW + 10, limit: 9 })).toEqual(
      due.filter((one) => one.execution_id !== executionId(3)).slice(0, 3),
    );
  });
}
