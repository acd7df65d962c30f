import { type HookEnvelope, type HookUpdate, hookExecutionId, type Json } from "@engine/contract";
import type { DeliveryRow } from "@engine/store";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { ALLOWED } from "../testing/nobody.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { sha256 } from "./sha256.ts";

const SOURCE = `import { workflow } from "@engine/sdk";
import { z } from "zod";
export const page = workflow({ name: "page" }, async (input) => input);
const input = z.object({ never: z.literal(true) });
export const picky = workflow({ name: "picky", input }, async (input) => input);
`;

async function started(config: object = {}): Promise<TestEngine> {
  const t = await TestEngine.start(config);
  await t.engine.catalog.register({ source: SOURCE }, { by: null });
  return t;
}

async function hook(t: TestEngine, changes: object = {}): Promise<void> {
  const of = {
    name: "h",
    selectors: ["execution:default:hello:created"],
    workflow: "default/page",
  };
  const all = { ...of, principal: "bot", max_attempts: 5, enabled: true, ...changes };
  await t.engine.hooks.create(all, ALLOWED);
}

const update = (t: TestEngine, change: HookUpdate) => t.engine.hooks.update("h", change, ALLOWED);

async function deliveries(t: TestEngine, name = "h"): Promise<readonly DeliveryRow[]> {
  await settled();
  return (await t.engine.hooks.deliveries(name, { limit: 200, offset: 0 })).items;
}

async function only(t: TestEngine): Promise<DeliveryRow> {
  const [one, ...others] = await deliveries(t);
  expect(others).toEqual([]);
  if (!one) throw new Error("there is no delivery");
  return one;
}

test("HOOK-30 an event starts the target at once, in one execution whose id follows from the delivery, with the envelope as its input", async () => {
  await using t = await started();
  await hook(t);
  const { execution_id } = await t.run({ card: 1 });
  const delivery = await only(t);
  expect(delivery).toMatchObject({
    status: "delivered",
    attempts: 1,
    event_key: `${execution_id}:1`,
    execution_id: hookExecutionId(delivery.id, sha256),
  });
  const row = await t.row(delivery.execution_id as string);
  const envelope = row.input as unknown as HookEnvelope;
  expect(envelope).toMatchObject({
    ...{ hook: "h", delivery_id: delivery.id, attempt: 1, hop: 0 },
    event: { domain: "execution", type: "created", execution_id, workflow_name: "hello" },
  });
  expect(row).toMatchObject({
    workflow: "page",
    hook: { name: "h", delivery_id: delivery.id, hop: 0 },
  });
});

test("HOOK-27 what a hook starts is given to a free worker at once, without any time passing", async () => {
  await using t = await started();
  await hook(t);
  const worker = await t.worker();
  const { execution_id } = await t.run({ card: 1 });
  const given = [await worker.next("assign"), await worker.next("assign")];
  const { execution_id: target } = await only(t);
  expect(given).toMatchObject([{ execution_id }, { execution_id: target }]);
});

test("HOOK-33 a hook that is fired by its own target fires at hops 0, 1 and 2 and is dead at 3", async () => {
  await using t = await started();
  await hook(t, { selectors: ["execution:default:*:created"] });
  await t.run();
  // Their instants are the same here.
  const all = (await deliveries(t)).toSorted((a, b) => b.hop - a.hop);
  expect(
    all.map(({ hop, status, dead_reason }) => [hop, status, dead_reason]).toReversed(),
  ).toEqual([
    [0, "delivered", null],
    [1, "delivered", null],
    [2, "delivered", null],
    [3, "dead", "hop_limit"],
  ]);
  expect(all[0]).toMatchObject({ attempts: 0, error: expect.stringContaining("hop_limit 3") });
});

