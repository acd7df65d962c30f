import { type Json, type NewEvent, SENSITIVE, type SentEvent } from "@engine/contract";
import { isSealedText } from "@engine/store";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const REAL = "4111-1111-1111-1111";

/** An event of a sensitive call, as its worker sends it. */
function hidden(event: NewEvent, real: Json): SentEvent {
  return { ...event, value: SENSITIVE, hidden: real };
}

/** An execution of which a sensitive call is recorded, and which waits for an answer. */
async function charged(t: TestEngine, worker: ScriptedWorker): Promise<string> {
  const { execution_id } = await t.run("first");
  const assigned = await worker.next("assign");
  const answer = await worker.checkpoint(assigned, 2, "PAUSED", [
    worker.begin(assigned),
    hidden(worker.callEvent("TASK_STARTED", "charge~1"), { card: REAL }),
    hidden(worker.callEvent("TASK_COMPLETED", "charge~1"), `paid by ${REAL}`),
    worker.pauseEvent("TASK_STARTED", { name: "answer" }),
    worker.pauseEvent("TASK_PAUSED", { name: "answer" }),
    worker.event(assigned, "WORKFLOW_PAUSED", { name: "answer" }),
  ]);
  expect(answer).toMatchObject({ state: "PAUSED", seq: 8 });
  return execution_id;
}

const values = (events: readonly { type: string; source_id: string; value: unknown }[]) =>
  events.filter(({ source_id }) => source_id === "charge~1").map(({ value }) => value);
const REALS = [{ card: REAL }, `paid by ${REAL}`];
const MARKERS = [SENSITIVE, SENSITIVE];

test("SEC-8 SEC-9 what a sensitive task took and gave is encrypted in the log, and shown by no read", async () => {
  await using t = await TestEngine.start();
  const id = await charged(t, await t.worker());
  const { executions } = t.engine;
  const log = await t.store.log.read(id);
  expect(values(log.map(({ event }) => event))).toEqual(MARKERS);
  const history = await executions.history(id);
  expect(values(history.events)).toEqual(MARKERS);
  expect(history.masked).toBe(2);
  const asked = { execution_id: id, after: 0, asRun: true };
  const follower = await executions.follow(asked, { events: "all" });
  const frames: unknown[] = [];
  for await (const part of follower.frames()) frames.push(part);
  const seen = [log, history, frames, await executions.eventValue(id, 4), await executions.get(id)];
  expect(JSON.stringify(seen)).not.toContain(REAL);
  for (const shown of [history, frames]) expect(JSON.stringify(shown)).not.toContain("sealed");
});

test("SEC-9 the worker that goes on gets the values, by its assignment, by pages and after a reconnect; nobody else does", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const execution_id = await charged(t, worker);
  await t.engine.executions.resume({ execution_id, input: "yes", by: null });
  const assigned = await worker.next("assign");
  expect(values(assigned.history.events)).toEqual(REALS);
  const { generation } = assigned;
  const page = { generation, after: 0, limit: 1000 };
  const { events } = await t.engine.workers.events(worker.ref, execution_id, page);
  expect(values(events)).toEqual(REALS);
  await worker.connect([{ execution_id, generation, seq: 2 }]);
  expect(values((await worker.next("events")).events)).toEqual(REALS);
  const other = await t.worker("other");
  const stale = { code: "stale_claim" };
  await expect(t.engine.workers.events(other.ref, execution_id, page)).rejects.toMatchObject(stale);
});

test("SEC-9 a checkpoint that is sent twice is recorded once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const events = [
    worker.begin(assigned),
    hidden(worker.callEvent("TASK_STARTED", "charge~1"), REAL),
  ];
  const once = await worker.checkpoint(assigned, 2, "RUNNING", events);
  expect(await worker.checkpoint(assigned, 2, "RUNNING", events)).toEqual(once);
  expect(await t.store.log.read(execution_id)).toHaveLength(4);
});

