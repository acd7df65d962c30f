import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { createTestSession } from "../testing/test-session.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { spokenByBoth } from "./spoken-protocol.ts";

const refusal = (details: object | null) =>
  new EngineError("incompatible_worker", "no", details ? { details: { ...details } } : {});

test("WRK-2 a worker goes on with the highest number that both speak, or not at all", () => {
  expect(spokenByBoth(refusal({ supported: [1] }), 2)).toBe(1);
  expect(spokenByBoth(refusal({ supported: [1, 2] }), 3)).toBe(2);
  const none = [{ supported: [] }, { supported: [2] }, { supported: [3, 4] }, { supported: [0] }];
  const broken = [{ supported: "1" }, { supported: ["1"] }, { supported: [1.5] }, {}, null];
  for (const details of [...none, ...broken]) {
    expect(spokenByBoth(refusal(details), 2), JSON.stringify(details)).toBeUndefined();
  }
  const other = new EngineError("conflict", "no", { details: { supported: [1] } });
  expect(spokenByBoth(other, 2)).toBeUndefined();
});

test("WRK-2 WRK-3 a worker of protocol 2 runs at a server of protocol 1, where nobody's rights are checked", async () => {
  const server = new FakeServer();
  server.protocol = 1;
  server.authz = undefined;
  await using worker = await startTestWorker(server);
  await worker.connected;
  expect(server.registrations.map(({ protocol }) => protocol)).toEqual([2, 1]);
  const hash = server.addModule(`
import { task, workflow } from "@engine/sdk";
const ask = task({ name: "ask" }, async (_, ctx) => [await ctx.executionToken()]);
export const asks = workflow({ name: "asks" }, async () => ask());
`);
  expect(await server.finished(server.start("asks", hash))).toMatchObject({ output: [null] });
});

test("WRK-2 SEC-9 a server of protocol 1, which knows of no hidden values, is given them as they are", async () => {
  const server = new FakeServer();
  server.protocol = 1;
  server.authz = undefined;
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(`
import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge", sensitive: true }, async (card) => card);
export const pays = workflow({ name: "pays" }, async () => charge("4111"));
`);
  expect(await server.finished(server.start("pays", hash))).toMatchObject({ output: "4111" });
  const events = server.batches.flat().flatMap((item) => item.events);
  const ofTask = events.filter(({ source_id }) => source_id === "charge~1");
  expect(ofTask).toMatchObject([{ value: "4111" }, { value: "4111" }]);
  expect(JSON.stringify(events)).not.toContain("hidden");
});

test("WRK-2 a worker that no number fits is refused for good", async () => {
  const server = new FakeServer();
  server.protocol = 9;
  await expect(createTestSession(server).registered()).rejects.toMatchObject({
    code: "incompatible_worker",
  });
  expect(server.registrations).toHaveLength(1);
});