test("HOOK-33 HOOK-58 a target that calls what fired it, with fresh input, is dead at hop 3 as well", async () => {
  await using t = await started();
  await hook(t);
  const worker = await t.worker("w", { slots: 10 });
  await t.run();
  const call = { workflow: "default/hello", input: "fresh", wait: true, detach: false };
  // Those of hello and of page, by turns.
  for (let n = 0; n < 7; n++) {
    const given = await worker.next("assign");
    if (given.workflow !== "page") continue;
    await worker.parked(given, [worker.callEvent("TASK_STARTED", "call~1", call)]);
  }
  const all = (await deliveries(t)).toSorted((a, b) => a.hop - b.hop);
  expect(all.map(({ hop, dead_reason }) => [hop, dead_reason])).toEqual([
    [0, null],
    [1, null],
    [2, null],
    [3, "hop_limit"],
  ]);
  await t.time.advance(120_000);
  expect(await deliveries(t)).toHaveLength(4);
});

test("HOOK-29 a delivery is dead, and says why, where its hook is disabled, its target gone or its input refused", async () => {
  await using t = await started({ hooks: { event_drain: false } });
  await hook(t);
  await t.run();
  await update(t, { enabled: false });
  await t.time.advance(31_000);
  expect(await only(t)).toMatchObject({
    status: "dead",
    dead_reason: "hook_disabled",
    attempts: 0,
  });

  await hook(t, { name: "picky", workflow: "default/picky" });
  await t.run();
  await t.time.advance(31_000);
  expect((await deliveries(t, "picky"))[0]).toMatchObject({
    ...{ status: "dead", dead_reason: "input_rejected", attempts: 1 },
  });

  await hook(t, { name: "gone", workflow: "default/picky" });
  await t.run();
  await t.engine.catalog.delete("default", "picky", undefined as never);
  await t.time.advance(31_000);
  expect((await deliveries(t, "gone"))[0]).toMatchObject({ dead_reason: "target_not_found" });
});

test("HOOK-31 a start that fails is tried again after 2, 4 and 8 seconds, and dead after the last try", async () => {
  await using t = await started();
  await hook(t, { max_attempts: 4 });
  t.failing.add("deliveries.dueAmong");
  await t.run();
  t.failing.add("catalog.find");
  t.failing.delete("deliveries.dueAmong");
  await t.time.advance(1_000);
  const tries: [number, string][] = [];
  for (let seconds = 0; seconds <= 20; seconds++) {
    const { attempts, status } = await only(t);
    if (tries.at(-1)?.[0] !== attempts) tries.push([attempts, `${status} at ${seconds}`]);
    await t.time.advance(1_000);
  }
  expect(tries).toEqual([
    [1, "pending at 0"],
    [2, "pending at 2"],
    [3, "pending at 6"],
    [4, "dead at 14"],
  ]);
  const { id, error, dead_reason } = await only(t);
  expect([dead_reason, error]).toEqual([
    "attempts_exhausted",
    "4 of 4 tries failed; the last: unavailable: the database is away",
  ]);
  t.failing.clear();
  await t.engine.hooks.retry("h", id, ALLOWED);
  expect(await only(t)).toMatchObject({ status: "delivered", attempts: 1, error: null });
});

test("HOOK-25 what a server has left, the next one starts as soon as it leads, once", async () => {
  await using t = await started();
  await hook(t);
  t.failing.add("deliveries.dueAmong");
  await t.run();
  expect(await only(t)).toMatchObject({ status: "pending", attempts: 0 });
  t.failing.clear();
  await t.restart();
  expect(await only(t)).toMatchObject({ status: "delivered", attempts: 1 });
});

test("HOOK-24 a pass takes one row of each hook in turn: 17 of the one with 40 and all three of the other", async () => {
  await using t = await started({ hooks: { event_drain: false } });
  await hook(t, { name: "a", selectors: ["execution:default:hello:created"] });
  for (let i = 0; i < 40; i++) await t.run();
  await hook(t, { name: "b", selectors: ["execution:default:hello:created"] });
  await t.engine.hooks.update("a", { enabled: true }, ALLOWED);
  for (let i = 0; i < 3; i++) await t.run();
  await t.time.advance(30_000);
  const delivered = async (name: string) =>
    (await deliveries(t, name)).filter(({ status }) => status === "delivered").length;
  expect([await delivered("a"), await delivered("b")]).toEqual([17, 3]);
});

