/** A program for the test of runner processes: a worker whose only execution blocks its process. */
import { FakeServer } from "./fake-server.ts";
import { startTestWorker } from "./test-worker.ts";

const server = new FakeServer();
await startTestWorker(server, { default_runner: "process" });
const module = server.addModule(`
import { writeFileSync } from "node:fs";
import { workflow } from "@engine/sdk";
export const blocks = workflow({ name: "blocks" }, async (file) => {
  writeFileSync(file, JSON.stringify([process.pid]));
  for (;;);
});
`);
server.start("blocks", module, { input: process.argv[2] ?? "" });
