/** Two stores on one database, as two servers have them. */
import {
  decideClaim,
  decideResume,
  EngineError,
  type ExecutionRow,
  ExtractedWorkflow,
} from "@engine/contract";
import { afterAll, expect, test } from "vitest";
import {
  CALL,
  callChild,
  complete,
  run,
  startRunning,
} from "../../conformance/executions/family.ts";
import { opened } from "../../conformance/opened.ts";
import {
  appending,
  event,
  executionId,
  NOW,
  newExecution,
  newSession,
} from "../../conformance/sample.ts";
import type { Changed, Decide } from "../../ports/executions.ts";
import type { Store } from "../../store.ts";
import { startTestPostgres } from "../../testing/test-postgres.ts";
import { openPostgresStore } from "../postgres-store.ts";

const postgres = await startTestPostgres();
afterAll(() => postgres.stop());

async function replicas(): Promise<readonly [Store, Store]> {
  const url = await postgres.createDatabase();
  const open = () => openPostgresStore({ url, clock: Date.now });
  return [await opened(open), await opened(open)];
}

const numbers = Array.from({ length: 40 }, (_, i) => i + 1);

test("DSP-3 of two replicas that claim the same executions at once, exactly one gets each", async () => {
  const [a, b] = await replicas();
  await Promise.all(numbers.map((n) => a.executions.create(newExecution(n))));
  const claim = (store: Store, name: string) =>
    numbers.map((n) =>
      store.executions.change(executionId(n), (row) =>
        decideClaim(row, { worker: name, session: name, now: NOW }),
      ),
    );
  const [ofA, ofB] = await Promise.all([Promise.all(claim(a, "a")), Promise.all(claim(b, "b"))]);
  const winners = numbers.map((_, i) => [ofA[i], ofB[i]].filter((c) => c?.events.length === 1));
  expect(winners.map((won) => won.length)).toEqual(numbers.map(() => 1));
  for (const [i, [won]] of winners.entries()) {
    const row = await b.executions.find(executionId(i + 1));
    expect(row).toMatchObject({ generation: 1, head: 2, session: won?.row.session });
  }
});

test("I12 of two resumes on two replicas one wins, and the other is told", async () => {
  const [a, b] = await replicas();
  for (const n of numbers) await pause(a, n);
  const resume = (store: Store, input: string) =>
    Promise.allSettled(
      numbers.map((n) =>
        store.executions.change(executionId(n), (row) => {
          const verdict = decideResume(row, { input, by: null, now: NOW });
          if (verdict instanceof EngineError) throw verdict;
          return verdict;
        }),
      ),
    );
  const [ofA, ofB] = await Promise.all([resume(a, "a"), resume(b, "b")]);
  for (const [i, n] of numbers.entries()) {
    const both = [ofA[i], ofB[i]];
    expect(both.filter((one) => one?.status === "fulfilled")).toHaveLength(1);
    expect(both).toContainEqual({
      status: "rejected",
      reason: expect.objectContaining({ code: "not_paused" }),
    });
    const log = await a.log.read(executionId(n));
    expect(log.filter(({ event: { type } }) => type === "TASK_COMPLETED")).toHaveLength(1);
  }
});

test("I1 an execution that two replicas create at once is created once, its neighbours too", async () => {
  const [a, b] = await replicas();
  const create = (store: Store, own: number) =>
    Promise.allSettled(
      [...numbers, own].map((n) => store.executions.create(newExecution(n, { input: own }))),
    );
  const [ofA, ofB] = await Promise.all([create(a, 101), create(b, 102)]);
  for (const [i, n] of numbers.entries()) {
    const both = [ofA[i], ofB[i]];
    expect(both.filter((one) => one?.status === "fulfilled")).toHaveLength(1);
    expect(both).toContainEqual({
      status: "rejected",
      reason: expect.objectContaining({ code: "conflict" }),
    });
    expect(await a.log.read(executionId(n))).toHaveLength(1);
  }
  expect([ofA.at(-1)?.status, ofB.at(-1)?.status]).toEqual(["fulfilled", "fulfilled"]);
});

