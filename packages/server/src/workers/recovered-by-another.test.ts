import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

test("WRK-9 I6 a process that comes back does not go on with what its successor has had since", async () => {
  await using t = await TestEngine.start();
  const old = await t.worker("a");
  const { execution_id } = await t.run();
  const first = await old.next("assign");
  await old.started(first);
  old.connection?.close();
  await t.time.advance(1_000);

  const successor = await t.worker("b");
  const second = await successor.next("assign");
  expect(second).toMatchObject({ execution_id, generation: 2 });
  await successor.started(second, [
    successor.callEvent("TASK_STARTED", "charge~1"),
    successor.callEvent("TASK_COMPLETED", "charge~1", "receipt"),
  ]);
  // It waits for a worker again, with a log that the first one has not seen.
  successor.connection?.close();
  await t.time.advance(1_000);
  expect(await t.row(execution_id)).toMatchObject({ session: null, generation: 2 });

  const welcome = await old.connect([{ execution_id, generation: 1, seq: 3 }]);
  expect(welcome).toMatchObject({ keep: [], drop: [{ execution_id, generation: 1 }] });
  const again = await old.next("assign");
  expect(again).toMatchObject({ execution_id, generation: 3, reason: "recover" });
  expect(again.history.events.map(({ type }) => type)).toContain("TASK_COMPLETED");
});

test("WRK-4 WRK-12 LIV-5 a process that drains gets nothing of what its successor of the same name has taken over", async () => {
  await using t = await TestEngine.start();
  const draining = await t.worker("w");
  const { execution_id } = await t.run();
  const first = await draining.next("assign");
  await draining.started(first);
  await t.engine.fleet.drain("w", 60);
  await draining.next("control");

  const successor = await t.worker("w", { instance_id: "01900000-0000-7000-8000-000000000002" });
  const second = await successor.next("assign");
  expect(second).toMatchObject({ execution_id, generation: 2 });

  const heard = draining.heard.length;
  await expect(draining.connect([{ execution_id, generation: 1, seq: 3 }])).rejects.toMatchObject({
    code: "session_superseded",
  });
  const refused = draining.checkpoint(first, 3, "COMPLETED", [
    draining.event(first, "WORKFLOW_COMPLETED", "by the old one"),
  ]);
  await expect(refused).rejects.toMatchObject({ code: "session_superseded" });
  await t.time.advance(20_000);
  await settled();
  expect(draining.heard.slice(heard)).not.toContain("assign");
  expect(await t.row(execution_id)).toMatchObject({ worker: "w", generation: 2 });
  expect(await successor.completed(second, "by the new one")).toMatchObject({ state: "COMPLETED" });
});