test("HOOK-28 each delivery settles by itself: a target that cannot be started holds nobody up, and its death is told without the value", async () => {
  const lines: unknown[][] = [];
  const tell = (level: string) => (fields: object, message: string) => {
    lines.push([level, message, fields]);
  };
  const log = {
    debug: tell("debug"),
    info: tell("info"),
    warn: tell("warn"),
    error: tell("error"),
  };
  await using t = await TestEngine.start({}, { ports: { log } });
  await t.engine.catalog.register({ source: SOURCE }, { by: null });
  await hook(t, { name: "a", workflow: "default/picky" });
  await hook(t, { name: "b" });
  await hook(t, { name: "c", workflow: "default/picky" });
  const { execution_id } = await t.run({ card: "4111-1111" });
  const [a] = await deliveries(t, "a");
  const [b] = await deliveries(t, "b");
  expect([a?.status, b?.status]).toEqual(["dead", "delivered"]);
  expect(lines).toContainEqual([
    ...["warn", "a delivery of a hook is dead"],
    { hook: "a", delivery: a?.id, reason: "input_rejected" },
  ]);
  expect(lines).toContainEqual([
    ...["debug", "a hook has started its target"],
    { delivery: b?.id, event: `${execution_id}:1`, execution: b?.execution_id },
  ]);
  const said = lines.filter(([level]) => level !== "error").map(([, , fields]) => fields);
  expect(JSON.stringify(said)).not.toContain("4111-1111");
});

test("HOOK-28 a delivery of which nothing can be written down is tried again by the tick, and holds up no other", async () => {
  await using t = await started();
  await hook(t, { name: "a", workflow: "default/picky" });
  await hook(t, { name: "b" });
  t.failing.add("deliveries.fail");
  await t.run();
  expect((await deliveries(t, "b"))[0]?.status).toBe("delivered");
  expect((await deliveries(t, "a"))[0]).toMatchObject({ status: "pending", attempts: 0 });
  t.failing.clear();
  await t.time.advance(30_000);
  expect((await deliveries(t, "a"))[0]).toMatchObject({ status: "dead", attempts: 1 });
});

test("HOOK-23 HOOK-58 disabling a hook empties its backlog without a start, rows that wait for another try too; one that is handed back after it was enabled is delivered", async () => {
  await using t = await started();
  await hook(t);
  t.failing.add("deliveries.dueAmong");
  await t.run();
  await t.run();
  t.failing.clear();
  t.failing.add("catalog.find");
  await t.time.advance(1_000);
  expect((await deliveries(t)).map(({ status, attempts }) => [status, attempts])).toEqual([
    ["pending", 1],
    ["pending", 1],
  ]);
  t.failing.clear();
  await update(t, { enabled: false });
  const dead = await deliveries(t);
  expect(dead.map(({ dead_reason }) => dead_reason)).toEqual(["hook_disabled", "hook_disabled"]);
  await update(t, { enabled: true });
  await t.engine.hooks.retry("h", dead[0]?.id as string, ALLOWED);
  const after = await deliveries(t);
  expect(after.map(({ status }) => status)).toEqual(["delivered", "dead"]);
  expect(after[0]?.execution_id).toBe(hookExecutionId(dead[0]?.id as string, sha256));
});

test("HOOK-32 HOOK-58 events of two executions that have the same number both start the target, once each", async () => {
  await using t = await started();
  await hook(t);
  const sources = await Promise.all([t.run(), t.run()]);
  const all = await deliveries(t);
  expect(new Set(all.map(({ event_key }) => event_key))).toEqual(
    new Set(sources.map(({ execution_id }) => `${execution_id}:1`)),
  );
  expect(new Set(all.map(({ execution_id }) => execution_id)).size).toBe(2);
});

test("HOOK-25 what a server's own commits wrote is not asked for again by what is due, and a batch is followed by the next", async () => {
  await using t = await started({ hooks: { drain_batch_size: 3 } });
  for (const name of ["a", "b", "c", "d"]) await hook(t, { name });
  t.failing.add("deliveries.due");
  for (let i = 0; i < 5; i++) await t.run();
  for (const name of ["a", "b", "c", "d"]) {
    const all = await deliveries(t, name);
    expect(all.map(({ status }) => status)).toEqual(Array(5).fill("delivered"));
  }
});

