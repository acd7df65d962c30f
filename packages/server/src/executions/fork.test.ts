import { expect, test } from "vitest";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import { rowAsCreated } from "./row-after.ts";

/** COMPLETED, with a task, a pause that was answered, and a second task. */
async function finished(t: TestEngine, worker: ScriptedWorker): Promise<string> {
  const { execution_id } = await t.run("first");
  const assigned = await worker.next("assign");
  await worker.checkpoint(assigned, 2, "PAUSED", [
    worker.begin(assigned),
    worker.callEvent("TASK_STARTED", "charge~1"),
    worker.callEvent("TASK_COMPLETED", "charge~1", "receipt"),
    worker.pauseEvent("TASK_STARTED", { name: "answer" }),
    worker.pauseEvent("TASK_PAUSED", { name: "answer" }),
    worker.event(assigned, "WORKFLOW_PAUSED", { name: "answer" }),
  ]);
  await t.engine.executions.resume({ execution_id, input: "yes", by: null });
  const again = await worker.next("assign");
  await worker.checkpoint(again, again.head, "COMPLETED", [
    worker.begin(again),
    worker.callEvent("TASK_STARTED", "ship~1"),
    worker.callEvent("TASK_COMPLETED", "ship~1", "parcel"),
    worker.event(again, "WORKFLOW_COMPLETED", "done"),
  ]);
  return execution_id;
}

const forkOf = (t: TestEngine, execution_id: string, rest: object = {}) =>
  t.engine.executions.fork({ execution_id, by: null, ...rest });

test("EXE-87 a fork goes on from the event it was cut at, and its source stays as it was", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  const before = await t.store.log.read(source);
  const changed = await forkOf(t, source, { from_seq: 5, label: "again" });
  const { execution_id } = changed.row;
  expect(rowAsCreated(changed)).toMatchObject({
    state: "RESUMING",
    name: "again",
    version: 1,
    input: "first",
    forked_from: { execution_id: source, seq: 5 },
  });
  const assigned = await worker.next("assign");
  expect(assigned).toMatchObject({ execution_id, reason: "resume", generation: 1 });
  expect(assigned.history.events.map(({ type, source_id }) => [type, source_id])).toEqual([
    ["WORKFLOW_CREATED", execution_id],
    ["WORKFLOW_CLAIMED", execution_id],
    ["WORKFLOW_STARTED", execution_id],
    ["TASK_STARTED", "charge~1"],
    ["TASK_COMPLETED", "charge~1"],
    ["WORKFLOW_RESUMING", execution_id],
    ["WORKFLOW_CLAIMED", execution_id],
  ]);
  expect(assigned.seed).toBe((await t.row(source)).seed);
  expect(await worker.completed(assigned, "other")).toMatchObject({ state: "COMPLETED" });
  expect(await t.store.log.read(source)).toEqual(before);
  expect(await t.row(source)).toMatchObject({ state: "COMPLETED", output: "done" });
});

test("EXE-87 a fork before a call repeats that call and nothing before it", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  await forkOf(t, source, { from_call: "ship~1" });
  const { history } = await worker.next("assign");
  const types = history.events.map(({ type }) => type);
  expect(types.slice(-4)).toEqual([
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
  ]);
  expect(history.events.some(({ source_id }) => source_id === "ship~1")).toBe(false);
});

test("EXE-87 a fork works at every event, and never copies the end", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  const { head } = await t.row(source);
  for (let from_seq = 1; from_seq <= head; from_seq++) {
    const { row } = await forkOf(t, source, { from_seq });
    expect(["RESUMING", "CREATED", "CLAIMED"]).toContain(row.state);
    const assigned = await worker.next("assign");
    expect(assigned.execution_id).toBe(row.execution_id);
    expect(assigned.history.events.map(({ type }) => type)).not.toContain("WORKFLOW_COMPLETED");
    expect(await worker.completed(assigned, from_seq)).toMatchObject({ state: "COMPLETED" });
  }
});

test("EXE-87 a pause that is open at the cut can be answered anew", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  const { row } = await forkOf(t, source, { from_seq: 7 });
  const { execution_id } = row;
  const assigned = await worker.next("assign");
  await worker.checkpoint(assigned, assigned.head, "PAUSED", [
    worker.begin(assigned),
    worker.event(assigned, "WORKFLOW_PAUSED", { name: "answer" }),
  ]);
  expect(await t.row(execution_id)).toMatchObject({ waits: [{ name: "answer" }] });
  await t.engine.executions.resume({ execution_id, input: "no", by: null });
  expect((await worker.next("assign")).history.events.at(-3)).toMatchObject({ value: "no" });
});

test("EXE-87 without a cut it starts anew with the same input, or another one", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  const same = await forkOf(t, source);
  expect(rowAsCreated(same)).toMatchObject({
    state: "CREATED",
    input: "first",
    forked_from: { execution_id: source },
  });
  const assigned = await worker.next("assign");
  expect(assigned).toMatchObject({ reason: "start", head: 2 });
  expect(assigned.seed).not.toBe((await t.row(source)).seed);
  expect((await forkOf(t, source, { input: "second" })).row).toMatchObject({ input: "second" });
});

