import {
  type Metadata,
  type NewExecution,
  withGrants,
  withMetadata,
  withoutGrant,
} from "@engine/contract";
import { expect, test } from "vitest";
import { DoubtfulStore } from "../testing/doubtful-store.ts";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

const OTHER_PROCESS = "01900000-0000-7000-8000-000000000002";

function put(t: TestEngine, metadata: Metadata, name = "w") {
  return t.engine.attributes.change(name, withMetadata({ metadata, replace: false }));
}

/** What a worker heard of its services, in order: its welcomes and all that came after. */
function toldServices({ frames }: ScriptedWorker): (readonly string[])[] {
  return frames.flatMap((frame) => {
    if (frame.event === "welcome") return [frame.data.services];
    return frame.event === "services" ? [frame.data.granted] : [];
  });
}

/** An execution that only a worker of this metadata may have, which nobody has told the engine of. */
async function created(t: TestEngine, tier: string): Promise<string> {
  const { row } = await t.engine.executions.start({
    namespace: "default",
    workflow: "hello",
    input: null,
    trigger: { kind: "api" },
    by: null,
  });
  const fresh: NewExecution = {
    execution_id: row.execution_id.replace(/.{4}$/, "0000"),
    namespace: row.namespace,
    workflow: row.workflow,
    version: row.version,
    module_hash: row.module_hash,
    input: null,
    trigger: { kind: "api" },
    by: null,
    seed: "seed",
    now: t.time.now,
    requirements: { affinity: [{ of: "meta", key: "tier", op: "eq", value: tier }] },
  };
  await t.store.executions.create(fresh);
  return fresh.execution_id;
}

test("WMD-3 a worker learns from its welcome what it was granted of what it offers, and of each change", async () => {
  await using t = await TestEngine.start();
  const worker = t.strangeWorker();
  await worker.register({ services: ["inference", "cache"] });
  await t.engine.attributes.change("w", withGrants(["inference", "search"]));
  expect(await worker.connect()).toMatchObject({ services: ["inference"] });
  await put(t, { tier: "gold" });
  await t.engine.attributes.change("w", withGrants(["cache"]));
  await t.engine.attributes.change("w", withGrants(["cache"]));
  await t.engine.attributes.change("w", withoutGrant("inference"));
  await t.engine.attributes.change("w", withoutGrant("search"));
  expect(toldServices(worker)).toEqual([["inference"], ["inference", "cache"], ["cache"]]);
  await worker.connect();
  expect(toldServices(worker).at(-1)).toEqual(["cache"]);
});

test("WMD-3 a worker that polls hears of a grant from the poll that waits, or from the next one", async () => {
  await using t = await TestEngine.start();
  const worker = t.strangeWorker();
  await worker.register({ services: ["inference", "cache"] });
  expect(await worker.poll([], { wait_seconds: 0 })).toMatchObject([{ event: "welcome" }]);
  const waiting = worker.poll();
  await settled();
  await t.engine.attributes.change("w", withGrants(["inference"]));
  expect(await waiting).toEqual([{ event: "services", data: { granted: ["inference"] } }]);
  await t.engine.attributes.change("w", withGrants(["cache"]));
  expect(await worker.poll()).toEqual([
    { event: "services", data: { granted: ["inference", "cache"] } },
  ]);
  const quiet = worker.poll([], { wait_seconds: 1 });
  await t.time.advance(1_000);
  expect(await quiet).toEqual([]);
});

test("WMD-3 a poll whose answer nobody hears says it again with the next one", async () => {
  await using t = await TestEngine.start();
  const worker = t.strangeWorker();
  await worker.register({ services: ["inference"] });
  await worker.poll([], { wait_seconds: 0 });
  const gone = new AbortController();
  const poll = {
    status: "active",
    healthy: true,
    running: [],
    slots_free: 1,
    metrics: {},
  } as const;
  const rest = { resources: null, stuck_threads: 0, clock_offset_ms: null, wait_seconds: 30 };
  const asked = { ...poll, ...rest, running: [] };
  const lost = t.engine.workers.poll(worker.ref, asked, { signal: gone.signal });
  await settled();
  gone.abort();
  await t.engine.attributes.change("w", withGrants(["inference"]));
  await lost;
  expect(await worker.poll()).toEqual([{ event: "services", data: { granted: ["inference"] } }]);
});

test("WMD-1 WMD-7 metadata and grants outlive sessions and a restart of the server, and go with the name", async () => {
  await using t = await TestEngine.start();
  const worker = t.strangeWorker();
  const offer = { services: ["inference"], labels: { zone: "eu" } };
  await worker.register(offer);
  await worker.connect();
  await put(t, { tier: "gold", n: 1.5 });
  await t.engine.attributes.change("w", withGrants(["inference", "search"]));
  const shown = {
    labels: { zone: "eu", "engine.service.inference": "true" },
    metadata: { n: 1.5, tier: "gold" },
    services: { offered: ["inference"], granted: ["inference", "search"] },
  };
  expect(await t.engine.fleet.show("w")).toMatchObject(shown);
  const next = t.strangeWorker();
  await next.register({ ...offer, instance_id: OTHER_PROCESS });
  expect(await next.connect()).toMatchObject({ services: ["inference"] });
  expect(await t.engine.fleet.show("w")).toMatchObject(shown);
  await t.restart();
  expect(await t.engine.fleet.show("w")).toMatchObject(shown);
  const { items } = await t.engine.fleet.list({ limit: 9, offset: 0 });
  expect(items).toMatchObject([shown]);
  const found = async (labels: Record<string, string>) =>
    (await t.engine.fleet.list({ limit: 9, offset: 0, labels })).total;
  expect(await found({ "engine.service.inference": "true", zone: "eu" })).toBe(1);
  expect(await found({ "engine.service.search": "true" })).toBe(0);
  // What it says of itself counts no more once it is gone, what operators said does.
  await t.store.sessions.end((await t.store.workers.find("w"))?.session?.session_id ?? "", "lost");
  await t.engine.fleet.delete("w");
  const anew = t.strangeWorker();
  await anew.register({ ...offer, instance_id: OTHER_PROCESS });
  expect(await anew.connect()).toMatchObject({ services: [] });
  expect(await t.engine.fleet.show("w")).toMatchObject({ metadata: {}, labels: { zone: "eu" } });
});

