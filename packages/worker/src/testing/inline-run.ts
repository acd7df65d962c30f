/** A program for the test of the inline runner, which needs a process without a test runner in it. */
import { FakeServer } from "./fake-server.ts";
import { startTestWorker } from "./test-worker.ts";
import { until } from "./until.ts";

const server = new FakeServer();
server.granted = ["inference"];
const worker = await startTestWorker(server, {
  runners: ["inline"],
  default_runner: "inline",
  services: { inference: "/run/inference.sock" },
});
const id = server.start(
  "here",
  server.addModule(`
import { isMainThread } from "node:worker_threads";
import { pause, serviceSocket, task, workflow } from "@engine/sdk";
let entered = 0;
const look = task({ name: "look" }, async () => [isMainThread, serviceSocket("inference")]);
export const here = workflow({ name: "here" }, async () => {
  entered++;
  const seen = await look();
  await pause("look");
  return [...seen, entered];
});
`),
);
await until(() => worker.status().warm === 1);
server.resume(id, null);
const { state, output } = await server.finished(id);
await worker.stop();
process.stdout.write(JSON.stringify({ state, output }));
