import { EngineError } from "@engine/contract";
import { interposed, openSqliteStore, type Store, type StoreMethod } from "@engine/store";
import { expect, test } from "vitest";
import { DoubtfulStore } from "../testing/doubtful-store.ts";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

test("I17 what was claimed without the server knowing, as the answer of the store was lost, goes to a worker all the same", async () => {
  const { store, time, loseNext } = await forgetfulStore();
  await using t = await TestEngine.start({}, { shared: { store, time } });
  const { execution_id } = await t.run("waits");
  loseNext("executions.change");
  const worker = await t.worker("w");
  await settled();
  await time.advance(20_000);
  expect(await worker.next("assign")).toMatchObject({ execution_id, generation: 2 });
});

test("I17 so does what was created and claimed in one commit whose answer was lost", async () => {
  const { store, time, loseNext } = await forgetfulStore();
  await using t = await TestEngine.start({}, { shared: { store, time } });
  const worker = await t.worker("w");
  loseNext("executions.create");
  const start = t.engine.executions.start({ ...hello(), idempotency_key: "once" });
  await expect(start).rejects.toThrow(EngineError);
  const { row } = await t.engine.executions.start({ ...hello(), idempotency_key: "once" });
  await time.advance(20_000);
  expect(await worker.next("assign")).toMatchObject({ execution_id: row.execution_id });
});

test("I16 a claim that is settled after its answer was lost gives no slot of a newer one away", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const first = await t.run("first");
  const second = await t.run("second");
  const looked = doubtful.holdAnswers("executions.find");
  doubtful.loseAnswer("executions.change");
  await t.worker("w", { slots: 1 });
  await settled();
  // What is committed for the owner that nobody knows of is heard of just before it is taken back.
  const committed = doubtful.holdAnswers("executions.change");
  const signal = t.engine.executions.signal({
    execution_id: first.execution_id,
    name: "s",
    payload: 1,
    by: null,
  });
  await settled();
  looked();
  await settled();
  committed();
  await signal;
  await settled();
  await t.time.advance(2_000);
  const rows = [await t.row(first.execution_id), await t.row(second.execution_id)];
  expect(rows.filter(({ worker }) => worker === "w")).toHaveLength(1);
});

test("I16 nor does the second look at it, which may come while the newer one is under way", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  await t.worker("w", { slots: 1 });
  const takenBack = doubtful.holdAnswers("executions.change");
  doubtful.loseAnswer("executions.create");
  await expect(t.run("first")).rejects.toThrow(EngineError);
  await settled();
  await t.run("second");
  takenBack();
  const claimed = doubtful.holdAnswers("executions.change");
  await settled();
  await t.time.advance(20_000);
  claimed();
  await settled();
  const { items } = await t.engine.executions.list({ order: "created_asc", limit: 10, offset: 0 });
  expect(items.map(({ worker }) => worker).sort()).toEqual([null, "w"]);
});

test("I16 nor does a claim that failed while another one of the same execution is under way", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  await t.run("first");
  const fail = doubtful.refuseLater("executions.change");
  await t.worker("w", { slots: 2 });
  await settled();
  // The first claim is still on its way: the queue, read again, brings the execution once more.
  const claimed = doubtful.holdAnswers("executions.change");
  await t.time.advance(15_000);
  fail();
  await settled();
  await t.run("second");
  await t.run("third");
  await settled();
  claimed();
  await settled();
  const { items } = await t.engine.executions.list({ order: "created_asc", limit: 10, offset: 0 });
  expect(items.map(({ worker }) => worker).sort()).toEqual([null, "w", "w"]);
});

test("I16 nor does a second claim, which finds that the first one was committed", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  await t.run("first");
  // The queue is read before the claim, and brings the execution once more behind it.
  const read = doubtful.holdAnswers("queue.list");
  await t.time.advance(15_000);
  const looked = doubtful.holdAnswers("executions.find");
  doubtful.loseAnswer("executions.change");
  await t.worker("w", { slots: 2 });
  await settled();
  read();
  await settled();
  await t.run("second");
  await t.run("third");
  await settled();
  const { items } = await t.engine.executions.list({ order: "created_asc", limit: 10, offset: 0 });
  expect(items.filter(({ worker }) => worker === "w")).toHaveLength(2);
  looked();
  await settled();
});

/** One whose answers to writes that were committed can get lost. */
async function forgetfulStore(): Promise<{
  store: Store;
  time: ManualTime;
  loseNext: (method: StoreMethod) => void;
}> {
  const time = new ManualTime();
  const { clock } = time;
  const store = await openSqliteStore({ path: ":memory:", synchronous: "normal", clock });
  let lost: StoreMethod | undefined;
  const forgetful = interposed(store, ({ name, kind }, call) => {
    if (!call || kind === "itself") return undefined;
    return async (...args) => {
      const isLost = lost === name;
      if (isLost) lost = undefined;
      const answer = await call(...args);
      if (isLost) throw new EngineError("unavailable", "the database is away");
      return answer;
    };
  });
  const loseNext = (method: StoreMethod) => {
    lost = method;
  };
  return { store: forgetful, time, loseNext };
}