test("HOOK-55 what was settled over 30 days ago is removed, what waits never is", async () => {
  await using t = await started({ hooks: { event_drain: false } });
  await hook(t, { name: "late" });
  await hook(t, { name: "settled" });
  await t.run();
  t.failing.add("deliveries.due");
  t.time.now += 40 * 86_400_000;
  await t.time.advance(3_600_000);
  expect((await deliveries(t, "late"))[0]?.status).toBe("pending");
  t.failing.clear();
  await t.time.advance(30_000);
  expect((await deliveries(t, "settled"))[0]?.status).toBe("delivered");
  await hook(t, { name: "waits" });
  await t.run();
  t.failing.add("deliveries.due");
  t.time.now += 29 * 86_400_000;
  await t.time.advance(3_600_000);
  expect(await deliveries(t, "settled")).toHaveLength(2);
  t.time.now += 2 * 86_400_000;
  await t.time.advance(3_600_000);
  expect((await deliveries(t, "settled")).map(({ status }) => status)).toEqual(["pending"]);
  expect((await deliveries(t, "waits")).map(({ status }) => status)).toEqual(["pending"]);
});

test("HOOK-31 HOOK-25 a batch of which nothing could be written down is tried again soon, and all behind it", async () => {
  await using t = await started({ hooks: { drain_batch_size: 1 } });
  await hook(t);
  t.failing.add("deliveries.dueAmong");
  for (let n = 0; n < 5; n++) await t.run();
  t.failing.clear();
  t.failing.add("catalog.find");
  t.failing.add("deliveries.fail");
  await t.time.advance(1_000);
  expect((await deliveries(t)).map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0, 0]);
  t.failing.clear();
  await t.time.advance(2_000);
  expect((await deliveries(t)).map(({ status }) => status)).toEqual(Array(5).fill("delivered"));
});

test("HOOK-25 a tick that finds a whole batch goes on until nothing is left", async () => {
  await using t = await started({ hooks: { drain_batch_size: 2 } });
  await hook(t);
  t.failing.add("deliveries.dueAmong");
  for (let n = 0; n < 5; n++) await t.run();
  await update(t, { enabled: false });
  t.failing.clear();
  await t.time.advance(2_000);
  await update(t, { enabled: true });
  const [{ hook_id } = expect.unreachable()] = await deliveries(t);
  // Nobody tells this server of it.
  const retried = await t.store.deliveries.retryMany(hook_id, {
    settled_before: t.time.now + 1,
    limit: 9,
  });
  expect(retried).toEqual({ retried: 5, remaining: 0 });
  await t.time.advance(30_000);
  expect((await deliveries(t)).map(({ status }) => status)).toEqual(Array(5).fill("delivered"));
});

test("HOOK-13 with hooks off nothing is matched and nothing drained", async () => {
  await using t = await started({ hooks: { enabled: false } });
  await hook(t);
  await t.run();
  await t.time.advance(120_000);
  expect(await deliveries(t)).toEqual([]);
});

test("HOOK-33 without authorization an input in the shape of an envelope goes on with its chain, and any other begins one", async () => {
  await using t = await started();
  const hopsOf = async (input: Json) => (await t.run(input)).hook?.hop ?? null;
  const shape = { delivery_id: "0192f0c1-0000-7000-8000-000000000000", event_key: "x:1" };
  expect(await hopsOf({ ...shape, hop: 2 })).toBe(2);
  expect(await hopsOf({ ...shape, hop: -5 })).toBe(0);
  for (const input of [{ hop: 2 }, { ...shape }, { ...shape, hop: "2" }, [], null, "text"]) {
    expect(await hopsOf(input as Json)).toBeNull();
  }
});

test("HOOK-25 HOOK-49 what a workflow declares is drained like any hook, from its registration on", async () => {
  await using t = await started();
  const hooks = `[{ on: "created", workflow: "page", principal: "bot", name: "declared" }]`;
  const source = `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello", hooks: ${hooks} }, async (input) => input);
`;
  await t.engine.catalog.register({ source }, { by: null });
  await t.run();
  expect(await deliveries(t, "declared")).toMatchObject([{ status: "delivered", hop: 0 }]);
  await t.engine.catalog.delete("default", "hello");
  await expect(deliveries(t, "declared")).rejects.toMatchObject({ code: "not_found" });
});
