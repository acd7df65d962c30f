import { NewSchedule } from "@engine/contract";
import { expect, test } from "vitest";
import { testRing } from "../secrets/testing/rings.ts";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";
import { toSchedule } from "./schedule-record.ts";

const ROUTING = { dataset: "eu", gpu: { model: "a100" } };

function nightly(fields: object = {}): NewSchedule {
  const spec = { type: "cron", expression: "0 2 * * *", timezone: "UTC" };
  return NewSchedule.parse({ name: "nightly", workflow: "hello", spec, ...fields });
}

/** The same store under another ring, or none. */
async function restarted(t: TestEngine, ring?: ReturnType<typeof testRing>): Promise<TestEngine> {
  await t.engine.close();
  const shared = { store: t.store, time: t.time };
  return TestEngine.start({}, { shared, ports: { ring } });
}

async function stored(t: TestEngine) {
  return (await t.store.schedules.find("nightly")) ?? expect.unreachable("it was made");
}

test("RIN-3 a routing input is stored sealed, and reads say only that there is one", async () => {
  await using t = await TestEngine.start({}, { ports: { ring: testRing("k1") } });
  const created = await t.engine.schedules.create(nightly({ routing_input: ROUTING }));
  expect(toSchedule(created)).toMatchObject({ routing_input_set: true });
  const row = await stored(t);
  expect(row).toMatchObject({ routing_input: {}, routing_sealed: { key_id: "k1" } });
  expect(JSON.stringify(row)).not.toMatch(/dataset|a100/);
  const listed = await t.engine.schedules.list({ limit: 10, offset: 0 });
  const shown = [await t.engine.schedules.get("nightly"), ...listed.items].map(toSchedule);
  expect(JSON.stringify(shown)).not.toMatch(/dataset|a100|sealed/);
  expect(shown.map(({ routing_input_set }) => routing_input_set)).toEqual([true, true]);
  // One without any has nothing to seal.
  await t.engine.schedules.create(nightly({ name: "plain" }));
  expect(await t.store.schedules.find("plain")).toMatchObject({ routing_sealed: null });
});

test("RIN-3 AUTH-46 what is sent as it was changes nothing; another one replaces it, {} clears it", async () => {
  await using t = await TestEngine.start({}, { ports: { ring: testRing("k1") } });
  const { schedules } = t.engine;
  await schedules.create(nightly({ routing_input: ROUTING }));
  const before = await stored(t);
  await schedules.change("nightly", { routing_input: { ...ROUTING } });
  expect(await stored(t)).toEqual(before);
  await schedules.change("nightly", { overlap: "queue" });
  await schedules.pause("nightly");
  await schedules.resume("nightly");
  await schedules.trigger("nightly");
  expect(await stored(t)).toMatchObject({ routing_sealed: before.routing_sealed });
  expect(await schedules.get("nightly")).toMatchObject({ routing_input: ROUTING });

  const changed = await schedules.change("nightly", { routing_input: { dataset: "us" } });
  expect(toSchedule(changed)).toMatchObject({ routing_input_set: true });
  expect(await schedules.get("nightly")).toMatchObject({ routing_input: { dataset: "us" } });
  expect(JSON.stringify(await stored(t))).not.toContain("dataset");

  const cleared = await schedules.change("nightly", { routing_input: {} });
  expect(toSchedule(cleared)).toMatchObject({ routing_input_set: false });
  expect(await stored(t)).toMatchObject({ routing_input: {}, routing_sealed: null });
});

test("RIN-3 what was stored plain is sealed at the first start with a key, and only once", async () => {
  const first = await TestEngine.start({}, { ports: { ring: undefined } });
  await first.engine.schedules.create(nightly({ routing_input: ROUTING }));
  await first.engine.schedules.create(nightly({ name: "plain" }));
  expect(await stored(first)).toMatchObject({ routing_input: ROUTING, routing_sealed: null });
  const second = await restarted(first, testRing("k1"));
  await settled();
  const sealed = await stored(second);
  expect(sealed).toMatchObject({ routing_input: {}, routing_sealed: { key_id: "k1" } });
  expect(await second.engine.schedules.get("nightly")).toMatchObject({ routing_input: ROUTING });
  await using third = await restarted(second, testRing("k1"));
  expect(await stored(third)).toEqual(sealed);
});

test("SEC-2 a routing input that is moved to another schedule does not open there", async () => {
  await using t = await TestEngine.start({}, { ports: { ring: testRing("k1") } });
  const { schedules } = t.engine;
  await schedules.create(nightly({ routing_input: ROUTING }));
  await schedules.create(nightly({ name: "other" }));
  const { routing_sealed } = await stored(t);
  await t.store.schedules.change("other", () => ({ routing_sealed }));
  expect(JSON.stringify(await schedules.get("other"))).not.toMatch(/dataset|a100/);
});

test("SEC-2 without its key the rest of a schedule is changed as before, and it can be cleared or replaced", async () => {
  const first = await TestEngine.start({}, { ports: { ring: testRing("k1") } });
  await first.engine.schedules.create(nightly({ routing_input: ROUTING }));
  await using t = await restarted(first, testRing("k2"));
  const { schedules } = t.engine;
  const before = await stored(t);
  const changed = await schedules.change("nightly", { overlap: "queue" });
  expect(toSchedule(changed)).toMatchObject({ overlap: "queue", routing_input_set: true });
  expect(await stored(t)).toMatchObject({ routing_sealed: before.routing_sealed });
  await schedules.change("nightly", { routing_input: {} });
  expect(await stored(t)).toMatchObject({ routing_input: {}, routing_sealed: null });
  await schedules.change("nightly", { routing_input: ROUTING });
  expect(await schedules.get("nightly")).toMatchObject({ routing_input: ROUTING });
});
