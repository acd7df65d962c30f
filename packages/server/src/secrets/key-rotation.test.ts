import { executionKeyPlace, newDataKey, unwrapKey } from "@engine/store";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";
import { CALL, testRing } from "./testing/rings.ts";

const OLD = testRing("old");
/** After the new key was added, and made the one that seals. */
const BOTH = testRing("new", "old");
const NEW = testRing("new");

function value(n: number) {
  return { value: `the value of ${n}`, unmasked: false };
}

/** Secrets with what they were, and data keys of executions. */
async function filled({ engine, store }: TestEngine, count = 3): Promise<void> {
  for (let n = 0; n < count; n++) await engine.secrets.put(`s${n}`, value(n), CALL);
  await engine.secrets.put("s0", value(0), CALL);
  for (const id of ["e1", "e2"]) {
    const { dataKey: _, ...key } = newDataKey(OLD, executionKeyPlace(id));
    await store.executionKeys.add(id, key);
  }
}

/** An engine whose store was filled under the old key, on which the new one is the primary by now. */
async function rotating(ports: object = {}, count = 3): Promise<TestEngine> {
  const first = await TestEngine.start({}, { ports: { ring: OLD } });
  await filled(first, count);
  await first.engine.close();
  const shared = { store: first.store, time: first.time };
  return TestEngine.start({}, { shared, ports: { ring: BOTH, ...ports } });
}

test("SEC-3 everything that is stored is wrapped with the primary key, and reads as before", async () => {
  await using t = await rotating();
  const { keyRotation, secrets } = t.engine;
  const before = await keyRotation.status();
  expect(before).toEqual({
    primary: "new",
    keys: [
      { id: "new", rows: 0 },
      { id: "old", rows: 6 },
    ],
    rotating: false,
  });
  const bodies = (await t.store.masks.list()).map(({ body }) => body);
  expect(await keyRotation.rotate(CALL)).toEqual({ ...before, rotating: true });
  await settled();
  expect(await keyRotation.status()).toEqual({
    primary: "new",
    keys: [
      { id: "new", rows: 6 },
      { id: "old", rows: 0 },
    ],
    rotating: false,
  });
  // What was sealed is the same as before; only the keys are wrapped anew.
  expect((await t.store.masks.list()).map(({ body }) => body)).toEqual(bodies);
  expect(await secrets.get("s1", CALL)).toMatchObject({ value: "the value of 1", version: 1 });
  const key = await t.store.executionKeys.find("e1");
  expect(unwrapKey(NEW, executionKeyPlace("e1"), key ?? expect.unreachable())).toHaveLength(32);
});

test("SEC-3 after it the old key is not needed any more", async () => {
  const t = await rotating();
  await t.engine.keyRotation.rotate(CALL);
  await settled();
  await t.engine.close();
  const shared = { store: t.store, time: t.time };
  await using after = await TestEngine.start({}, { shared, ports: { ring: NEW } });
  expect(await after.engine.secrets.get("s2", CALL)).toMatchObject({ value: "the value of 2" });
  expect((await after.engine.masks.current()).text("the value of 0")).not.toContain("value of");
});

test("SEC-3 it may be asked for at any time, also while it goes on and when nothing is left", async () => {
  await using t = await rotating();
  const { keyRotation } = t.engine;
  await Promise.all([keyRotation.rotate(CALL), keyRotation.rotate(CALL)]);
  await keyRotation.rotate(CALL);
  await settled();
  await keyRotation.rotate(CALL);
  await settled();
  expect(await keyRotation.status()).toMatchObject({ rotating: false, keys: [{ rows: 6 }, {}] });
});

test("SEC-3 while the database is away it waits, and goes on once it is back", async () => {
  const warnings: string[] = [];
  const log = { ...silent, warn: (_: object, message: string) => void warnings.push(message) };
  await using t = await rotating({ log });
  t.failing.add("encryption.rewrap");
  await t.engine.keyRotation.rotate(CALL);
  await settled();
  expect(await t.engine.keyRotation.status()).toMatchObject({
    ...{ rotating: true, keys: [{ rows: 0 }, { rows: 6 }] },
  });
  expect(warnings).toContain("the rotation of keys was broken off; it goes on in a while");
  t.failing.delete("encryption.rewrap");
  await t.time.advance(t.config.dispatch.safety_interval * 1000);
  expect(await t.engine.keyRotation.status()).toMatchObject({
    ...{ rotating: false, keys: [{ rows: 6 }, { rows: 0 }] },
  });
});

