import { interposed, openSqliteStore } from "@engine/store";
import { expect, test } from "vitest";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

test("WRK-9 RUN-4 a worker gets the bundle of what it owns also while it connects again", async () => {
  const time = new ManualTime();
  const { clock } = time;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  let slow: Promise<void> | undefined;
  const slowOnce = interposed(store, ({ name }, call) => {
    if (name !== "queue.listOwned") return undefined;
    return async (...asked) => {
      const wait = slow;
      slow = undefined;
      await wait;
      return call?.(...asked);
    };
  });
  await using t = await TestEngine.start({}, { shared: { store: slowOnce, time } });
  const worker = await t.worker("w");
  const { execution_id } = await t.run();
  const { generation, module, head } = await worker.next("assign");
  const read = Promise.withResolvers<void>();
  slow = read.promise;
  const again = worker.connect([{ execution_id, generation, seq: head }]);
  await settled();
  expect(slow).toBeUndefined();
  expect(await t.engine.workers.module(worker.ref, module.hash)).toContain("hello");
  read.resolve();
  await again;
});