test("SEC-9 a fork has what it copies under a key of its own, also once its source is gone", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await charged(t, worker);
  const { row } = await t.engine.executions.fork({ execution_id: source, from_seq: 5, by: null });
  const assigned = await worker.next("assign");
  expect(assigned.execution_id).toBe(row.execution_id);
  expect(values(assigned.history.events)).toEqual(REALS);
  const [of, own] = await Promise.all(
    [source, row.execution_id].map((id) => t.store.executionKeys.find(id)),
  );
  expect(own?.wrapped).not.toBe(of?.wrapped);
  expect(JSON.stringify(await t.store.log.read(row.execution_id))).not.toContain(REAL);
});

test("SEC-9 EXE-49 a value too large for the log lies encrypted in the storage, and is given to the claim holder alone", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const { generation } = assigned;
  const text = JSON.stringify(REAL.repeat(1000));
  const { workers } = t.engine;
  const large = { generation, text, hidden: true };
  const reference = await workers.saveValue(worker.ref, execution_id, large);
  const kept = [...t.values.texts.values()];
  expect(kept.every(isSealedText)).toBe(true);
  expect(JSON.stringify(kept)).not.toContain(REAL);
  const { reference_id } = reference;
  await worker.checkpoint(assigned, 2, "PAUSED", [
    worker.begin(assigned),
    worker.callEvent("TASK_STARTED", "charge~1"),
    hidden(worker.callEvent("TASK_COMPLETED", "charge~1"), { $stored: reference } as never),
    worker.pauseEvent("TASK_STARTED", { name: "answer" }),
    worker.pauseEvent("TASK_PAUSED", { name: "answer" }),
    worker.event(assigned, "WORKFLOW_PAUSED", { name: "answer" }),
  ]);
  expect(await t.engine.executions.eventValue(execution_id, 5)).toBe(SENSITIVE);
  // A fork reads it by the name that its log has for it.
  await t.engine.executions.fork({ execution_id, from_seq: 5, by: null });
  const fork = await worker.next("assign");
  const asked = { generation: fork.generation, reference_id };
  expect(await workers.loadValue(worker.ref, fork.execution_id, asked)).toBe(text);
});

test("SEC-9 what is sealed goes with its execution", async () => {
  await using t = await TestEngine.start({ retention: { retention_days: 1 } });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.checkpoint(assigned, 2, "COMPLETED", [
    worker.begin(assigned),
    hidden(worker.callEvent("TASK_STARTED", "charge~1"), REAL),
    hidden(worker.callEvent("TASK_COMPLETED", "charge~1"), REAL),
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  expect(await t.store.executionKeys.find(execution_id)).toBeDefined();
  await t.store.retention.deleteFinished(Number.MAX_SAFE_INTEGER, 10);
  expect(await t.store.executionKeys.find(execution_id)).toBeUndefined();
});

test("SEC-9 without a key nothing sensitive is registered or recorded, and nothing changes", async () => {
  await using t = await TestEngine.start({}, { ports: { ring: undefined } });
  const source = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge", sensitive: true }, async (card) => card);
export const pays = workflow({ name: "pays" }, async (card) => charge(card));
`;
  await expect(t.engine.catalog.register({ source }, { by: null })).rejects.toMatchObject({
    code: "encryption_unavailable",
    message: expect.stringContaining("default/pays"),
  });
  await expect(t.engine.catalog.get("default", "pays")).rejects.toMatchObject({
    code: "not_found",
  });
  const worker = await t.worker();
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  const events = [
    worker.begin(assigned),
    hidden(worker.callEvent("TASK_STARTED", "charge~1"), REAL),
  ];
  expect(await worker.checkpoint(assigned, 2, "RUNNING", events)).toMatchObject({
    error: { code: "encryption_unavailable" },
  });
  expect(await t.store.log.read(execution_id)).toHaveLength(2);
});
