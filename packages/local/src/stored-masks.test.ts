import { maskEnvelopes } from "@engine/redaction";
import { type KeyRing, openStore, ringOf, type Store, sealText, secretPlace } from "@engine/store";
import { expect, onTestFinished, test } from "vitest";
import { StoredMasks } from "./stored-masks.ts";

const RING: KeyRing = ringOf({ id: "k1", key: new Uint8Array(32).fill(5) });
const HIDDEN = JSON.stringify("***REDACTED***");

async function opened(): Promise<Store> {
  const store = await openStore("sqlite::memory:", { synchronous: "normal" });
  onTestFinished(() => store.close());
  return store;
}

async function keep(store: Store, name: string, version: number, value: string): Promise<void> {
  const sealed = sealText(RING, secretPlace(name, version), JSON.stringify(value));
  const info = { description: null, unmasked: false, masked_values: 1, updated_by: null };
  const slot = await store.secrets.slot(name);
  await store.secrets.put({ name, version, ...info, ...sealed }, slot);
}

const shown = JSON.stringify;

test("HOOK-16 AUTH-57 what is masked is read again within a second of a change, what was before stays masked, and nothing is read in between", async () => {
  const store = await opened();
  let now = 0;
  let lists = 0;
  const list = () => {
    lists++;
    return store.masks.list();
  };
  const masks = new StoredMasks({
    store: {
      epochs: store.epochs,
      masks: { ...store.masks, list },
    },
    ring: RING,
    isOn: true,
    monotonic: () => now,
  });
  await keep(store, "KEY", 1, "hunter-two");
  expect(masks.known()).toBeUndefined();
  expect((await masks.current()).json(shown("hunter-two"))).toBe(HIDDEN);
  await keep(store, "KEY", 2, "hunter-three");
  now += 999;
  expect(masks.known()?.json(shown("hunter-three"))).toBe(shown("hunter-three"));
  now += 1;
  expect(masks.known()).toBeUndefined();
  const both = await masks.current();
  expect(both.json(shown(["hunter-two", "hunter-three"]))).toBe(`[${HIDDEN},${HIDDEN}]`);
  now += 1_000;
  expect(await masks.current()).toBe(both);
  expect(lists).toBe(2);
});

test("HOOK-16 without a key nothing of a database that has secrets is shown; one without any needs none", async () => {
  const store = await opened();
  const masks = new StoredMasks({ store, ring: undefined, isOn: true, monotonic: () => 0 });
  expect((await masks.current()).json(shown("hunter-two"))).toBe(shown("hunter-two"));
  await keep(store, "KEY", 1, "hunter-two");
  const outbox = {
    redact: (json: string) => json,
    ready: (_: boolean): Promise<void> | undefined => undefined,
    redactWith(redact: (json: string) => string, ready: (_: boolean) => Promise<void> | undefined) {
      this.redact = redact;
      this.ready = ready;
    },
  };
  const monotonic = () => 1_000;
  const keyless = new StoredMasks({ store, ring: undefined, isOn: true, monotonic });
  maskEnvelopes({ outbox, masks: keyless, monotonic });
  await outbox.ready(true);
  expect(() => outbox.redact(shown("hunter-two"))).toThrow();
  await expect(keyless.current()).rejects.toMatchObject({ code: "encryption_unavailable" });
});

test("HOOK-16 where masking is turned off values are shown, and nothing is read", async () => {
  const store = await opened();
  await keep(store, "KEY", 1, "hunter-two");
  const masks = new StoredMasks({ store, ring: undefined, isOn: false, monotonic: () => 0 });
  expect(masks.known()?.json(shown("hunter-two"))).toBe(shown("hunter-two"));
  expect((await masks.current()).json(shown("hunter-two"))).toBe(shown("hunter-two"));
});
