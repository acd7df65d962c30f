import { EngineError } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";

// What is missing from two heartbeats the server takes back: see LIV-1 I17 in losses.test.ts.
test("LIV-1 I17 what could not be given back is listed no more, by which the server learns of it", async () => {
  const server = new FakeServer();
  server.heartbeatSeconds = 0.2;
  await using worker = await startTestWorker(server);
  server.before = (call) => {
    if (call === "release") throw new EngineError("invalid_input", "not as the server wants it");
  };
  const id = server.start("quick", "the hash of no bundle");
  const isRefused = () => worker.lines.some((line) => line.includes("could not be given back"));
  await server.until(isRefused);
  const before = server.heartbeats.length;
  await server.until(() => server.heartbeats.length > before + 2);
  // The first of them may have been on its way already.
  for (const { running } of server.heartbeats.slice(before + 1)) {
    expect(running.map(({ execution_id }) => execution_id)).not.toContain(id);
  }
  expect(server.row(id)).toMatchObject({ state: "CLAIMED" });
});
