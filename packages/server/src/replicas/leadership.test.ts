import { expect, test } from "vitest";
import { hello } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

test("LIV-3 EXE-50 a server that stops gives the lead back at once, though its store stays open", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker();
  const start_at = t.time.now + 10_000;
  const { row } = await t.b.engine.executions.start({ ...hello(), start_at });
  await t.stop(t.a);
  await t.time.advance(10_000);
  expect(await worker.next("assign")).toMatchObject({ execution_id: row.execution_id });
});
