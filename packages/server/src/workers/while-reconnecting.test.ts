/** What happens between the moment a worker connects again and the welcome that it gets (WRK-9). */
import { expect, test } from "vitest";
import { DoubtfulStore } from "../testing/doubtful-store.ts";
import { settled } from "../testing/manual-time.ts";
import { TestEngine } from "../testing/start-engine.ts";

/** A worker of one slot, with one execution that has begun. */
async function busy(t: TestEngine) {
  const worker = await t.worker("w", { slots: 1 });
  const { execution_id } = await t.run();
  const assigned = await worker.next("assign");
  await worker.started(assigned);
  return { worker, execution_id, assigned, running: [{ execution_id, generation: 1, seq: 3 }] };
}

test("I17 LIV-1 a heartbeat that comes while its worker connects again takes nothing from it", async () => {
  await using doubtful = await DoubtfulStore.start();
  const { worker, execution_id, running } = await busy(doubtful.engine);
  const answer = doubtful.holdAnswers("queue.listOwned");
  const connecting = worker.connect(running);
  await settled();
  expect((await worker.beat(running)).drop).toEqual([]);
  answer();
  expect((await connecting).keep).toEqual([{ execution_id, generation: 1 }]);
});

test("LIV-1 WRK-9 a heartbeat that crosses a welcome does not take what the welcome gives anew", async () => {
  await using t = await TestEngine.start();
  const { worker, execution_id, running } = await busy(t);
  worker.connection?.close();
  await t.time.advance(1_500);
  expect((await worker.connect(running)).keep).toEqual([{ execution_id, generation: 2 }]);
  expect((await worker.beat(running)).drop).toEqual([]);
});

test("WRK-9 what was given anew with a welcome that did not arrive is kept by the next one", async () => {
  await using t = await TestEngine.start();
  const { worker, execution_id, running } = await busy(t);
  worker.connection?.close();
  await t.time.advance(1_500);
  expect((await worker.connect(running)).keep).toEqual([{ execution_id, generation: 2 }]);
  worker.connection?.close();
  const { keep, drop } = await worker.connect(running);
  expect({ keep, drop }).toEqual({ keep: [{ execution_id, generation: 2 }], drop: [] });
});

test.each([1, 4])(
  "WRK-9 a full worker of %i slots that was lost and comes back keeps all that it runs",
  async (slots) => {
    await using t = await TestEngine.start();
    const worker = await t.worker("w", { slots });
    const running = [];
    for (let i = 0; i < slots; i++) {
      const { execution_id } = await t.run(i);
      await worker.started(await worker.next("assign"));
      running.push({ execution_id, generation: 1, seq: 3 });
    }
    worker.connection?.close();
    await t.time.advance(1_500);
    const { keep, drop } = await worker.connect(running);
    expect([keep.length, drop]).toEqual([slots, []]);
  },
);

test("I16 an execution that ends while its worker connects again keeps no slot", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const { worker, assigned, running } = await busy(t);
  const answer = doubtful.holdAnswers("queue.listOwned");
  const connecting = worker.connect(running);
  await settled();
  const end = worker.event(assigned, "WORKFLOW_COMPLETED", null);
  await worker.checkpoint(assigned, 3, "COMPLETED", [end]);
  answer();
  await connecting;
  await t.run("second");
  expect(await worker.next("assign")).toMatchObject({ input: "second" });
});

test("DSP-9 I13 a cancel that is committed while its worker connects again reaches it", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const { worker, execution_id, running } = await busy(t);
  const answer = doubtful.holdAnswers("queue.listOwned");
  const connecting = worker.connect(running);
  await settled();
  await t.engine.executions.cancel({ execution_id, by: null });
  answer();
  await connecting;
  const { events } = await worker.next("events");
  expect(events.map(({ type }) => type)).toEqual(["WORKFLOW_CANCELLING"]);
});

test("I17 a look at the sessions forgets none that comes while it is read", async () => {
  await using doubtful = await DoubtfulStore.start();
  const t = doubtful.engine;
  const sessions = doubtful.holdAnswers("sessions.listLive");
  const looking = t.engine.workers.refresh();
  await settled();
  const worker = t.strangeWorker();
  await worker.register();
  const connected = doubtful.holdAnswers("sessions.connect");
  const connecting = worker.connect();
  await settled();
  sessions();
  await looking;
  connected();
  await connecting;
  const { execution_id } = await t.run();
  expect(await worker.next("assign")).toMatchObject({ execution_id });
});

test("PRG-2 a reader is listened for though its worker lost the execution and got it again meanwhile", async () => {
  await using t = await TestEngine.start();
  const { worker, execution_id } = await busy(t);
  const first = await t.engine.executions.follow({ execution_id });
  expect(await worker.next("listen")).toMatchObject({ on: true });
  await t.engine.fleet.pause("w");
  await worker.connect([]);
  first.close();
  await t.time.advance(2_000);
  await t.engine.fleet.resume("w");
  expect(await worker.next("assign")).toMatchObject({ execution_id, listen: false });
  const second = await t.engine.executions.follow({ execution_id });
  expect(await worker.next("listen")).toEqual({ execution_id, on: true });
  second.close();
});
