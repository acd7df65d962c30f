import { type EngineError, encode } from "@engine/contract";
import { map, parallel, pause, TerminalError, task, workflow } from "@engine/sdk";
import { expect, test } from "vitest";
import { openTemporary as open, temporaryFolder } from "./testing/temporary-local.ts";

const greet = task({ name: "greet" }, async (name: string) => `Hello, ${name}!`);
const hello = workflow({ name: "hello_world" }, async (name: string) => greet(name));

const review = workflow({ name: "review", namespace: "shop" }, async (cents: number) => {
  const quote = await task({ name: "quote" }, async () => cents * 2)();
  const answer = await pause<{ ok: boolean } | null>("approve", { output: quote });
  return { quote, answer };
});

function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "resolved",
    (error: EngineError) => error.code,
  );
}

test("EXE-12 a run resolves with its output", async () => {
  const { local } = await open();
  const result = await local.run(hello, "World");
  expect(result).toMatchObject({ state: "COMPLETED", succeeded: true, output: "Hello, World!" });
});

test("HOOK-47 HOOK-49 a workflow with hooks runs as any other, and none is made of them here", async () => {
  const { local, store } = await open();
  const hooks = [{ on: "completed", workflow: "page", principal: "ops-bot" }];
  const hooked = workflow({ name: "hooked", hooks }, async () => 1);
  expect(await local.run(hooked)).toMatchObject({ state: "COMPLETED", output: 1 });
  expect((await store.hooks.list({ limit: 9, offset: 0 })).total).toBe(0);
});

test("EXE-12 a failed workflow does not reject: the result says what went wrong", async () => {
  const { local } = await open();
  const failing = workflow({ name: "failing" }, async () => {
    throw new TerminalError("no such order", { type: "OrderError" });
  });
  const result = await local.run(failing);
  expect(result).toMatchObject({
    failed: true,
    output: null,
    failure: { type: "OrderError", message: "no such order" },
  });
});

test("EXE-13 EXE-15 the log is that of a server run, by worker local, without a version", async () => {
  const { local } = await open();
  const { events, version } = await local.run(hello, "World");
  expect(events.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
    "1 WORKFLOW_CREATED",
    "2 WORKFLOW_CLAIMED",
    "3 WORKFLOW_STARTED",
    "4 TASK_STARTED",
    "5 TASK_COMPLETED",
    "6 WORKFLOW_COMPLETED",
  ]);
  expect(events[0]?.value).toEqual({ version: null, trigger: { kind: "local" }, label: null });
  expect(events[1]?.value).toMatchObject({ worker: "local", generation: 1, reason: "start" });
  expect(version).toBeNull();
});

test("a run without input has the input null, as an empty request has", async () => {
  const { local } = await open();
  const echo = workflow({ name: "echo" }, async (input: unknown) => ({ got: input }));
  expect(await local.run(echo)).toMatchObject({ input: null, output: { got: null } });
});

test("an input that cannot be stored is refused with the path inside it", async () => {
  const { local } = await open();
  await expect(local.run(hello, { client: { send() {} } })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("input.client.send"),
  });
});

test("EXE-14 a paused run continues with the same execution id; its tasks do not run again", async () => {
  const { local } = await open();
  const first = await local.run(review, 450);
  expect(first).toMatchObject({
    paused: true,
    output: null,
    waiting: [{ kind: "pause", name: "approve", output: 900 }],
  });
  const done = await local.run(review, { ok: true }, { executionId: first.executionId });
  expect(done.output).toEqual({ quote: 900, answer: { ok: true } });
  expect(done.events.map(({ type }) => type).filter((type) => type !== "TASK_STARTED")).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_COMPLETED",
    "TASK_PAUSED",
    "WORKFLOW_PAUSED",
    "TASK_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(done.events.filter(({ name }) => name === "quote")).toHaveLength(2);
});

