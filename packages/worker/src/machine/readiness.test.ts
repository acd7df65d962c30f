import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { beginning } from "../failpoints.ts";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";

const HELLO = `
import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async (name) => "Hello, " + name);
`;

/** Gives work once, so that it is not given to a worker that wants none. */
async function givenBack(server: FakeServer, id: string): Promise<void> {
  await server.until(() => server.heartbeats.some(({ healthy }) => !healthy));
  server.dispatching = false;
  await server.until(() => server.releases.length > 0);
  expect(server.releases[0]).toEqual({ execution_id: id, generation: 1, reason: "unready" });
}

async function wellAgain(server: FakeServer, id: string): Promise<void> {
  await server.until(() => server.heartbeats.at(-1)?.healthy === true);
  server.dispatching = true;
  server.start("hello", server.addModule(HELLO), { input: "again" });
  expect(await server.finished(id)).toMatchObject({ output: "Hello, Ada" });
}

test("RUN-5 LIV-5 a worker that cannot keep bundles gives back what needs one, is unhealthy, and tries until it can", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const folder = join(worker.home, "modules");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "in the way");
  const id = server.start("hello", server.addModule(HELLO), { input: "Ada" });
  await givenBack(server, id);
  expect(worker.lines.filter((line) => line.includes("takes no new work"))).toHaveLength(1);

  rmSync(folder);
  await wellAgain(server, id);
  expect(server.moduleReads, "what was fetched before is kept").toHaveLength(1);
  expect(readdirSync(folder)).toHaveLength(1);
}, 20_000);

test("LIV-5 LIV-6 a bundle that is gone when its code is to load is not the fault of the code", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const remove = () => {
    for (const file of readdirSync(join(worker.home, "modules"))) {
      rmSync(join(worker.home, "modules", file));
    }
    unsubscribe(beginning.name, remove);
  };
  subscribe(beginning.name, remove);
  onTestFinished(() => void unsubscribe(beginning.name, remove));
  const id = server.start("hello", server.addModule(HELLO), { input: "Ada" });
  await givenBack(server, id);
  await wellAgain(server, id);
}, 20_000);

test("LIV-5 a bundle that does not arrive is nothing against the execution, nor against the worker", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server, {}, { random: () => 0 });
  server.before = (call) => {
    if (call === "module") throw new EngineError("unavailable", "try again");
  };
  const id = server.start("hello", server.addModule(HELLO), { input: "Ada" });
  await server.until(() => server.releases.length > 0);
  server.before = () => {};
  expect(server.releases[0]).toEqual({ execution_id: id, generation: 1, reason: "unready" });
  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED" });
  expect(server.heartbeats.filter(({ healthy }) => !healthy)).toEqual([]);
}, 20_000);