test("EXE-84 of two replicas that bring the same keys at once one creates, and both know which", async () => {
  const [a, b] = await replicas();
  const create = (store: Store, order: readonly number[], base: number) =>
    Promise.all(
      order.flatMap((n) => [
        store.executions.create(
          newExecution(base + n, { unique: { key: `key ${n}`, request_hash: `${base}` } }),
        ),
        store.executions.create(newExecution(base + 500 + n)),
      ]),
    );
  const [ofA, ofB] = await Promise.all([
    create(a, numbers, 1_000),
    create(b, numbers.toReversed(), 2_000),
  ]);
  const keyed = [...ofA, ...ofB].filter(({ row }) => row.unique_key !== null);
  for (const n of numbers) {
    const both = keyed.filter(({ row }) => row.unique_key === `key ${n}`);
    expect(both.map(({ existing = false }) => existing).sort()).toEqual([false, true]);
    const [id, ...same] = new Set(both.map(({ row }) => row.execution_id));
    expect(same).toEqual([]);
    expect(await b.log.read(id as string)).toHaveLength(1);
  }
  const { total } = await a.executions.list({ order: "created_asc", limit: 1, offset: 0 });
  expect(total).toBe(3 * numbers.length);
});

test("EXE-84 a key that many bring at once, over all connections of two replicas, is used once", async () => {
  const [a, b] = await replicas();
  const asked: Promise<Changed>[] = [];
  for (const n of numbers) {
    const unique = { key: "k", request_hash: "h" };
    asked.push((n % 2 ? a : b).executions.create(newExecution(n, { unique })));
    await new Promise(setImmediate);
  }
  const all = await Promise.all(asked);
  expect(new Set(all.map(({ row }) => row.execution_id)).size).toBe(1);
  expect(all.filter(({ existing }) => !existing)).toHaveLength(1);
});

test("DSP-3 who gives a session up has all that was claimed for it, whatever another replica claims", async () => {
  const [a, b] = await replicas();
  for (const round of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const session = `s${round}`;
    await a.sessions.open(newSession(session));
    const { epoch = 0 } = (await a.sessions.connect(session, "a")) ?? {};
    const ids = numbers.map((n) => executionId(100 * round + n));
    await Promise.all(numbers.map((n) => a.executions.create(newExecution(100 * round + n))));
    const claims: Promise<Changed>[] = [];
    let owned: Promise<readonly string[]> | undefined;
    for (const [i, id] of ids.entries()) {
      const guard = { session, epoch, active: true };
      const decide: Decide = (row) => decideClaim(row, { worker: "w", session, now: NOW });
      claims.push(a.executions.change(id, decide, { guard }));
      if (i === 4 * round) owned = ownedOnceLost(b, session, epoch);
      await new Promise(setImmediate);
    }
    const claimed = (await Promise.all(claims)).filter(({ events }) => events.length > 0);
    expect(await owned).toEqual(claimed.map(({ row }) => row.execution_id));
  }
});

async function ownedOnceLost(store: Store, session: string, epoch: number): Promise<string[]> {
  await store.sessions.lose(session, epoch);
  return (await store.queue.listOwned(session)).map(({ execution_id }) => execution_id);
}

test("I3 replicas that add to the same logs at once leave no gap in their numbers", async () => {
  const [a, b] = await replicas();
  const few = [1, 2, 3, 4, 5];
  for (const n of few) await a.executions.create(newExecution(n));
  const add = async (store: Store, order: readonly number[]) => {
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        order.map((n) =>
          store.executions.change(executionId(n), (row) =>
            appending(row, [event("TASK_STARTED", "a")]),
          ),
        ),
      );
    }
  };
  await Promise.all([add(a, few), add(b, few.toReversed())]);
  for (const n of few) {
    const seqs = (await b.log.read(executionId(n))).map(({ event: { seq } }) => seq);
    expect(seqs).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
  }
});

test("EXE-55 children that end on two replicas at once all tell their parent", async () => {
  const [a, b] = await replicas();
  const children = Array.from({ length: 16 }, (_, i) => i + 2);
  // The parent's id is above theirs: their ends need a row that is not in the order of ids.
  const parent = { execution_id: executionId(999), depth: 0, detached: false };
  await a.executions.create(newExecution(999));
  for (const n of children) {
    await a.executions.create(newExecution(n, { parent: { ...parent, call_id: `call~${n}` } }));
  }
  const end = (store: Store, n: number) =>
    store.executions.change(executionId(n), (row) => ({
      ...appending(row, [event("WORKFLOW_COMPLETED", row.execution_id, n)]),
      effects: [
        {
          kind: "change",
          execution_id: executionId(999),
          decide: (found) => found && appending(found, [event("TASK_COMPLETED", `call~${n}`, n)]),
        },
      ],
    }));
  await Promise.all(children.map((n) => end(n % 2 ? a : b, n)));
  const log = (await b.log.read(executionId(999))).map(({ event: { seq, value } }) => [seq, value]);
  expect(log.map(([seq]) => seq)).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
  expect(log.slice(1).map(([, value]) => value)).toEqual(expect.arrayContaining(children));
});