test("WMD-6 names that are gone for long are forgotten, those of which something was said are not", async () => {
  await using t = await TestEngine.start({
    ...{ workers: { offline_retention: 60 }, retention: { sweep_interval: 60 } },
  });
  for (const name of ["described", "granted", "nothing"]) {
    const worker = await t.worker(name);
    await t.engine.workers.disconnect(worker.ref);
  }
  await put(t, { tier: "gold" }, "described");
  await t.engine.attributes.change("granted", withGrants(["inference"]));
  await t.time.advance(180_000);
  const { items } = await t.engine.fleet.list({ limit: 9, offset: 0 });
  expect(items.map(({ name }) => name)).toEqual(["described", "granted"]);
});

test("WMD-2 DSP-5 a write of metadata starts what waited for it at once", async () => {
  await using t = await TestEngine.start();
  const execution_id = await created(t, "gold");
  const worker = await t.worker();
  await worker.next("assign");
  await t.time.advance(15_000);
  await put(t, { tier: "silver" });
  await settled();
  expect((await t.row(execution_id)).state).toBe("CREATED");
  await put(t, { tier: "gold" });
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("WMD-2 what is known of a session is the latest that was read, in whatever order answers come", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = t.strangeWorker();
  await worker.register({ services: ["inference"] });
  await worker.connect();
  await t.engine.attributes.change("w", withGrants(["inference"]));
  const answer = doubtful.holdAnswers("workers.list");
  const refreshed = t.engine.workers.refresh();
  await settled();
  await t.engine.attributes.change("w", withoutGrant("inference"));
  answer();
  await refreshed;
  expect(toldServices(worker)).toEqual([[], ["inference"], []]);
});

test("WMD-2 what was read of a name before it was forgotten says nothing of who has it then", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const worker = t.strangeWorker();
  await worker.register({ services: ["inference"] });
  await worker.connect();
  await t.engine.attributes.change("w", withGrants(["inference"]));
  const answer = doubtful.holdAnswers("workers.list");
  const refreshed = t.engine.workers.refresh();
  await settled();
  await t.engine.workers.disconnect(worker.ref);
  await t.engine.fleet.delete("w");
  const next = t.strangeWorker();
  await next.register({ services: ["inference"], instance_id: OTHER_PROCESS });
  await next.connect();
  answer();
  await refreshed;
  expect(toldServices(next)).toEqual([[]]);
  await t.engine.attributes.change("w", withGrants(["inference"]));
  expect(toldServices(next)).toEqual([[], ["inference"]]);
});

test("WMD-2 what is written at one server reaches the worker that hangs on the other", async () => {
  await using t = await TwoServers.start();
  const worker = t.b.strangeWorker();
  await worker.register({ services: ["inference"] });
  await worker.connect();
  await t.a.engine.attributes.change("w", withGrants(["inference"]));
  await settled();
  expect(toldServices(worker)).toEqual([[], ["inference"]]);
  const shown = await t.a.engine.fleet.show("w");
  expect(shown.labels).toEqual({ "engine.service.inference": "true" });
  expect(await t.b.engine.fleet.show("w")).toEqual(shown);
});

test("WMD-2 where the news of a write is lost the safety tick reads it", async () => {
  await using t = await TwoServers.start();
  const execution_id = await created(t.a, "gold");
  const worker = t.b.strangeWorker();
  await worker.register({ services: ["inference"] });
  await worker.connect();
  await t.time.advance(20);
  await worker.next("assign");
  t.hears = false;
  await t.a.engine.attributes.change("w", withGrants(["inference"]));
  await put(t.a, { tier: "gold" });
  await t.time.advance(20);
  expect(toldServices(worker)).toEqual([[]]);
  await t.time.advance(30_000);
  expect(toldServices(worker)).toEqual([[], ["inference"]]);
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("WMD-2 a worker that connects is read anew, whatever was missed of it", async () => {
  await using t = await TwoServers.start();
  const worker = t.b.strangeWorker();
  await worker.register({ services: ["inference"] });
  await worker.connect();
  t.hears = false;
  await t.a.engine.attributes.change("w", withGrants(["inference"]));
  expect(await worker.connect()).toMatchObject({ services: ["inference"] });
});

test("WMD-2 of a worker that nobody registered nothing is written", async () => {
  await using t = await TestEngine.start();
  await expect(put(t, { tier: "gold" }, "nobody")).rejects.toMatchObject({ code: "not_found" });
  await expect(t.engine.attributes.show("nobody")).rejects.toMatchObject({ code: "not_found" });
});
