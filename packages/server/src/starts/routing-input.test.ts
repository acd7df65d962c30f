import {
  type Checkpoint,
  type CheckpointItem,
  type Json,
  type NewExecution,
  NewSchedule,
  type RoutingInput,
} from "@engine/contract";
import {
  keyIdOf,
  openAlike,
  openPostgresStore,
  openSqliteStore,
  type Store,
  sealAlike,
} from "@engine/store";
import { startTestPostgres } from "@engine/store/test-postgres";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CALL, testRing } from "../secrets/testing/rings.ts";
import { ManualTime } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

const FAMILY = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent" }, async (input) => input);
export const child = workflow({ name: "child" }, async (input) => input);
`;
const GIVEN: RoutingInput = { dataset: "berlin-17" };
const TAINT = "berlin-17";
const OLD = testRing("old");

let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
beforeAll(async () => {
  postgres = await startTestPostgres();
}, 60_000);
afterAll(() => postgres.stop());

const STORES: Readonly<Record<string, (clock: () => number) => Promise<Store>>> = {
  SQLite: (clock) => openSqliteStore({ path: ":memory:", synchronous: "normal", clock }),
  PostgreSQL: async (clock) => openPostgresStore({ url: await postgres.createDatabase(), clock }),
};

describe.each(Object.keys(STORES))("on %s", (kind) => {
  async function engine(ring = OLD): Promise<TestEngine> {
    const time = new ManualTime();
    const store = await STORES[kind]?.(time.clock);
    const shared = { store: store ?? expect.unreachable(), time };
    const t = await TestEngine.start({}, { shared, ports: { ring } });
    onTestFinished(async () => {
      await t.engine.close();
      await shared.store.close();
    });
    await t.engine.catalog.register({ source: FAMILY }, { by: null });
    return t;
  }

  const stored = async (t: TestEngine, execution_id: string) =>
    (await t.store.executions.find(execution_id))?.routing_input ?? null;
  const opened = async (t: TestEngine, execution_id: string) => {
    const text = await stored(t, execution_id);
    return text === null ? null : JSON.parse(openAlike(OLD, text));
  };

  /** All that workers and readers get of an execution from its start to its end, without its id. */
  async function told(routing_input: RoutingInput | undefined): Promise<string> {
    const t = await engine();
    const worker = await t.worker();
    const { executions } = t.engine;
    const { row } = await executions.start({ ...hello({ n: 1 }), routing_input });
    const { execution_id } = row;
    const follower = await executions.follow({ execution_id }, { events: "all", detailed: true });
    const assigned = await worker.next("assign");
    await worker.paused(assigned);
    await executions.resume({ execution_id, input: "yes", by: null });
    await worker.completed(await worker.next("assign"), "done");
    const frames: unknown[] = [];
    for await (const frame of follower.frames()) frames.push(frame);
    const all = {
      worker: worker.frames,
      frames,
      log: await t.store.log.read(execution_id),
      history: await executions.history(execution_id),
      listed: await executions.list({ order: "created_asc", limit: 9, offset: 0 }),
    };
    // The column itself, which no reader is given.
    const hide = (key: string, value: unknown) => (key === "routing_input" ? undefined : value);
    expect(await stored(t, execution_id)).not.toBe(routing_input ? null : "");
    return JSON.stringify(all, hide).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|replica-\d+-\d+/g, "id");
  }

  test("RIN-3 no frame, event, record or export differs between an execution with and without it", async () => {
    const withIt = await told(GIVEN);
    expect(withIt).toBe(await told(undefined));
    expect(withIt).not.toContain("berlin");
    expect(withIt).toContain("WORKFLOW_COMPLETED");
  });

  test("RIN-3 equal routing inputs are stored as equal texts, of which nothing can be read", async () => {
    const t = await engine();
    const start = async (routing_input: RoutingInput) =>
      (await t.engine.executions.start({ ...hello(), routing_input })).row.routing_input;
    const [one, same, other] = [await start(GIVEN), await start(GIVEN), await start({ a: 1 })];
    expect(one).toBe(same);
    expect(one).not.toBe(other);
    expect(keyIdOf(one ?? "")).toBe("old");
    expect(one).not.toContain("berlin");
    expect(await start({})).toBeNull();
  });

  /** A parent that waits for a child, whose call had that routing input. */
  async function calling(t: TestEngine, worker: ScriptedWorker, routing: unknown) {
    const { row } = await t.engine.executions.start({
      ...hello(),
      workflow: "parent",
      routing_input: { of: "parent" },
    });
    const assigned = await worker.next("assign");
    const item = checkpoint(worker, assigned, { "call~1": routing as Json });
    const [answer] = await t.engine.workers.checkpoints(worker.ref, [item]);
    return { parent_id: row.execution_id, item, answer };
  }

  function checkpoint(
    worker: ScriptedWorker,
    assigned: Parameters<ScriptedWorker["begin"]>[0],
    routing_inputs: NonNullable<Checkpoint["routing_inputs"]>,
  ): CheckpointItem {
    const { execution_id, generation, head: base_seq } = assigned;
    const start = { workflow: "default/child", input: 1, wait: true, detach: false };
    const events = [worker.begin(assigned), worker.callEvent("TASK_STARTED", "call~1", start)];
    const about = { execution_id, generation, base_seq, state: "RUNNING" } as const;
    return { ...about, events, waiting: [], routing_inputs };
  }

  async function childrenOf(t: TestEngine, parent_id: string) {
    const page = { parent_id, order: "created_asc", limit: 9, offset: 0 } as const;
    return (await t.store.executions.list(page)).items.map(({ execution_id }) => execution_id);
  }

  test("RIN-3 CKP-1 a call's routing input comes with its checkpoint to the child's row alone", async () => {
    const t = await engine();
    const worker = await t.worker();
    const { parent_id, item, answer } = await calling(t, worker, GIVEN);
    expect(answer).toMatchObject({ state: "RUNNING" });
    // The answer was lost, and the worker sends it again.
    const [again] = await t.engine.workers.checkpoints(worker.ref, [item]);
    expect(again).toEqual(answer);
    const [child_id = "", ...others] = await childrenOf(t, parent_id);
    expect(others).toEqual([]);
    expect(await opened(t, child_id)).toEqual(GIVEN);
    const assigned = await worker.next("assign");
    expect(assigned).toMatchObject({ execution_id: child_id, input: 1 });
    const logs = await Promise.all([parent_id, child_id].map((id) => t.store.log.read(id)));
    expect(JSON.stringify([worker.frames, logs])).not.toContain("berlin");
  });

  test("RIN-3 a child has none of its parent's", async () => {
    const t = await engine();
    const worker = await t.worker();
    const { parent_id } = await calling(t, worker, {});
    const [child_id = ""] = await childrenOf(t, parent_id);
    expect(await stored(t, child_id)).toBeNull();
    expect(await opened(t, parent_id)).toEqual({ of: "parent" });
  });

  test("RIN-3 a fork that makes a call anew has the routing input of the child it had, and so has a fork of that", async () => {
    const t = await engine();
    const worker = await t.worker();
    const { parent_id } = await calling(t, worker, GIVEN);
    await worker.completed(await worker.next("assign"), "grown");
    const resumed = await worker.next("assign");
    await worker.completed(resumed, "done");
    const log = await t.store.log.read(parent_id);
    const from_seq = log.findIndex(({ event }) => event.source_id === "call~1") + 1;
    const fork = async (execution_id: string, seq: number) =>
      (await t.engine.executions.fork({ execution_id, by: null, from_seq: seq })).row.execution_id;
    const first = await fork(parent_id, from_seq);
    const [anew = ""] = await childrenOf(t, first);
    expect(await opened(t, anew)).toEqual(GIVEN);
    expect(await opened(t, first)).toEqual({ of: "parent" });

    // Its copy of the log has the call's end, so that the child is its source's.
    const whole = await fork(parent_id, log.length - 1);
    expect(await childrenOf(t, whole)).toEqual([]);
    const copied = await t.store.log.read(whole);
    const at = copied.findIndex(({ event }) => event.source_id === "call~1") + 1;
    const [again = ""] = await childrenOf(t, await fork(whole, at));
    expect(await opened(t, again)).toEqual(GIVEN);
  });

  test.each([
    ["not_object", [TAINT]],
    ["bad_value", { a: [TAINT] }],
    ["bad_key", { [`${TAINT}.a`]: 1 }],
    ["too_large", { a: TAINT.repeat(1_000) }],
  ])(
    "RIN-2 a call with one that is %s fails by itself, and nothing of it is kept",
    async (reason, routing) => {
      const t = await engine();
      const worker = await t.worker();
      const { parent_id } = await calling(t, worker, routing);
      expect(await childrenOf(t, parent_id)).toEqual([]);
      const log = (await t.store.log.read(parent_id)).map(({ event }) => event);
      expect(log.find(({ type }) => type === "TASK_FAILED")).toMatchObject({
        source_id: "call~1",
        value: { type: "InvalidInputError", details: { reason } },
      });
      expect(JSON.stringify([log, worker.frames])).not.toContain("berlin");
    },
  );

  test("CKP-1 a routing input of a call that does not begin there is refused, and nothing is written", async () => {
    const t = await engine();
    const worker = await t.worker();
    const { row } = await t.engine.executions.start({ ...hello(), workflow: "parent" });
    const assigned = await worker.next("assign");
    const item = checkpoint(worker, assigned, { "call~1": {}, "call~2": GIVEN as Json });
    expect(await t.engine.workers.checkpoints(worker.ref, [item])).toMatchObject([
      {
        error: { code: "invalid_input", details: { issues: [{ path: "routing_inputs.call~2" }] } },
      },
    ]);
    expect(await t.types(row.execution_id)).toEqual(["WORKFLOW_CREATED", "WORKFLOW_CLAIMED"]);
  });

  test("RIN-1 a schedule's routing input is that of each of its runs", async () => {
    const t = await engine();
    const spec = { type: "interval", every_seconds: 60 };
    const fields = { name: "often", workflow: "hello", overlap: "allow", spec };
    await t.engine.schedules.create(NewSchedule.parse({ ...fields, routing_input: GIVEN }));
    const page = { schedule: "often", order: "created_asc", limit: 9, offset: 0 } as const;
    const runs = async () => (await t.store.executions.list(page)).total;
    // The scheduler sets its timer once the database has answered.
    const until = async (count: number) => {
      while ((await runs()) < count) await t.time.advance(1_000);
    };
    await until(1);
    await t.engine.schedules.change("often", { routing_input: { dataset: "paris" } });
    await until(2);
    await t.engine.schedules.change("often", { routing_input: {} });
    await t.engine.schedules.trigger("often");
    const { items } = await t.store.executions.list(page);
    const inputs = await Promise.all(items.map(({ execution_id }) => opened(t, execution_id)));
    expect(inputs).toEqual([GIVEN, { dataset: "paris" }, null]);
  });

  test("SEC-3 routing inputs and needs made of them are sealed anew, and the old key is not needed any more", async () => {
    const t = await engine();
    const terms = JSON.stringify({ affinity: [] });
    const first = (await t.engine.executions.start({ ...hello(), routing_input: GIVEN })).row;
    const hidden = { sealed: sealAlike(OLD, terms) };
    const fresh: NewExecution = {
      ...{ execution_id: "e", namespace: "default", workflow: "hello", version: 1 },
      ...{ module_hash: first.module_hash, input: null, trigger: { kind: "api" }, by: null },
      ...{ seed: "s", now: t.time.now, requirements: { hidden } },
      routing_input: sealAlike(OLD, JSON.stringify(GIVEN)),
    };
    await t.store.executions.create(fresh);
    await t.engine.close();
    const shared = { store: t.store, time: t.time };
    const both = testRing("new", "old");
    await using rotating = await TestEngine.start({}, { shared, ports: { ring: both } });
    const { keyRotation } = rotating.engine;
    const rowsOf = async () => (await keyRotation.status()).keys.map(({ id, rows }) => [id, rows]);
    expect(await rowsOf()).toEqual([
      ["new", 0],
      ["old", 3],
    ]);
    await keyRotation.rotate(CALL);
    await expect.poll(rowsOf).toEqual([
      ["new", 3],
      ["old", 0],
    ]);
    const { items } = await t.store.executions.list({ order: "created_asc", limit: 9, offset: 0 });
    const ring = testRing("new");
    const texts = items.map(({ routing_input }) => routing_input ?? "");
    expect(texts.map((text) => JSON.parse(openAlike(ring, text)))).toEqual([GIVEN, GIVEN]);
    expect(new Set(texts).size).toBe(1);
    const need = items.find(({ execution_id }) => execution_id === "e")?.requirements?.hidden;
    expect(need && "sealed" in need && openAlike(ring, need.sealed)).toBe(terms);
  });
});

test("RIN-3 without a key it is stored as it is; what is sealed cannot be forked without its key", async () => {
  await using t = await TestEngine.start({}, { ports: { ring: undefined } });
  const { row } = await t.engine.executions.start({ ...hello(), routing_input: GIVEN });
  expect(row.routing_input).toBe(JSON.stringify(GIVEN));
  const { execution_id } = row;
  const forked = await t.engine.executions.fork({ execution_id, by: null });
  expect(forked.row.routing_input).toBe(JSON.stringify(GIVEN));

  await using sealing = await TestEngine.start({}, { ports: { ring: OLD } });
  const sealed = await sealing.engine.executions.start({ ...hello(), routing_input: GIVEN });
  await sealing.engine.close();
  const shared = { store: sealing.store, time: sealing.time };
  await using other = await TestEngine.start({}, { shared, ports: { ring: testRing("other") } });
  const fork = other.engine.executions.fork({ execution_id: sealed.row.execution_id, by: null });
  await expect(fork).rejects.toMatchObject({ code: "encryption_unavailable" });
});
