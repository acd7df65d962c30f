import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TwoServers } from "../testing/two-servers.ts";

test("WRK-13 a worker of a server that stops moves to another one and keeps what it runs", async () => {
  await using t = await TwoServers.start();
  const worker = await t.a.worker();
  const { execution_id } = await t.a.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  await t.b.worker("idle");
  const closing = t.stop(t.a);
  await settled();
  const { command, delay_seconds = -1 } = await worker.next("control");
  expect(command).toBe("reconnect");
  expect(delay_seconds).toBeGreaterThanOrEqual(0);
  expect(delay_seconds).toBeLessThan(1);
  await t.time.advance(delay_seconds * 1000);
  const moved = t.b.strangeWorker("w");
  moved.ref = worker.ref;
  const welcome = await moved.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome).toMatchObject({ keep: [{ execution_id, generation: 1 }], drop: [] });
  await worker.connection?.closed;
  await closing;
  await t.time.advance(20_000);
  const end = moved.event(assigned, "WORKFLOW_COMPLETED", "done");
  expect(await moved.checkpoint(assigned, 3, "COMPLETED", [end])).toMatchObject({ seq: 4 });
  expect(await t.b.row(execution_id)).toMatchObject({ losses: [], output: "done" });
});
