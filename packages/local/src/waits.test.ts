import {
  Config,
  decideCancel,
  decideSignal,
  EngineError,
  encode,
  takeOver,
} from "@engine/contract";
import { parallel, pause, signal, sleep, task, workflow } from "@engine/sdk";
import type { Store } from "@engine/store";
import { expect, test } from "vitest";
import { ManualHost, openTemporary, temporaryFolder, until } from "./testing/temporary-local.ts";

const napping = workflow({ name: "napping" }, async () => {
  await sleep("5m");
  return "rested";
});

const review = workflow({ name: "review" }, async () => {
  const answer = await pause("review", { after: "1h" });
  return { answer, isUndefined: answer === undefined };
});

/** What a server on the same database does. */
async function cancel(store: Store, execution_id: string, now: number): Promise<void> {
  await store.executions.change(execution_id, (row) => {
    const of = { cause: "request", by: "ops", cancel_timeout_ms: 300_000 } as const;
    const verdict = decideCancel(row, { ...of, hasWorker: () => false, now });
    if (verdict instanceof EngineError) throw verdict;
    return verdict;
  });
}

async function send(store: Store, execution_id: string, payload: unknown, now: number) {
  await store.executions.change(execution_id, (row) => {
    const of = { name: "paid", payload: encode(payload, "payload"), by: null, now };
    const limits = Config.parse({}).executions;
    const verdict = decideSignal(row, { ...of, limits });
    if (verdict instanceof EngineError) throw verdict;
    return verdict;
  });
}

/** Starts a run with a clock that the test moves; answers when its body has begun. */
async function begin(wf: Parameters<typeof run>[1], folder = temporaryFolder()) {
  const manual = new ManualHost();
  const { local, store } = await openTemporary({ host: manual.host, folder });
  return { ...(await run({ local, manual }, wf)), store, local, manual, folder };
}

async function run(
  {
    local,
    manual,
  }: { local: Awaited<ReturnType<typeof openTemporary>>["local"]; manual: ManualHost },
  wf: Parameters<typeof local.run>[0],
) {
  let executionId = "";
  const result = local.run(wf, undefined, { onStarted: (id) => (executionId = id) });
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  result.then(over, over);
  await manual.pass(10);
  return { executionId, result, isOver: () => isOver };
}

test("EXE-15 EXE-50 a sleep waits in the process, never less than it says", async () => {
  const { result, isOver, manual, store, executionId } = await begin(napping);
  await manual.pass(299_000);
  expect(isOver()).toBe(false);
  expect(await store.executions.find(executionId)).toMatchObject({
    state: "RUNNING",
    worker: "local",
  });
  await manual.pass(2_000);
  expect(await result).toMatchObject({ state: "COMPLETED", output: "rested" });
  expect(manual.timers).toBe(0);
});

test("EXE-15 EXE-50 a retry delay waits in the process", async () => {
  let attempts = 0;
  const flaky = task({ name: "flaky", retry: { maxAttempts: 2, delay: "10m" } }, async () => {
    if (++attempts === 1) throw new Error("not yet");
    return "done";
  });
  const wf = workflow({ name: "retrying" }, async () => flaky());
  const { result, isOver, manual, store, executionId } = await begin(wf);
  await manual.pass(590_000);
  expect(isOver()).toBe(false);
  expect(await store.executions.find(executionId)).toMatchObject({ worker: "local" });
  await manual.pass(11_000);
  const done = await result;
  expect(done.output).toBe("done");
  expect(done.events.filter(({ type }) => type === "WORKFLOW_CLAIMED")).toHaveLength(1);
});

test("EXE-15 a pause returns PAUSED at once even with a wake", async () => {
  const { result, manual } = await begin(review);
  expect(await result).toMatchObject({
    paused: true,
    waiting: [{ kind: "pause", name: "review" }],
  });
  expect(manual.timers).toBe(0);
});

test("EXE-14 EXE-15 before the wake instant a continuation without input resumes with null", async () => {
  const { result, manual, local, executionId } = await begin(review);
  await result;
  await manual.pass(60_000);
  const done = await local.run(review, undefined, { executionId });
  expect(done.output).toEqual({ answer: null, isUndefined: false });
});

