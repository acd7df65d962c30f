import { SENSITIVE } from "@engine/contract";
import { pause, task, workflow } from "@engine/sdk";
import { type KeyRing, ringOf, type Store, sealText, secretPlace } from "@engine/store";
import { expect, test } from "vitest";
import { storedSettings } from "./stored-settings.ts";
import { openTemporary, temporaryFolder } from "./testing/temporary-local.ts";

const RING: KeyRing = ringOf({ id: "k1", key: new Uint8Array(32).fill(5) });
const REAL = "4111-1111-1111-1111";
const LARGE = REAL.repeat(500);

test("SEC-8 SEC-9 a local run keeps what is sensitive encrypted, and goes on with it in another process", async () => {
  const folder = temporaryFolder();
  let ran = 0;
  const charge = task({ name: "charge", sensitive: true }, async (card: string) => {
    ran++;
    return { card, slip: LARGE };
  });
  const wf = workflow({ name: "pays" }, async () => {
    const { card, slip } = await charge(REAL);
    await pause("sure");
    return [card.length, slip.length];
  });
  const limits = { inline_value_bytes: 2_000 };
  const first = await openTemporary({ folder, ring: RING, limits });
  const { executionId, events } = await first.local.run(wf);
  const ofTask = events.filter(({ source_id }) => source_id === "charge~1");
  expect(ofTask.map(({ value }) => value)).toEqual([SENSITIVE, SENSITIVE]);
  const stored = JSON.stringify(await first.store.log.read(executionId));
  expect(JSON.stringify(events) + stored).not.toContain(REAL);
  await first.local.close();

  const second = await openTemporary({ folder, ring: RING, limits });
  const ended = await second.local.run(wf, true, { executionId });
  expect([ended.output, ran]).toEqual([[REAL.length, LARGE.length], 1]);
});

test("SEC-9 without a key a sensitive task is not recorded, and the run says why", async () => {
  const charge = task({ name: "charge", sensitive: true }, async () => REAL);
  const { local } = await openTemporary();
  await expect(local.run(workflow({ name: "pays" }, async () => charge()))).rejects.toMatchObject({
    code: "encryption_unavailable",
  });
});

async function keptIn(store: Store): Promise<void> {
  const sealed = sealText(RING, secretPlace("KEY", 1), JSON.stringify("s3cret-s3cret"));
  const info = { description: null, unmasked: false, masked_values: 1, updated_by: null };
  const slot = await store.secrets.slot("KEY");
  await store.secrets.put({ name: "KEY", version: 1, ...info, ...sealed }, slot);
  await store.configs.put({ name: "region", value: "north", updated_by: null });
}

test("EXE-5 a local run has the secrets and configs of the database that it is on, with the key to them", async () => {
  const sign = task(
    { name: "sign", secrets: ["KEY"], configs: ["region"] },
    async (_: null, { secrets, configs }) => `${secrets["KEY"]} in ${configs["region"]}`,
  );
  const wf = workflow({ name: "signs" }, async () => sign(null));
  const folder = temporaryFolder();
  const { store } = await openTemporary({ folder });
  await keptIn(store);
  const { local } = await openTemporary({ folder, settings: storedSettings(store, RING) });
  expect((await local.run(wf)).output).toBe("s3cret-s3cret in north");
  const { local: keyless } = await openTemporary({
    folder,
    settings: storedSettings(store, undefined),
  });
  expect((await keyless.run(wf)).failure).toMatchObject({
    message: expect.stringContaining("engine.security.encryption.key"),
  });
});
