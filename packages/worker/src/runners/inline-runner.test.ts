import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";

/** What a program prints: inline runs change the globals of their process. */
async function printed(program: URL): Promise<unknown> {
  const run = promisify(execFile);
  const args = ["--conditions=@engine/source", fileURLToPath(program)];
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout);
}

test("RUN-1 RUN-4 WMD-3 the inline runner runs user code on the main thread, with its sockets, and keeps what waits there", async () => {
  const program = new URL("../testing/inline-run.ts", import.meta.url);
  const output = [true, "/run/inference.sock", 1];
  expect(await printed(program)).toEqual({ state: "COMPLETED", output });
});

test("EXE-31 RUN-1 what an inline worker sends and logs for a body is not taken for the body's own doing", async () => {
  const native = ["Timeout"];
  const program = new URL("../testing/inline-timers.ts", import.meta.url);
  expect(await printed(program)).toEqual({
    state: "COMPLETED",
    output: "DurableTimer",
    seen: expect.objectContaining({
      checkpoints: native,
      configs: native,
      log: native,
      module: native,
      progress: native,
      saveValue: native,
    }),
  });
});

test("RUN-1 a runner that this worker does not have, or that is not listed, stops its start", async () => {
  const server = new FakeServer();
  await expect(startTestWorker(server, { default_runner: "inline" })).rejects.toThrow(
    /default_runner must be one of runners \(thread, process\); got "inline"/,
  );
});