test("SEC-3 a server that died in the middle is made good by its next life, without being asked", async () => {
  const t = await rotating();
  t.failing.add("encryption.rewrap");
  await t.engine.keyRotation.rotate(CALL);
  await settled();
  await t.engine.close();
  const shared = { store: t.store, time: t.time };
  await using after = await TestEngine.start({}, { shared, ports: { ring: BOTH } });
  await settled();
  expect(await after.engine.keyRotation.status()).toMatchObject({
    ...{ rotating: false, keys: [{ rows: 6 }, { rows: 0 }] },
  });
});

test.each([
  ["heard", true],
  ["not heard", false],
])(
  "SEC-3 of several servers the one that leads does it, whichever was asked: %s",
  async (_, hears) => {
    await using both = await TwoServers.start({}, { ring: BOTH });
    const { dataKey: __, ...key } = newDataKey(OLD, executionKeyPlace("e1"));
    await both.a.store.executionKeys.add("e1", key);
    both.hears = hears;
    expect(await both.b.engine.keyRotation.rotate(CALL)).toMatchObject({ rotating: true });
    await settled();
    const expected = hears ? { rotating: false } : { rotating: true };
    expect(await both.b.engine.keyRotation.status()).toMatchObject(expected);
    await both.time.advance(both.a.config.dispatch.safety_interval * 1000);
    expect(await both.b.engine.keyRotation.status()).toMatchObject({
      ...{
        rotating: false,
        keys: [
          { id: "new", rows: 1 },
          { id: "old", rows: 0 },
        ],
      },
    });
  },
);

test("SEC-3 when the server that leads is killed the next one goes on", async () => {
  await using both = await TwoServers.start({}, { ring: BOTH });
  const { dataKey: _, ...key } = newDataKey(OLD, executionKeyPlace("e1"));
  await both.a.store.executionKeys.add("e1", key);
  both.hears = false;
  await both.b.engine.keyRotation.rotate(CALL);
  both.kill(both.a);
  await both.time.advance(4_000);
  expect(await both.b.engine.keyRotation.status()).toMatchObject({ rotating: false });
});

test("SEC-3 a server without the key that is asked for leaves it to one that has it", async () => {
  const warnings: string[] = [];
  const log = { ...silent, warn: (_: object, message: string) => void warnings.push(message) };
  await using t = await TestEngine.start({}, { ports: { ring: OLD, log } });
  await filled(t);
  await t.store.encryption.beginRotation("new");
  t.engine.keyRotation.led.stop();
  await t.engine.keyRotation.led.start();
  await settled();
  expect(warnings).toContainEqual(expect.stringContaining("does not have"));
  expect(await t.engine.keyRotation.status()).toMatchObject({ rotating: true });
  expect(await t.engine.secrets.get("s0", CALL)).toMatchObject({ key_id: "old" });
});

test("SEC-3 a data key that does not open stays under its key, is counted, and told", async () => {
  const errors: string[] = [];
  const log = { ...silent, error: (_: object, message: string) => void errors.push(message) };
  await using t = await rotating({ log });
  const moved = newDataKey(OLD, executionKeyPlace("another"));
  await t.store.executionKeys.add("e3", moved);
  await t.engine.keyRotation.rotate(CALL);
  await settled();
  expect(await t.engine.keyRotation.status()).toMatchObject({
    ...{ rotating: false, keys: [{ rows: 6 }, { rows: 1 }] },
  });
  expect(errors).toContain("a data key does not open");
});

test("SEC-3 of many it wraps some at a time, and a secret that is written meanwhile stays as written", async () => {
  await using t = await rotating({}, 450);
  const { keyRotation, secrets } = t.engine;
  await keyRotation.rotate(CALL);
  await settled();
  const { keys } = await keyRotation.status();
  expect(keys).toMatchObject([{ rows: 200 }, { rows: 253 }]);
  await secrets.put("s300", { value: "written meanwhile", unmasked: false }, CALL);
  expect(await secrets.get("s100", CALL)).toMatchObject({ key_id: "new" });
  expect(await secrets.get("s400", CALL)).toMatchObject({ key_id: "old" });
  await t.time.advance(1_000);
  expect(await keyRotation.status()).toMatchObject({
    ...{ rotating: false, keys: [{ rows: 454 }, { rows: 0 }] },
  });
  expect(await secrets.get("s300", CALL)).toMatchObject({ value: "written meanwhile" });
});
