import type { ReleaseItem } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const MODULE = `
import { isMainThread } from "node:worker_threads";
import { task, workflow } from "@engine/sdk";
${AT_GATE}
const DEADLY = {
  throws: () => { throw new Error("nobody catches this"); },
  exits: () => process.exit(7),
  fills: () => { const all = []; for (;;) all.push({ size: all.length, list: [1, 2, 3] }); },
};
const wait = task({ name: "wait" }, async (name) => { await atGate(name); return "waited"; });
const die = task({ name: "die" }, async ({ how, gate }) => {
  await atGate(gate);
  setTimeout(DEADLY[how], 10);
  await new Promise(() => {});
});
const leave = task({ name: "leave" }, async (how) => { setTimeout(DEADLY[how], 300); });
const where = task({ name: "where" }, async () => ({
  pid: process.pid, isMainThread, given: process.env.OF_THE_WORKER ?? null,
}));
export const waits = workflow({ name: "waits" }, async (name) => wait(name));
export const dies = workflow({ name: "dies" }, async (how) => die(how));
export const leaves = workflow({ name: "leaves" }, async (how) => leave(how));
export const tells = workflow({ name: "tells" }, async () => where());
`;

function reasons(releases: readonly ReleaseItem[]): Record<string, string> {
  return Object.fromEntries(releases.map((one) => [one.execution_id, one.reason]));
}

test.each([
  ["throws", "runner_lost", "neighbour"],
  ["exits", "runner_lost", "neighbour"],
  // V8 does not say who has filled its memory.
  ["fills", "suspect", "suspect"],
])(
  "RUN-2 LIV-5 code that %s in a timer of its task is released as %s, what ran beside it as %s",
  async (how, its, theirs) => {
    const server = new FakeServer();
    using beside = createGate(`beside-one-that-${how}`);
    using before = createGate(`before-one-${how}`);
    await using _worker = await startTestWorker(server, { thread_memory_mb: 48 });
    const hash = server.addModule(MODULE);
    const neighbour = server.start("waits", hash, { input: beside.name });
    await beside.arrived();
    const id = server.start("dies", hash, { input: { how, gate: before.name } });
    await before.arrived();
    server.dispatching = false;
    before.open();
    await server.until(() => server.releases.length === 2);
    expect(reasons(server.releases)).toEqual({ [id]: its, [neighbour]: theirs });
  },
  60_000,
);

test("RUN-2 LIV-5 what an execution that has ended left behind is held against nobody", async () => {
  const server = new FakeServer();
  using gate = createGate("beside-what-was-left");
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(MODULE);
  const id = server.start("waits", hash, { input: gate.name });
  await gate.arrived();
  await server.finished(server.start("leaves", hash, { input: "throws" }));
  await server.until(() => server.releases.length === 1);
  expect(reasons(server.releases)).toEqual({ [id]: "neighbour" });
}, 60_000);

test("RUN-2 LIV-5 what a module sets going as it loads is not the doing of whoever needed it first", async () => {
  const server = new FakeServer();
  const gates = ["first-of-the-module", "second-of-the-module"].map((name) => createGate(name));
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(`${MODULE}
setInterval(() => { if (globalThis.isArmed) throw new Error("of the module"); }, 10);
const arm = task({ name: "arm" }, async () => { globalThis.isArmed = true; });
export const arms = workflow({ name: "arms" }, async () => arm());
`);
  const ids: string[] = [];
  for (const gate of gates) {
    ids.push(server.start("waits", hash, { input: gate.name }));
    await gate.arrived();
  }
  server.start("arms", hash);
  await server.until(() => server.releases.length >= 2);
  const given = reasons(server.releases);
  expect(ids.map((id) => given[id])).toEqual(["suspect", "suspect"]);
  for (const gate of gates) gate[Symbol.dispose]();
}, 60_000);

test("LIV-5 what is to run apart has a process of its own, with the environment of a thread", async () => {
  process.env["OF_THE_WORKER"] = "seen";
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(MODULE);
  const beside = await server.finished(server.start("tells", hash));
  const apart = await server.finished(server.start("tells", hash, { apart: true }));
  delete process.env["OF_THE_WORKER"];
  expect(beside.output).toMatchObject({ pid: process.pid, isMainThread: false, given: "seen" });
  expect(apart.output).toMatchObject({ isMainThread: true, given: "seen" });
  expect(apart.output).not.toMatchObject({ pid: process.pid });
}, 60_000);

test("LIV-5 RUN-1 on a worker without processes it has a thread of its own, and nothing dies with that", async () => {
  const server = new FakeServer();
  using beside = createGate("beside-one-apart");
  using before = createGate("before-one-apart");
  await using _worker = await startTestWorker(server, { runners: ["thread"] });
  const hash = server.addModule(MODULE);
  const other = server.start("waits", hash, { input: beside.name });
  await beside.arrived();
  const input = { how: "throws", gate: before.name };
  const id = server.start("dies", hash, { input, apart: true });
  await before.arrived();
  server.dispatching = false;
  before.open();
  await server.until(() => server.releases.length === 1);
  expect(server.releases).toEqual([{ execution_id: id, generation: 1, reason: "runner_lost" }]);
  beside.open();
  expect(await server.finished(other)).toMatchObject({ output: "waited", generation: 1 });
}, 60_000);
