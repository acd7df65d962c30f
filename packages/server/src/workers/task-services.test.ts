import { createHash } from "node:crypto";
import { type Assignment, envelopeText, type StoredReference } from "@engine/contract";
import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";

const TEXT = '{"large":true}';
const key = { task: "resize", version: "1", digest: "a".repeat(64) };

/** An execution that a worker owns. */
async function owned(t: TestEngine): Promise<{ worker: ScriptedWorker; assigned: Assignment }> {
  const worker = await t.worker();
  await t.run();
  return { worker, assigned: await worker.next("assign") };
}

function envelope(reference: StoredReference) {
  return JSON.parse(envelopeText(reference));
}

test("EXE-49 a worker keeps a large value outside the log and reads it back", async () => {
  await using t = await TestEngine.start();
  const { worker, assigned } = await owned(t);
  const { workers } = t.engine;
  const { execution_id, generation } = assigned;
  const reference = await workers.saveValue(worker.ref, execution_id, { generation, text: TEXT });
  const sha256 = createHash("sha256").update(TEXT).digest("hex");
  expect(reference).toMatchObject({
    reference_id: `${execution_id}/${sha256}`,
    metadata: { bytes: TEXT.length },
  });
  const again = await workers.saveValue(worker.ref, execution_id, { generation, text: TEXT });
  expect(again).toEqual(reference);
  const { reference_id } = reference;
  const asked = { generation, reference_id };
  expect(await workers.loadValue(worker.ref, execution_id, asked)).toBe(TEXT);
});

test("EXE-49 only the owner at its generation reaches values and cache of an execution", async () => {
  await using t = await TestEngine.start();
  const { worker, assigned } = await owned(t);
  const other = await t.worker("other");
  const { workers } = t.engine;
  const { execution_id, generation } = assigned;
  const saved = await workers.saveValue(worker.ref, execution_id, { generation, text: TEXT });
  const { reference_id } = saved;
  for (const [ref, claimed] of [
    [other.ref, generation],
    [worker.ref, generation + 1],
  ] as const) {
    const claim = { generation: claimed };
    const stale = { code: "stale_claim" };
    for (const refused of [
      workers.saveValue(ref, execution_id, { ...claim, text: "2" }),
      workers.loadValue(ref, execution_id, { ...claim, reference_id }),
      workers.cacheLookup(ref, execution_id, { ...claim, key }),
      workers.cacheKeep(ref, execution_id, { ...claim, key, text: "2", ttl_ms: 1 }),
    ]) {
      await expect(refused).rejects.toMatchObject(stale);
    }
  }
  expect([...t.values.texts]).toEqual([[reference_id, TEXT]]);
  const unknown = { worker: "w", session: "guess" };
  await expect(
    workers.loadValue(unknown, execution_id, { generation, reference_id }),
  ).rejects.toMatchObject({ code: "session_unknown" });
});

test("EXE-49 another execution's value is there for those whose log names it, not for whoever sends its name as input", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { workers } = t.engine;
  const made = await t.run();
  const inLog = await t.values.save(made.execution_id, "1");
  const inInput = await t.values.save(made.execution_id, "2");
  const unnamed = await t.values.save(made.execution_id, "3");
  await t.run(envelope(inInput));
  await worker.next("assign");
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await worker.checkpoint(assigned, assigned.head + 1, "RUNNING", [
    { ...worker.event(assigned, "TASK_STARTED", null), source_id: "made~1" },
    { ...worker.event(assigned, "TASK_COMPLETED", envelope(inLog)), source_id: "made~1" },
  ]);
  const { execution_id, generation } = assigned;
  const load = ({ reference_id }: StoredReference) =>
    workers.loadValue(worker.ref, execution_id, { generation, reference_id });
  expect(await load(inLog)).toBe("1");
  for (const other of [inInput, unnamed]) {
    await expect(load(other)).rejects.toMatchObject({
      code: "not_found",
      details: { resource: "value" },
    });
  }
});

test("EXE-49 a value over the limit is refused with the limit", async () => {
  await using t = await TestEngine.start({ executions: { max_value_bytes: 1024 } });
  const { worker, assigned } = await owned(t);
  const { workers } = t.engine;
  const { execution_id, generation } = assigned;
  const large = JSON.stringify("ü".repeat(512));
  const refusal = { code: "payload_too_large", details: { limit_bytes: 1024 } };
  for (const refused of [
    workers.saveValue(worker.ref, execution_id, { generation, text: large }),
    workers.cacheKeep(worker.ref, execution_id, { generation, key, text: large, ttl_ms: 1 }),
  ]) {
    await expect(refused).rejects.toMatchObject(refusal);
  }
  const text = JSON.stringify("ü".repeat(511));
  await workers.saveValue(worker.ref, execution_id, { generation, text });
});

test("EXE-49a the cache is shared by workers and executions, for its ttl, null included", async () => {
  await using t = await TestEngine.start();
  const { worker, assigned } = await owned(t);
  const { workers } = t.engine;
  await t.run();
  const other = await worker.next("assign");
  const lookUp = ({ execution_id, generation }: Assignment, asked = key) =>
    workers.cacheLookup(worker.ref, execution_id, { generation, key: asked });
  expect(await lookUp(other)).toEqual({ text: null });
  const { execution_id, generation } = assigned;
  const entry = { generation, key, text: "null", ttl_ms: 5_000 };
  await workers.cacheKeep(worker.ref, execution_id, entry);
  expect(await lookUp(other)).toEqual({ text: "null" });
  expect(await lookUp(other, { ...key, version: "2" })).toEqual({ text: null });
  await t.time.advance(4_999);
  expect(await lookUp(other)).toEqual({ text: "null" });
  await t.time.advance(1);
  expect(await lookUp(other)).toEqual({ text: null });
});

test("EXE-49a the cache of another namespace is out of reach", async () => {
  await using t = await TestEngine.start();
  const { worker, assigned } = await owned(t);
  const { execution_id, generation } = assigned;
  await t.store.cache.keep({ ...key, namespace: "shop" }, "1", Number.MAX_SAFE_INTEGER);
  // What is over the key's own fields is not looked at.
  const foreign = { ...key, namespace: "shop" };
  const asked = { generation, key: foreign };
  const answer = await t.engine.workers.cacheLookup(worker.ref, execution_id, asked);
  expect(answer).toEqual({ text: null });
});
