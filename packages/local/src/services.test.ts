import { createHash } from "node:crypto";
import { referenceOf } from "@engine/contract";
import { getConfig, type OutputStorage, serviceSocket, task, workflow } from "@engine/sdk";
import { expect, test } from "vitest";
import { openTemporary, temporaryFolder } from "./testing/temporary-local.ts";

const LARGE = "x".repeat(5_000);
const limits = { inline_value_bytes: 2_000 };

test("EXE-49 a large output lies outside the log; the result shows the output itself", async () => {
  const folder = temporaryFolder();
  const make = task({ name: "make" }, async () => LARGE);
  const wf = workflow({ name: "large" }, async () => make());
  const { local, store } = await openTemporary({ folder, limits });
  const first = await local.run(wf);
  expect(first.output).toBe(LARGE);
  const { executionId } = first;
  const digest = createHash("sha256").update(JSON.stringify(LARGE)).digest("hex");
  for (const type of ["TASK_COMPLETED", "WORKFLOW_COMPLETED"]) {
    const event = first.events.find((event) => event.type === type);
    expect(event && referenceOf(event.value)).toEqual({
      storage_type: "file",
      reference_id: `${executionId}/${digest}`,
      metadata: { bytes: LARGE.length + 2 },
    });
  }
  expect(referenceOf((await store.executions.find(executionId))?.output ?? null)).toBeDefined();
  const { local: other } = await openTemporary({ folder, limits });
  expect((await other.run(wf, undefined, { executionId })).output).toBe(LARGE);
});

test("EXE-49 an inline output and one in a storage of the author's are shown as they are", async () => {
  const kept = new Map<string, unknown>();
  const storage: OutputStorage = {
    type: "shelf",
    store: async (id, value) => {
      kept.set(id, value);
      return { storage_type: "shelf", reference_id: id, metadata: {} };
    },
    retrieve: async ({ reference_id }) => kept.get(reference_id),
  };
  const inline = workflow({ name: "kept_inline", outputStorage: "inline" }, async () => LARGE);
  const own = workflow({ name: "kept_on_shelf", outputStorage: storage }, async () => LARGE);
  const { local } = await openTemporary({ limits });
  expect((await local.run(inline)).output).toBe(LARGE);
  expect((await local.run(own)).output).toBe(LARGE);
  expect(kept.size).toBe(1);
});

test("EXE-49a a cached output is used by a later run of another process", async () => {
  const folder = temporaryFolder();
  let runs = 0;
  const look = task({ name: "look_up", cache: true }, async (city: string) => `${city} ${++runs}`);
  const wf = workflow({ name: "cached" }, async (city: string) => look(city));
  const first = await openTemporary({ folder });
  expect((await first.local.run(wf, "Oslo")).output).toBe("Oslo 1");
  const second = await openTemporary({ folder });
  const hit = await second.local.run(wf, "Oslo");
  expect(hit.output).toBe("Oslo 1");
  expect(hit.events.find(({ type }) => type === "TASK_COMPLETED")?.meta).toMatchObject({
    cached: true,
  });
  expect((await second.local.run(wf, "Rome")).output).toBe("Rome 2");
});

test("EXE-5 secrets and configs come from the source that was given, else none exist", async () => {
  const settings = {
    secrets: async () => ({ KEY: "s3cret" }),
    configs: async () => ({ region: "north" }),
  };
  const wf = workflow({ name: "configured" }, async () => getConfig("region"));
  const given = await openTemporary({ settings });
  expect((await given.local.run(wf)).output).toBe("north");
  const none = await openTemporary();
  expect((await none.local.run(wf)).failure).toMatchObject({ type: "ConfigMissingError" });
  const charge = task({ name: "charge", secrets: ["KEY"] }, async () => "charged");
  const paying = workflow({ name: "paying" }, async () => charge());
  expect((await none.local.run(paying)).failure).toMatchObject({ type: "SecretMissingError" });
  expect((await given.local.run(paying)).output).toBe("charged");
});

test("EXE-31 each run gets a seed of its own, kept with it", async () => {
  const { local, store } = await openTemporary();
  const wf = workflow({ name: "seeded" }, async () => null);
  const seeds = new Set<string | undefined>();
  for (let i = 0; i < 3; i++) {
    const { executionId } = await local.run(wf);
    seeds.add((await store.executions.find(executionId))?.seed);
  }
  expect(seeds.size).toBe(3);
  for (const seed of seeds) expect(seed).toMatch(/^[0-9a-f]{32}$/);
});

test("WMD-3 a local run has the sockets of its process's configuration, and no others", async () => {
  const services = { inference: "/run/inference.sock" };
  const ask = task({ name: "ask" }, async (name: string) => serviceSocket(name));
  const asking = workflow({ name: "asking" }, async (name: string) => ask(name));
  const { local } = await openTemporary({ services });
  expect((await local.run(asking, "inference")).output).toBe("/run/inference.sock");
  expect((await local.run(asking, "cache")).failure).toMatchObject({
    type: "ServiceNotGrantedError",
    details: { service: "cache", reason: "not_offered" },
  });
  const { local: bare } = await openTemporary();
  expect((await bare.run(asking, "inference")).failure).toMatchObject({
    details: { reason: "not_offered" },
  });
});
