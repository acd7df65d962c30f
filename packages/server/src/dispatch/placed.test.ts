/** Executions that need something of their worker, on a whole server. */
import { type Metadata, withGrants, withMetadata, withoutGrant } from "@engine/contract";
import { expect, test } from "vitest";
import type { StartRequest } from "../executions/requests.ts";
import { settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
import { meta, prefer, require, score, service, sticky } from "@engine/sdk/routing";
export const tiered = workflow({ name: "tiered", affinity: require(meta("tier").eq(2)) }, async () => 1);
export const served = workflow({ name: "served", affinity: require(service("gpu")) }, async () => 1);
export const ranked = workflow(
  { name: "ranked", routing: score(prefer(meta("hot").eq("yes"), { weight: 3 }), sticky()) },
  async () => 1,
);
`;

async function routed(t: TestEngine): Promise<void> {
  await t.engine.catalog.register({ source: SOURCE }, { by: null });
}

function start(t: TestEngine, workflow: string, changes: Partial<StartRequest> = {}) {
  return t.engine.executions.start({ ...hello(), workflow, ...changes });
}

function describe(t: TestEngine, name: string, metadata: Metadata) {
  return t.engine.attributes.change(name, withMetadata({ metadata, replace: true }));
}

async function claims(t: TestEngine, execution_id: string): Promise<unknown[]> {
  const logged = await t.store.log.read(execution_id);
  return logged
    .filter(({ event }) => event.type === "WORKFLOW_CLAIMED")
    .map(({ event }) => event.value);
}

test("DSP-5 WMD-2 a write of metadata, or a grant, starts what waited for it", async () => {
  await using t = await TestEngine.start();
  await routed(t);
  const worker = t.strangeWorker("w");
  await worker.register({ services: ["gpu"] });
  await worker.connect();
  const tiered = (await start(t, "tiered")).row;
  const served = (await start(t, "served")).row;
  expect([tiered.state, served.state]).toEqual(["CREATED", "CREATED"]);
  await describe(t, "w", { tier: 2 });
  expect(await worker.next("assign")).toMatchObject({ execution_id: tiered.execution_id });
  await t.engine.attributes.change("w", withGrants(["gpu"]));
  expect(await worker.next("assign")).toMatchObject({ execution_id: served.execution_id });
  await t.engine.attributes.change("w", withoutGrant("gpu"));
  expect((await start(t, "served")).row).toMatchObject({ state: "CREATED", worker: null });
  // What runs goes on.
  expect(await t.row(served.execution_id)).toMatchObject({ worker: "w" });
});

test("DSP-3 WMD-2 a fresh execution is not claimed by metadata that is otherwise by now, though nobody has heard", async () => {
  await using t = await TestEngine.start();
  await routed(t);
  const worker = await t.worker("w");
  await describe(t, "w", { tier: 2 });
  await t.store.workers.changeAttributes("w", withMetadata({ metadata: {}, replace: true }));
  const { execution_id } = (await start(t, "tiered")).row;
  await settled();
  expect(await t.row(execution_id)).toMatchObject({ state: "CREATED", generation: 0 });
  expect(worker.heard).not.toContain("assign");
  await describe(t, "w", { tier: 2 });
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 1 });
});

test("DSP-3 WMD-2 a waiting execution is not claimed by such metadata either, which is read anew", async () => {
  await using t = await TestEngine.start();
  await routed(t);
  const worker = await t.worker("w", { slots: 1 });
  await describe(t, "w", { tier: 2 });
  const running = (await start(t, "tiered")).row;
  const waiting = (await start(t, "tiered")).row;
  await t.store.workers.changeAttributes("w", withMetadata({ metadata: {}, replace: true }));
  await worker.completed(await worker.next("assign"), null);
  await settled();
  expect(await t.row(running.execution_id)).toMatchObject({ state: "COMPLETED" });
  expect(await t.row(waiting.execution_id)).toMatchObject({ state: "CREATED", generation: 0 });
  await describe(t, "w", { tier: 2 });
  expect(await worker.next("assign")).toMatchObject({ execution_id: waiting.execution_id });
});

test("RTE-4 RTE-5 the worker with the highest score gets it, and the claim says what that was", async () => {
  await using t = await TestEngine.start();
  await routed(t);
  for (const name of ["a", "b", "c"]) await t.worker(name);
  await describe(t, "b", { hot: "yes" });
  const first = (await start(t, "ranked")).row;
  expect(first.worker).toBe("b");
  expect(await claims(t, first.execution_id)).toMatchObject([{ worker: "b", score: 3 }]);
  const sticky = (await start(t, "ranked", { preferred_worker: "c" })).row;
  expect(await claims(t, sticky.execution_id)).toMatchObject([{ worker: "b", score: 3 }]);
  await describe(t, "b", {});
  const preferred = (await start(t, "ranked", { preferred_worker: "c" })).row;
  expect(await claims(t, preferred.execution_id)).toMatchObject([{ worker: "c", score: 1 }]);
  const plain = await t.run();
  expect(await claims(t, plain.execution_id)).toMatchObject([{ worker: "a", score: null }]);
});

test("RTE-4 one that waited is ranked, too, and a resume goes back to its original worker", async () => {
  await using t = await TestEngine.start();
  await routed(t);
  const { execution_id } = (await start(t, "ranked")).row;
  const cold = await t.worker("cold");
  const assigned = await cold.next("assign");
  expect(await claims(t, execution_id)).toMatchObject([{ worker: "cold", score: 0 }]);
  await cold.paused(assigned);
  await t.worker("hot");
  await describe(t, "hot", { hot: "yes" });
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  await settled();
  expect(await claims(t, execution_id)).toMatchObject([
    { worker: "cold", score: 0 },
    { worker: "cold", score: null, reason: "resume" },
  ]);
});

test("DSP-6 a policy looks at the workers of every server, and takes the best one here after 200 ms", async () => {
  await using t = await TwoServers.start();
  await routed(t.a);
  const hot = await t.b.worker("hot", { slots: 1 });
  const cold = await t.a.worker("cold");
  await describe(t.b, "hot", { hot: "yes" });
  await t.time.advance(20);
  const first = (await start(t.a, "ranked")).row;
  await t.time.advance(20);
  expect(await hot.next("assign")).toMatchObject({ execution_id: first.execution_id });
  expect(cold.heard).not.toContain("assign");
  // This server does not know that it is full by now.
  const second = (await start(t.a, "ranked")).row;
  await t.time.advance(199);
  expect(cold.heard).not.toContain("assign");
  await t.time.advance(1);
  expect(await cold.next("assign")).toMatchObject({ execution_id: second.execution_id });
});

test("LIV-5 DSP-6 what the preferred worker lost is not left to it: a worker of another server has it at once", async () => {
  await using t = await TwoServers.start();
  await t.a.worker("heir");
  const deaf = await t.b.worker("deaf", { slots: 1 });
  await t.time.advance(20);
  const { row } = await start(t.b, "hello", { preferred_worker: "deaf" });
  const lost = await deaf.next("assign");
  await deaf.started(lost);
  await start(t.b, "hello", { required_worker: "deaf", priority: 5 });
  const items = [{ execution_id: row.execution_id, generation: 1, reason: "runner_lost" as const }];
  await t.b.engine.workers.release(deaf.ref, items);
  await t.time.advance(100);
  expect(await claims(t.a, row.execution_id)).toMatchObject([
    { worker: "deaf", generation: 1 },
    { worker: "heir", generation: 2 },
  ]);
});

test("DSP-8 what nobody matches is told with its terms", async () => {
  await using t = await TestEngine.start();
  await routed(t);
  await t.worker("w");
  const { row } = await start(t, "tiered", { park_ttl: 5 });
  await t.time.advance(7_000);
  const ended = await t.row(row.execution_id);
  expect(ended).toMatchObject({ state: "FAILED", failure: { type: "ParkTimeoutError" } });
  expect(ended.failure?.message).toContain('meta("tier").eq(2)');
});
