/* A checkpoint of one execution names no worker: the session's secret says which one it is (WRK-6). */
import { expect, test } from "vitest";
import type { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

async function refused(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => "taken",
    ({ code }) => code,
  );
}

test("WRK-6 a server that has not heard of a session knows its worker by what it owns or owned last", async () => {
  await using t = await TwoServers.start();
  t.hears = false;
  const worker = await t.b.worker();
  const { execution_id } = await t.b.run();
  const assigned = await worker.next("assign");
  const { session } = worker.ref;
  const send = (server: TestEngine, secret = session) =>
    server.engine.workers.checkpoint({ session: secret, worker: undefined }, execution_id, {
      generation: 1,
      base_seq: assigned.head,
      state: "COMPLETED",
      events: [
        worker.event(assigned, "WORKFLOW_STARTED", null),
        worker.event(assigned, "WORKFLOW_COMPLETED", "done"),
      ],
    });

  expect(await refused(send(t.a, "another secret"))).toBe("session_unknown");
  expect(await send(t.a)).toMatchObject({ seq: 4, state: "COMPLETED" });
  // The answer was lost and the load balancer sends the same to the other server.
  expect(await send(t.b)).toMatchObject({ seq: 4, state: "COMPLETED" });
});

test("WRK-6 a session of which a server has not heard, and which never owned the execution, is unknown there", async () => {
  await using t = await TwoServers.start();
  t.hears = false;
  const owner = await t.b.worker("owner");
  const { execution_id } = await t.b.run();
  await owner.next("assign");
  const other = t.b.strangeWorker("other");
  await other.register();
  const item = { generation: 1, base_seq: 2, state: "RUNNING" as const, events: [] };
  const send = (id: string) =>
    t.a.engine.workers.checkpoint({ session: other.ref.session, worker: undefined }, id, item);
  expect(await refused(send(execution_id))).toBe("session_unknown");
  expect(await refused(send("nobody"))).toBe("session_unknown");
});