test("EXE-21 a cancel on one replica reaches the child that another one creates at that moment", async () => {
  for (let round = 0; round < 20; round++) {
    const [a, b] = await shared();
    const n = 10 * round + 1;
    const parent = await startRunning(a, n);
    const cancel = (row: ExecutionRow) => ({
      ...appending(row, [event("TASK_STARTED", "cancel")]),
      effects: [
        {
          kind: "children" as const,
          parent_id: row.execution_id,
          decide: (child: ExecutionRow) => appending(child, [event("TASK_STARTED", "told")]),
        },
      ],
    });
    const [called, cancelled] = await Promise.all([
      callChild(a, parent, n + 1),
      b.executions.change(parent, cancel),
    ]);
    // Whichever came first: a child that was there when the parent was changed has been told.
    const wasThere = called.row.head < cancelled.row.head;
    expect(cancelled.others).toHaveLength(wasThere ? 1 : 0);
    expect((await a.executions.find(executionId(n + 1)))?.head).toBe(wasThere ? 2 : 1);
  }
});

const shared = (() => {
  let stores: Promise<readonly [Store, Store]> | undefined;
  return () => {
    stores ??= replicas();
    return stores;
  };
})();

test("EXE-67 registrations that race on two replicas get dense versions, and one of equal ones creates", async () => {
  const [a, b] = await replicas();
  const contents = ["a", "b", "c", "d", "e", "f"];
  const all = await Promise.all(
    contents.flatMap((hash) => [a, b].map((store) => store.catalog.register(registration(hash)))),
  );
  const created = all.flat().filter((item) => item.created);
  const versions = created.map(({ version }) => version).sort((x, y) => x - y);
  expect(versions).toEqual(versions.map((_, i) => i + 1));
  expect(versions.length).toBeGreaterThanOrEqual(contents.length);
  const { total } = await a.catalog.listVersions("default", "hello", { limit: 50, offset: 0 });
  expect(total).toBe(versions.length);
});

test("WRK-4 of processes that register one name on two replicas at once, one is left", async () => {
  const [a, b] = await replicas();
  const opened = await Promise.all(
    numbers.map((n) => (n % 2 ? a : b).sessions.open(newSession(`s${n}`, { worker: "w1" }))),
  );
  expect(opened.filter((one) => one.is_new_worker)).toHaveLength(1);
  expect(opened.filter((one) => one.superseded)).toHaveLength(numbers.length - 1);
  expect(await a.sessions.listLive()).toHaveLength(1);
});

test("the end of a child that one replica runs is seen by the other at once", async () => {
  const [a, b] = await replicas();
  const parent = await startRunning(a, 1);
  await callChild(a, parent, 2);
  await run(b, executionId(2));
  const ended = await complete(b, executionId(2), "done");
  expect(ended.others).toMatchObject([{ row: { execution_id: parent, state: "RESUMING" } }]);
  expect(await a.executions.find(parent)).toMatchObject({ waits: [], state: "RESUMING" });
  const log = (await a.log.read(parent)).map(({ event: { source_id } }) => source_id);
  expect(log).toContain(CALL);
});

async function pause(store: Store, n: number): Promise<void> {
  const id = await startRunning(store, n);
  await store.executions.change(id, (row) => ({
    ...appending(row, [
      event("TASK_STARTED", "a"),
      event("TASK_PAUSED", "a", { name: "ok?" }),
      event("WORKFLOW_PAUSED", id),
    ]),
  }));
}

function registration(content_hash: string) {
  const extracted = ExtractedWorkflow.parse({
    namespace: "default",
    name: "hello",
    description: null,
    tasks: [],
    metadata: {},
  });
  return {
    workflows: [{ extracted, content_hash }],
    module: { hash: `module-of-${content_hash}`, bundle: "b" },
    files: [],
    source_hash: "s",
    created_by: null,
  };
}