test("EXE-87 a fork may go on under another version", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  const changed = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello", timeout: "1m" }, async (input) => [input]);
`;
  await t.engine.catalog.register({ source: changed }, { by: null });
  expect((await forkOf(t, source, { from_seq: 5 })).row).toMatchObject({ version: 1 });
  const { row } = await forkOf(t, source, { from_seq: 5, version: 2 });
  expect(row).toMatchObject({ version: 2, timeout_ms: 60_000 });
  await expect(forkOf(t, source, { version: 9 })).rejects.toMatchObject({
    code: "not_found",
    details: { resource: "version" },
  });
});

test("EXE-87 children that are open at the cut are created anew, finished ones are not repeated", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id: source } = await t.run();
  const call = { workflow: "default/hello", input: "c", wait: true, detach: false };
  const first = await worker.next("assign");
  await worker.parked(first, [worker.callEvent("TASK_STARTED", "call~1", call)]);
  await worker.completed(await worker.next("assign"), "one");
  const again = await worker.next("assign");
  await worker.parked(again, [worker.callEvent("TASK_STARTED", "call~2", call)]);
  const open = await worker.next("assign");

  const { row, others } = await forkOf(t, source, { from_seq: (await t.row(source)).head });
  expect(others.map((other) => other.row)).toMatchObject([
    { parent_id: row.execution_id, parent_call_id: "call~2", input: "c" },
  ]);
  const [fork, child] = [await worker.next("assign"), await worker.next("assign")];
  expect([fork.execution_id, child.parent_id]).toEqual([row.execution_id, row.execution_id]);
  expect(child.execution_id).not.toBe(open.execution_id);
  await worker.completed(child, "two");
  expect(await worker.next("events")).toMatchObject({
    execution_id: row.execution_id,
    events: [{ type: "TASK_COMPLETED", source_id: "call~2", value: "two" }],
  });
  // The source's own child still belongs to the source.
  await worker.completed(open, "three");
  expect((await t.store.log.read(source)).map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: "TASK_COMPLETED", source_id: "call~2", value: "three" }),
  );
});

test("EXE-51 EXE-87 a pause that waited for an end that has come is over in the fork at once", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  await t.run();
  const other = await worker.next("assign");
  const { execution_id: source } = await t.run();
  const assigned = await worker.next("assign");
  const value = { name: "answer", on_complete: other.execution_id };
  await worker.started(assigned, [
    worker.pauseEvent("TASK_STARTED", value),
    worker.pauseEvent("TASK_PAUSED", value),
  ]);
  await worker.completed(other, null);
  await forkOf(t, source, { from_seq: 5 });
  const { history } = await worker.next("assign");
  expect(history.events.slice(-4).map(({ type }) => type)).toEqual([
    "WORKFLOW_RESUMING",
    "TASK_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_CLAIMED",
  ]);
});

test("EXE-53 EXE-87 a fork has the signals that nobody had consumed at the cut", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const { execution_id } = await t.run();
  await worker.next("assign");
  for (const payload of [1, 2]) {
    await t.engine.executions.signal({ execution_id, name: "paid", payload, by: null });
  }
  const { row } = await forkOf(t, execution_id, { from_seq: 3 });
  expect(row.signals).toEqual({ count: 1, bytes: 1, names: [{ name: "paid", count: 1 }] });
});

test("EXE-87 a cut that the log does not have, or with an input, is refused", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker();
  const source = await finished(t, worker);
  const refusal = (path: string) => ({ code: "invalid_input", details: { issues: [{ path }] } });
  await expect(forkOf(t, source, { from_seq: 99 })).rejects.toMatchObject(refusal("body.from_seq"));
  await expect(forkOf(t, source, { from_call: "nobody~1" })).rejects.toMatchObject(
    refusal("body.from_call"),
  );
  await expect(forkOf(t, source, { from_seq: 3, from_call: "ship~1" })).rejects.toMatchObject(
    refusal("body.from_call"),
  );
  await expect(forkOf(t, source, { from_seq: 3, input: 1 })).rejects.toMatchObject(
    refusal("body.input"),
  );
  await expect(forkOf(t, "nobody")).rejects.toMatchObject({ code: "not_found" });
});

test("EXE-15 a local run is not forked by a server", async () => {
  await using t = await TestEngine.start();
  const execution_id = "01900000-0000-7000-8000-00000000000a";
  const { namespace, workflow } = hello();
  await t.store.executions.create({
    execution_id,
    namespace,
    workflow,
    version: null,
    module_hash: null,
    input: null,
    trigger: { kind: "local" },
    by: null,
    seed: "seed",
    now: t.time.now,
  });
  await expect(forkOf(t, execution_id)).rejects.toMatchObject({ code: "local_execution" });
});