test("EXE-15 EXE-51 after the wake instant it continues with undefined, in any process", async () => {
  const { result, manual, executionId, folder } = await begin(review);
  await result;
  await manual.pass(3_600_000);
  const { local } = await openTemporary({ folder, host: manual.host });
  const done = await local.run(review, undefined, { executionId });
  expect(done.output).toMatchObject({ isUndefined: true });
  const resuming = done.events.find(({ type }) => type === "WORKFLOW_RESUMING");
  expect(resuming?.meta).toMatchObject({ cause: "timer" });
});

test("EXE-52 an input still answers a pause whose time has come, if it is the first to do so", async () => {
  const { result, manual, local, executionId } = await begin(review);
  await result;
  await manual.pass(3_600_000);
  const done = await local.run(review, "late", { executionId });
  expect(done.output).toMatchObject({ answer: "late" });
});

test("EXE-52 naming a pause that is not due resumes that one with null, and the due one ends by its time", async () => {
  const two = workflow({ name: "two_pauses" }, async () => {
    const [soon, later] = await parallel([
      () => pause("soon", { after: "1m" }),
      () => pause("later"),
    ]);
    return { soon: soon === undefined, later };
  });
  const { result, manual, local, executionId } = await begin(two);
  await result;
  await manual.pass(120_000);
  const done = await local.run(two, undefined, { executionId, pause: "later" });
  expect(done.output).toEqual({ soon: true, later: null });
});

const paid = workflow({ name: "paid" }, async () => signal("paid"));

test("EXE-53 a signal that another process sends ends the wait in this one", async () => {
  const { result, isOver, manual, store, executionId } = await begin(paid);
  await manual.pass(60_000);
  expect(isOver()).toBe(false);
  await send(store, executionId, { cents: 900 }, manual.now);
  await manual.pass(1_000);
  expect((await result).output).toEqual({ cents: 900 });
  expect(manual.timers).toBe(0);
});

test("EXE-53 a signal with a timeout gives undefined when nobody sends one", async () => {
  const wf = workflow({ name: "paid_in_time" }, async () => {
    return { isUndefined: (await signal("paid", { timeout: "10s" })) === undefined };
  });
  const { result, isOver, manual } = await begin(wf);
  await manual.pass(9_000);
  expect(isOver()).toBe(false);
  await manual.pass(1_000);
  expect((await result).output).toEqual({ isUndefined: true });
});

test("EXE-53 a signal that came before the call is given to it at once", async () => {
  const gate = Promise.withResolvers<void>();
  const waitForGate = task({ name: "wait_for_gate" }, () => gate.promise);
  const wf = workflow({ name: "paid_early" }, async () => {
    await waitForGate();
    return signal("paid");
  });
  const { result, manual, store, executionId } = await begin(wf);
  await send(store, executionId, "early", manual.now);
  gate.resolve();
  await manual.pass(1_000);
  expect((await result).output).toBe("early");
});

/** Runs until it is aborted. */
const forever = task({ name: "forever" }, (_: undefined, { signal }) => {
  return new Promise<void>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
});

test("EXE-15 EXE-42 a cancel by a server on the same database is seen within a second", async () => {
  const undone: string[] = [];
  const careful = task(
    { name: "careful", rollback: async () => void undone.push("careful") },
    forever.fn as () => Promise<void>,
  );
  const wf = workflow({ name: "cancelled_while_running" }, async () => careful());
  const { result, isOver, manual, store, executionId } = await begin(wf);
  await cancel(store, executionId, manual.now);
  expect(isOver()).toBe(false);
  await manual.pass(1_000);
  expect(await result).toMatchObject({ state: "CANCELLED", cancelled: true });
  expect(undone).toEqual(["careful"]);
});

test("EXE-15 a sleeping run sees a cancel, too", async () => {
  const { result, manual, store, executionId } = await begin(napping);
  await cancel(store, executionId, manual.now);
  await manual.pass(1_000);
  expect(await result).toMatchObject({ state: "CANCELLED" });
});

test("EXE-15 a parked run is CANCELLED at once, and its caller learns of it", async () => {
  const { result, manual, store, executionId } = await begin(paid);
  await cancel(store, executionId, manual.now);
  expect(await store.executions.find(executionId)).toMatchObject({ state: "CANCELLED" });
  await manual.pass(1_000);
  expect(await result).toMatchObject({ state: "CANCELLED" });
});

test("EXE-44 a workflow's timeout ends it as failed, without anybody else", async () => {
  const wf = workflow({ name: "limited", timeout: "5s" }, async () => forever());
  const { result, isOver, manual } = await begin(wf);
  await manual.pass(4_000);
  expect(isOver()).toBe(false);
  await manual.pass(2_000);
  expect(await result).toMatchObject({ failed: true, failure: { type: "WorkflowTimeoutError" } });
});

