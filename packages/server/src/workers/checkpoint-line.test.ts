/* A request of checkpoints stays open for long: what becomes of its session meanwhile is noticed. */
import type { CheckpointItem } from "@engine/contract";
import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";
import { TwoServers } from "../testing/two-servers.ts";

const OTHER_PROCESS = "0199c0de-0000-7000-8000-0000000000ff";

async function codeOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => "taken",
    ({ code }) => code,
  );
}

test("a request of checkpoints of an unknown session is refused before its first line", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w");
  const ref = { ...worker.ref, session: "another secret" };
  expect(await codeOf(t.engine.workers.openCheckpoints(ref))).toBe("session_unknown");
  const named = { ...worker.ref, worker: "another" };
  expect(await codeOf(t.engine.workers.openCheckpoints(named))).toBe("permission_denied");
});

test("WRK-4 an open request of checkpoints is refused once another process has taken the name over", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w");
  const line = await t.engine.workers.openCheckpoints(worker.ref);
  expect(await line({ items: [] })).toEqual({ items: [] });
  await t.strangeWorker("w").register({ instance_id: OTHER_PROCESS, host: "there", pid: 7 });
  expect(await codeOf(line({ items: [] }))).toBe("session_superseded");
});

test("WRK-3 an open request of checkpoints is refused once its session has said goodbye or has another secret", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("w");
  const before = worker.ref;
  const line = await t.engine.workers.openCheckpoints(before);
  await worker.register();
  expect(await codeOf(line({ items: [] }))).toBe("session_unknown");
  const next = await t.engine.workers.openCheckpoints(worker.ref);
  expect(await codeOf(next({ items: [] }))).toBe("taken");
  await t.engine.workers.disconnect(worker.ref);
  expect(await codeOf(next({ items: [] }))).toBe("session_unknown");
});

test("an open request of checkpoints goes on while another server takes its session's stream over", async () => {
  await using t = await TwoServers.start();
  const worker = await t.b.worker("w");
  const { execution_id } = await t.b.run();
  const assigned = await worker.next("assign");
  const line = await t.b.engine.workers.openCheckpoints(worker.ref);
  await t.a.engine.workers.connect(worker.ref, [{ ...assigned, seq: assigned.head }], () => {});
  const item: CheckpointItem = {
    execution_id,
    generation: assigned.generation,
    base_seq: assigned.head,
    state: "COMPLETED",
    events: [
      worker.event(assigned, "WORKFLOW_STARTED", null),
      worker.event(assigned, "WORKFLOW_COMPLETED", "done"),
    ],
  };
  const { items } = await line({ items: [item] });
  expect(items).toMatchObject([{ execution_id, seq: 4, state: "COMPLETED" }]);
});
