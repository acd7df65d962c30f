import { Config } from "@engine/contract";
import { expect, test } from "vitest";
import { Commits } from "../commits.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { HandOvers } from "./hand-over.ts";

/** Another server's, which looked at the same time and acts on what it saw then. */
function slowRecoverer({ store, time }: TestEngine): HandOvers {
  const ports = { store, clock: time.clock, config: Config.parse({}), log: silent };
  return new HandOvers({ ports, commits: new Commits({ store, log: silent }) });
}

test("I4 I6 LIV-3 who recovers from a list that is out of date takes nothing from the worker that has it by now", async () => {
  await using t = await TestEngine.start();
  const lost = await t.worker("a");
  const { execution_id, session } = await t.run();
  await lost.started(await lost.next("assign"));
  const seen = await t.store.queue.listOwned(session ?? "");
  expect(seen).toMatchObject([{ execution_id, generation: 1 }]);

  const other = await t.worker("b");
  lost.connection?.close();
  await t.time.advance(1_000);
  const assigned = await other.next("assign");
  expect(assigned).toMatchObject({ execution_id, generation: 2 });
  const before = await t.row(execution_id);

  const recoverer = slowRecoverer(t);
  for (const one of seen)
    await recoverer.one(session ?? "", one, { loss: { reason: "session_lost" } });
  expect(await t.row(execution_id)).toEqual(before);
  expect(await other.completed(assigned, "once")).toMatchObject({ state: "COMPLETED" });
});

test("I6 LIV-3 nor what the same worker has been given anew since", async () => {
  await using t = await TestEngine.start();
  const worker = await t.worker("a");
  const { execution_id, session } = await t.run();
  await worker.next("assign");
  const seen = await t.store.queue.listOwned(session ?? "");
  await t.engine.workers.release(worker.ref, [
    { execution_id, generation: 1, reason: "runner_lost" },
  ]);
  const again = await worker.next("assign");
  expect(again).toMatchObject({ execution_id, generation: 2 });

  const recoverer = slowRecoverer(t);
  for (const one of seen)
    await recoverer.one(session ?? "", one, { loss: { reason: "session_lost" } });
  expect(await t.row(execution_id)).toMatchObject({ worker: "a", generation: 2 });
  expect(await worker.completed(again, "once")).toMatchObject({ state: "COMPLETED" });
});
