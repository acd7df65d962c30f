import type { Json } from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";

const PLACED = `import { call, workflow } from "@engine/sdk";
import { input, label, labelFor, optional, require, routingInput } from "@engine/sdk/routing";

export const placed = workflow(
  { name: "placed", affinity: require(label("region").eq(input("order.region"))) },
  async (input) => input,
);
export const hidden = workflow(
  { name: "hidden", affinity: require(label("region").eq(routingInput("region"))) },
  async (input) => input,
);
export const parent = workflow({ name: "parent" }, async () => call("default/placed", {}));
`;

async function engine(): Promise<TestEngine> {
  const t = await TestEngine.start();
  await t.engine.catalog.register({ source: PLACED }, { by: null });
  return t;
}

function start(t: TestEngine, input: Json | LargeJson, more: object = {}) {
  const of = { namespace: "default", workflow: "placed" };
  return t.engine.executions.start({ ...of, input, trigger: { kind: "api" }, by: null, ...more });
}

const EU = { order: { region: "eu" } };

test("DSP-2 what terms read of an input is taken at creation and kept as what its worker has to be", async () => {
  await using t = await engine();
  const { row } = await start(t, EU);
  expect(row).toMatchObject({
    state: "CREATED",
    requirements: { affinity: [{ of: "label", key: "region", op: "eq", value: "eu" }] },
  });
  await t.worker("w");
  expect(await t.row(row.execution_id)).toMatchObject({ state: "CREATED", worker: null });
  const eu = t.strangeWorker("eu");
  await eu.register({ labels: { region: "eu", more: "x" } });
  await eu.connect();
  expect(await eu.next("assign")).toMatchObject({ execution_id: row.execution_id, input: EU });
});

test("AFF-5 without an input that a term reads it is created and has failed in one commit, with no worker", async () => {
  await using t = await engine();
  const { row } = await start(t, { order: {} });
  expect(row).toMatchObject({ state: "FAILED", generation: 0, head: 2 });
  expect(await t.types(row.execution_id)).toEqual(["WORKFLOW_CREATED", "WORKFLOW_FAILED"]);
  expect(row.failure).toMatchObject({
    type: "AffinityResolutionError",
    message:
      'affinity term label("region").eq(input("order.region")) needs input "order.region", which this execution does not have',
    details: {
      term: 'label("region").eq(input("order.region"))',
      input: "order.region",
      reason: "absent",
    },
  });
});

test("AFF-5 it fails before its start_at, and beside a worker that is free", async () => {
  await using t = await engine();
  const worker = await t.worker("w");
  const start_at = t.time.clock() + 60_000;
  expect((await start(t, {}, { start_at })).row).toMatchObject({ state: "FAILED", wake_at: null });
  expect((await start(t, {})).row).toMatchObject({ state: "FAILED", worker: null });
  expect(worker.heard).not.toContain("assign");
});

test("AFF-5 a call of what cannot be placed fails in the parent, in the commit that made the child", async () => {
  await using t = await engine();
  const worker = await t.worker("w");
  const parent = (await start(t, null, { workflow: "parent" })).row;
  const called = { workflow: "default/placed", input: {}, wait: true, detach: false };
  await worker.parked(await worker.next("assign"), [
    worker.callEvent("TASK_STARTED", "call~1", called),
  ]);
  expect(await t.types(parent.execution_id)).toContain("TASK_FAILED");
  const filter = { parent_id: parent.execution_id, order: "created_asc", limit: 9, offset: 0 };
  const { items } = await t.engine.executions.list({ ...filter, order: "created_asc" });
  expect(items).toMatchObject([{ state: "FAILED", workflow: "placed" }]);
  expect(await worker.next("assign")).toMatchObject({ execution_id: parent.execution_id });
});

test("AFF-6 what reads routing input says no more than that it is unsatisfied", async () => {
  await using t = await engine();
  const { row } = await start(t, null, { workflow: "hidden" });
  expect(row.failure).toMatchObject({
    type: "AffinityResolutionError",
    message: "routing constraint unsatisfied",
    details: null,
  });
});

