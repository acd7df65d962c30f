import { STORED } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

const MODULE = `
import { pause, task, workflow } from "@engine/sdk";
${AT_GATE}
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
export const waits = workflow({ name: "waits" }, async (name) => wait(name));
export const counts = workflow({ name: "counts" }, async (input) => input.length);
export const pauses = workflow({ name: "pauses" }, async (input) => {
  const answer = await pause("which");
  return [answer, input.length];
});
`;

/** The most memory for a byte of text: 21 times as much, and three times that on its way in. */
const objects = (times: number) => `[${Array(times).fill("{}").join()}]`;

/** An input that lies where values lie, as the server hands it over. */
function stored(server: FakeServer, text: string) {
  return { [STORED]: server.storage.save("given", text) };
}

test("RUN-2 an input that no runner here has the memory for fails its execution, and harms no other", async () => {
  const server = new FakeServer();
  using gate = createGate("beside-an-input-too-large");
  await using worker = await startTestWorker(server, { thread_memory_mb: 104 });
  const hash = server.addModule(MODULE);
  const beside = server.start("waits", hash, { input: gate.name });
  await gate.arrived();
  const input = stored(server, objects(1_000_000));
  expect(await server.finished(server.start("counts", hash, { input }))).toMatchObject({
    state: "FAILED",
    failure: { type: "ValueTooLargeError", message: expect.stringContaining("has 104 MiB") },
  });
  gate.open();
  expect(await server.finished(beside)).toMatchObject({ output: "waited", generation: 1 });
  expect(server.releases.filter(({ reason }) => reason !== "load_failed")).toEqual([]);
  expect(worker.exits).toEqual([]);
});

test("RUN-2 inputs of which one fits at a time wait for each other, and the runner lives", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, { thread_memory_mb: 104 });
  const hash = server.addModule(MODULE);
  const input = stored(server, objects(280_000));
  const ids = Array.from({ length: 12 }, () => server.start("counts", hash, { input }));
  for (const id of ids) {
    expect(await server.finished(id)).toMatchObject({ output: 280_000, generation: 1 });
  }
  expect(server.releases).toEqual([]);
}, 30_000);

test("RUN-2 RUN-4 a copy that only waits makes room, and goes on from its log", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { thread_memory_mb: 104 });
  const hash = server.addModule(MODULE);
  const input = stored(server, objects(200_000));
  const paused = server.start("pauses", hash, { input });
  await until(() => worker.status().warm === 1);
  const next = server.start("counts", hash, { input });
  expect(await server.finished(next)).toMatchObject({ output: 200_000 });
  expect(worker.status().warm).toBe(0);
  server.resume(paused, "this");
  expect(await server.finished(paused)).toMatchObject({ output: ["this", 200_000] });
}, 30_000);

test("RUN-2 a copy that begins to wait while another's input waits for room gives it", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { thread_memory_mb: 104 });
  const hash = server.addModule(MODULE);
  const input = stored(server, objects(200_000));
  const ids = Array.from({ length: 4 }, () => server.start("pauses", hash, { input }));
  for (const id of ids) await server.until(() => server.row(id).state === "PAUSED");
  await until(() => worker.status().running === 0);
  for (const id of ids) server.resume(id, id);
  for (const id of ids) {
    expect(await server.finished(id)).toMatchObject({ output: [id, 200_000] });
  }
  expect(server.releases).toEqual([]);
}, 30_000);

test("RUN-2 one that is stopped while it waits for room keeps nobody waiting", async () => {
  const server = new FakeServer();
  using gate = createGate("holds-its-input");
  await using worker = await startTestWorker(server, { thread_memory_mb: 104 });
  const hash = server.addModule(`${MODULE}
export const holds = workflow({ name: "holds" }, async (input) => wait("holds-its-input"));
`);
  const input = stored(server, objects(200_000));
  const holding = server.start("holds", hash, { input });
  await gate.arrived();
  const waiting = server.start("counts", hash, { input: stored(server, objects(250_000)) });
  await until(() => worker.status().running === 2);
  const { generation } = server.row(waiting);
  server.send({ event: "revoke", data: { execution_id: waiting, generation, reason: "other" } });
  const small = server.start("counts", hash, { input: stored(server, objects(1000)) });
  expect(await server.finished(small)).toMatchObject({ output: 1000 });
  gate.open();
  expect(await server.finished(holding)).toMatchObject({ output: "waited" });
}, 30_000);
