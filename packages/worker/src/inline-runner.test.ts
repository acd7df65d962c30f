import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FakeServer } from "./testing/fake-server.ts";
import { startTestWorker } from "./testing/test-worker.ts";

test("RUN-1 RUN-4 the inline runner runs user code on the main thread and keeps what waits there", async () => {
  const program = fileURLToPath(new URL("./testing/inline-run.ts", import.meta.url));
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--conditions=@engine/source", program]);
  expect(JSON.parse(stdout)).toEqual({ state: "COMPLETED", output: [true, 1] });
});

test("RUN-1 a runner that this worker does not have, or that is not listed, stops its start", async () => {
  const server = new FakeServer();
  await expect(startTestWorker(server, { default_runner: "inline" })).rejects.toThrow(
    /default_runner must be one of runners \(thread\); got "inline"/,
  );
  await expect(startTestWorker(server, { runners: ["thread", "process"] })).rejects.toThrow(
    /got "process"/,
  );
});