test("DSP-2 of a large input only what terms read is looked at", async () => {
  await using t = await engine();
  const filler = "x".repeat(400_000);
  const text = JSON.stringify({ filler, order: { region: "eu", filler } });
  const { row } = await start(t, LargeJson.of(text));
  expect(row.requirements).toMatchObject({ affinity: [{ key: "region", value: "eu" }] });
  const absent = (await start(t, LargeJson.of(JSON.stringify({ filler, order: [filler] })))).row;
  expect(absent).toMatchObject({ state: "FAILED", failure: { type: "AffinityResolutionError" } });
});

test("DSP-2 a restart with another input is placed by that one, one with the same by what was read", async () => {
  await using t = await engine();
  const { execution_id } = (await start(t, EU)).row;
  const fork = async (input?: Json) => {
    const given = input === undefined ? {} : { input };
    return (await t.engine.executions.fork({ execution_id, by: null, ...given })).row;
  };
  const affinity = (value: string) => ({ requirements: { affinity: [{ value }] } });
  expect(await fork()).toMatchObject(affinity("eu"));
  expect(await fork({ order: { region: "us" } })).toMatchObject(affinity("us"));
  expect(await fork({})).toMatchObject({ state: "FAILED" });
});

test("AFF-5 RIN-3 a fork of what could not be placed cannot be either, unless it is given what was missing", async () => {
  await using t = await engine();
  await t.worker("w");
  const fork = async (execution_id: string, given: object = {}) =>
    (await t.engine.executions.fork({ execution_id, by: null, ...given })).row;
  for (const [workflow, message] of [
    ["hidden", "routing constraint unsatisfied"],
    ["placed", expect.stringContaining('needs input "order.region"')],
  ]) {
    const source = (await start(t, {}, { workflow })).row;
    const forked = await fork(source.execution_id);
    expect(forked).toMatchObject({ state: "FAILED", generation: 0, failure: { message } });
    expect(await fork(forked.execution_id)).toMatchObject({
      state: "FAILED",
      failure: { message },
    });
  }
  const { execution_id } = (await start(t, {}, { workflow: "hidden" })).row;
  const placed = await fork(execution_id, { routing_input: { region: "eu" } });
  expect(placed).toMatchObject({ state: "CREATED", worker: null });
  const eu = t.strangeWorker("eu");
  await eu.register({ labels: { region: "eu" } });
  await eu.connect();
  expect(await eu.next("assign")).toMatchObject({ execution_id: placed.execution_id });
});

test("RIN-1 a fork that is given routing input is placed by that one", async () => {
  await using t = await engine();
  const given = { workflow: "hidden", routing_input: { region: "eu" } };
  const { execution_id } = (await start(t, {}, given)).row;
  const routing_input = { region: "us" };
  const { row } = await t.engine.executions.fork({ execution_id, by: null, routing_input });
  const us = t.strangeWorker("us");
  await us.register({ labels: { region: "us" } });
  await us.connect();
  expect(await us.next("assign")).toMatchObject({ execution_id: row.execution_id });
});

test("DSP-10 a child is placed by its own input, and the parent's worker is only preferred", async () => {
  await using t = await engine();
  const worker = await t.worker("w");
  const parent = (await start(t, null, { workflow: "parent" })).row;
  const called = { workflow: "default/placed", input: EU, wait: true, detach: false };
  await worker.parked(await worker.next("assign"), [
    worker.callEvent("TASK_STARTED", "call~1", called),
  ]);
  const { items } = await t.engine.executions.list({
    ...{ parent_id: parent.execution_id, order: "created_asc", limit: 9, offset: 0 },
  });
  expect(items).toMatchObject([
    { state: "CREATED", worker: null, requirements: { affinity: [{ value: "eu" }] } },
  ]);
});
