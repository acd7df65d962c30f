import { formatInstant } from "@engine/contract";
import { interposed } from "@engine/store";
import { expect, test } from "vitest";
import { Commits } from "../commits.ts";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { Timers } from "./timers.ts";

test("I10 I17 what is committed while a lead is lost and taken back is woken at its new instant, whatever older reads say", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("sleeper");
  await t.run();
  const assigned = await worker.next("assign");
  const { execution_id } = assigned;
  const until = formatInstant(t.time.now + 50_000);
  await worker.parked(assigned, [worker.callEvent("TASK_STARTED", "sleep~1", { until })]);
  await t.engine.workers.disconnect(worker.ref);
  await t.engine.close();

  // Both reads see the row as it is now; their answers come after what is committed then.
  const answers: (() => void)[] = [];
  const store = interposed(t.store, ({ name }, call) => {
    if (name !== "queue.listDue") return undefined;
    return async (...asked) => {
      const page = await call?.(...asked);
      await new Promise<void>((resolve) => answers.push(resolve));
      return page;
    };
  });
  const { clock, setTimer } = t.time;
  const commits = new Commits({ store: t.store, log: silent });
  const timers = new Timers({
    ports: { store, clock, setTimer, config: t.config, log: silent },
    commits,
    hasWorker: () => false,
    waitsFor: () => ({ code: "no_worker", message: "-" }),
  });
  commits.listen((changed) => timers.onCommit(changed));
  const starts = [timers.start()];
  await settled();
  timers.stop();
  starts.push(timers.start());
  await settled();
  const sooner = t.time.now + 1_000;
  await commits.change(execution_id, (row) => ({
    events: [],
    patch: { waits: row.waits.map((wait) => ({ ...wait, until: sooner })), wake_at: sooner },
  }));
  for (const answer of answers) {
    answer();
    await settled();
  }
  await Promise.all(starts);
  await t.time.advance(1_000);
  expect(await t.store.executions.find(execution_id)).toMatchObject({ state: "RESUMING" });
  timers.close();
});
