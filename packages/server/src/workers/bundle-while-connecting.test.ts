import { openSqliteStore } from "@engine/store";
import { expect, test } from "vitest";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

test("WRK-9 RUN-4 a worker gets the bundle of what it owns also while it connects again", async () => {
  const time = new ManualTime();
  const { clock } = time;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  let slow: Promise<void> | undefined;
  const slowOnce: typeof store = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== "listOwned") return member.bind(target);
      return async (session_id: string) => {
        const wait = slow;
        slow = undefined;
        await wait;
        return target.listOwned(session_id);
      };
    },
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