test("EXE-44 a timeout holds while the run is parked", async () => {
  const wf = workflow({ name: "limited_wait", timeout: "5s" }, async () => signal("never"));
  const { result, manual } = await begin(wf);
  await manual.pass(6_000);
  expect(await result).toMatchObject({ failed: true, failure: { type: "WorkflowTimeoutError" } });
});

test("EXE-14 a sleeping run that another process continues is told so within a second", async () => {
  const { result, manual, store, executionId } = await begin(napping);
  await store.executions.change(executionId, (row) => {
    return takeOver(row, { worker: "local", session: "other", now: manual.now });
  });
  const told = result.catch((error: EngineError) => error.code);
  await manual.pass(1_000);
  expect(await told).toBe("stale_claim");
});

test("EXE-14 a run that waits for a signal is told so, too, when it is continued elsewhere", async () => {
  const { result, manual, folder, executionId } = await begin(paid);
  const told = result.catch((error: EngineError) => error.code);
  const other = await openTemporary({ folder, host: manual.host });
  const taken = other.local.run(paid, undefined, { executionId });
  await manual.pass(1_000);
  expect(await told).toBe("stale_claim");
  await send(other.store, executionId, "for the new one", manual.now);
  await manual.pass(1_000);
  expect((await taken).output).toBe("for the new one");
});

test("EXE-51 a pause that waits for another execution's end goes on with undefined after it", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = task({ name: "slow" }, () => gate.promise);
  const watched = workflow({ name: "watched" }, async () => slow());
  const watcher = workflow({ name: "watcher" }, async (onComplete: string) => {
    return { isUndefined: (await pause("until_done", { onComplete })) === undefined };
  });
  const { local } = await openTemporary();
  const started = Promise.withResolvers<string>();
  const running = local.run(watched, undefined, { onStarted: started.resolve });
  const first = await local.run(watcher, await started.promise);
  expect(first.paused).toBe(true);
  gate.resolve();
  await running;
  const { executionId } = first;
  const done = await local.run(watcher, undefined, { executionId });
  expect(done.output).toEqual({ isUndefined: true });
  // One that has ended already, and one that never was.
  expect((await local.run(watcher, executionId)).output).toEqual({ isUndefined: true });
  const unknown = await local.run(watcher, "no-such-execution");
  expect(unknown.failure).toMatchObject({ type: "NotFoundError" });
});

test("EXE-14 a second caller in the same process waits for the same run", async () => {
  const { result, manual, local, executionId } = await begin(napping);
  const second = local.run(napping, undefined, { executionId });
  await manual.pass(300_000);
  expect((await second).events).toEqual((await result).events);
});

test("closing tells a run that waits how it can go on", async () => {
  const { result, local, executionId } = await begin(paid);
  const told = result.catch((error: EngineError) => error.message);
  await local.close();
  expect(await told).toMatch(/closed.*continue it by its id/);
  expect(executionId).not.toBe("");
});

test("a run that is quick reads nothing of what others write", async () => {
  const manual = new ManualHost();
  const { local, store } = await openTemporary({ host: manual.host });
  const before = store.statementCount();
  const quick = workflow({ name: "quick" }, async () => 1);
  await local.run(quick);
  const perRun = store.statementCount() - before;
  // The same again: no timer is left that would look at the database.
  await manual.pass(10_000);
  expect(store.statementCount() - before).toBe(perRun);
  expect(manual.timers).toBe(0);
});

test("EXE-58 a transient run whose process died after its start has failed", async () => {
  const folder = temporaryFolder();
  const gate = Promise.withResolvers<void>();
  const hang = task({ name: "hang" }, () => gate.promise);
  const wf = workflow({ name: "fleeting", durability: "transient" }, async () => hang());
  const { executionId, result, store, manual } = await begin(wf, folder);
  await until(async () => (await store.executions.find(executionId))?.started_at !== null);
  const { local: next } = await openTemporary({ folder, host: manual.host });
  const done = await next.run(wf, undefined, { executionId });
  expect(done).toMatchObject({ failed: true, failure: { type: "WorkerLostError" } });
  const told = result.catch((error: EngineError) => error.code);
  gate.resolve();
  await manual.pass(1_000);
  expect(await told).toBe("stale_claim");
});
