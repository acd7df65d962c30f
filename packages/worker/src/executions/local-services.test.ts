import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { AT_GATE, createGate } from "../testing/gate.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const ASKING = `
import { serviceSocket, task, workflow } from "@engine/sdk";
${AT_GATE}
const look = () => {
  try { return serviceSocket("inference"); } catch (error) { return error.failure.details.reason; }
};
const ask = task({ name: "ask" }, async () => look());
const wait = task({ name: "wait" }, async (name) => {
  const before = look();
  await atGate(name);
  return [before, look()];
});
export const asking = workflow({ name: "asking" }, async () => ask());
export const waiting = workflow({ name: "waiting" }, async (name) => wait(name));
`;

const services = { inference: "/run/inference.sock", cache: "/run/cache.sock" };

test("WMD-3 a worker offers its sockets by name when it registers, and tells no path", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server, { services });
  await worker.connected;
  expect(server.registrations[0]?.services).toEqual(["inference", "cache"]);
  expect(JSON.stringify(server.registrations)).not.toContain("/run/");
});

test.each([["thread"], ["process"]])(
  "WMD-3 task code on a runner of kind %s gets the path of what a welcome grants",
  async (runner) => {
    const server = new FakeServer();
    server.granted = ["inference"];
    const config = { services, runners: [runner], default_runner: runner, process_spares: 0 };
    await using _worker = await startTestWorker(server, config);
    const id = server.start("asking", server.addModule(ASKING));
    expect(await server.finished(id)).toMatchObject({ output: "/run/inference.sock" });
  },
);

test("WMD-3 what is not granted, or not offered, is refused", async () => {
  const server = new FakeServer();
  server.granted = ["cache"];
  const hash = server.addModule(ASKING);
  {
    await using _worker = await startTestWorker(server, { services });
    expect(await server.finished(server.start("asking", hash))).toMatchObject({
      output: "not_granted",
    });
  }
  server.granted = ["inference"];
  await using _other = await startTestWorker(server);
  expect(await server.finished(server.start("asking", hash))).toMatchObject({
    output: "not_offered",
  });
});

/** What was sent before is known to a worker that has run what was sent after it. */
async function heard(server: FakeServer, hash: string): Promise<void> {
  await server.finished(server.start("asking", hash));
}

test("WMD-3 WRK-7 a grant that comes while a task runs holds for its next call, and its end too", async () => {
  const server = new FakeServer();
  const hash = server.addModule(ASKING);
  await using _worker = await startTestWorker(server, { services });
  {
    using gate = createGate("granted");
    const id = server.start("waiting", hash, { input: "granted" });
    await gate.arrived();
    server.grant("inference");
    await heard(server, hash);
    gate.open();
    expect(await server.finished(id)).toMatchObject({
      output: ["not_granted", "/run/inference.sock"],
    });
  }
  using gate = createGate("revoked");
  const id = server.start("waiting", hash, { input: "revoked" });
  await gate.arrived();
  server.grant("cache");
  await heard(server, hash);
  gate.open();
  expect(await server.finished(id)).toMatchObject({
    output: ["/run/inference.sock", "not_granted"],
  });
});

test("WMD-3 a reconnect takes the grants of its welcome in place of earlier ones", async () => {
  const server = new FakeServer();
  server.granted = ["inference"];
  const hash = server.addModule(ASKING);
  await using _worker = await startTestWorker(server, { services });
  await server.finished(server.start("asking", hash));
  server.granted = [];
  server.cut();
  await server.until(() => server.connects.length === 2);
  expect(await server.finished(server.start("asking", hash))).toMatchObject({
    output: "not_granted",
  });
});