test("EXE-14 a paused run continues in another process, from the database alone", async () => {
  const folder = temporaryFolder();
  const { executionId } = await (await open({ folder })).local.run(review, 1);
  const done = await (await open({ folder })).local.run(review, undefined, { executionId });
  expect(done.output).toEqual({ quote: 2, answer: null });
});

test("EXE-14 with two pauses open the input needs the name of one", async () => {
  const { local } = await open();
  const two = workflow({ name: "two" }, async () =>
    parallel([() => pause("left"), () => pause("right")]),
  );
  const { executionId } = await local.run(two);
  expect(await codeOf(local.run(two, 1, { executionId }))).toBe("ambiguous_pause");
  const half = await local.run(two, 1, { executionId, pause: "right" });
  expect(half).toMatchObject({ paused: true, waiting: [{ name: "left" }] });
  expect((await local.run(two, 0, { executionId })).output).toEqual([0, 1]);
});

test("EXE-14 an ended execution gives its stored result and nothing is written", async () => {
  const { local } = await open();
  const first = await local.run(hello, "World");
  const again = await local.run(hello, "ignored", { executionId: first.executionId });
  expect(again.output).toBe("Hello, World!");
  expect(again.events).toEqual(first.events);
});

test("EXE-14 an unknown execution, or one of another workflow, is not_found", async () => {
  const { local } = await open();
  const { executionId } = await local.run(hello, "World");
  expect(await codeOf(local.run(hello, null, { executionId: "gone" }))).toBe("not_found");
  expect(await codeOf(local.run(review, null, { executionId }))).toBe("not_found");
});

test("EXE-15 an execution that a server runs is not continued locally", async () => {
  const { local, store } = await open();
  const { row } = await store.executions.create({
    execution_id: "019b7694-9400-7fff-bfff-ffffffffffff",
    namespace: "default",
    workflow: "hello_world",
    version: 1,
    module_hash: "m",
    input: encode("World", "input"),
    trigger: { kind: "api" },
    by: null,
    seed: "0",
    now: Date.now(),
  });
  const { execution_id: executionId } = row;
  expect(await codeOf(local.run(hello, undefined, { executionId }))).toBe("conflict");
});

test("EXE-14 the run of a dead process is taken over: recorded tasks do not run again", async () => {
  const folder = temporaryFolder();
  const ran: string[] = [];
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<string>();
  let dies = true;
  const first = task({ name: "first" }, async () => void ran.push("first"));
  const second = task({ name: "second" }, async (_: null, { executionId }) => {
    ran.push("second");
    if (!dies) return "done";
    reached.resolve(executionId);
    await gate.promise;
    return "late";
  });
  const steps = workflow({ name: "steps" }, async () => {
    await first();
    return second(null);
  });

  const { local: dead } = await open({ folder });
  const lost = codeOf(dead.run(steps));
  const executionId = await reached.promise;
  dies = false;
  const { local: alive } = await open({ folder });
  expect(await codeOf(alive.run(steps, 1, { executionId }))).toBe("not_paused");
  const result = await alive.run(steps, undefined, { executionId });

  expect(result.output).toBe("done");
  expect(ran).toEqual(["first", "second", "second"]);
  const claims = result.events.filter(({ type }) => type === "WORKFLOW_CLAIMED");
  expect(claims.map(({ value }) => value)).toMatchObject([
    { generation: 1, reason: "start" },
    { generation: 2, reason: "recover" },
  ]);
  // The older holder lives after all: what it does now is not written, and its caller is told.
  gate.resolve();
  expect(await lost).toBe("stale_claim");
  expect((await alive.run(steps, undefined, { executionId })).events).toEqual(result.events);
});

test("a run of a hundred tasks is numbered without a gap", async () => {
  const { local } = await open();
  const square = task({ name: "square" }, async (n: number) => n * n);
  const squares = workflow({ name: "squares" }, async (count: number) =>
    map(
      Array.from({ length: count }, (_, i) => i),
      (n) => square(n),
    ),
  );
  const { output, events } = await local.run(squares, 100);
  expect((output as number[]).at(-1)).toBe(99 * 99);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
});
