import { expect, test } from "vitest";
import {
  pause,
  type StandardSchema,
  type TaskContext,
  TaskError,
  TerminalError,
  task,
  workflow,
} from "../index.ts";
import { runResult } from "../run-result.ts";
import { nodeHost } from "./host.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";

const host = nodeHost();

test("EXE-5 a task's context names its execution, call, attempt and idempotency key", async () => {
  const seen: TaskContext[] = [];
  const look = task(
    { name: "look", retry: { maxAttempts: 2, delay: 0 }, metadata: { team: "a" } },
    async (_: undefined, ctx) => {
      seen.push(ctx);
      if (ctx.attempt === 1) throw new Error("again");
    },
  );
  await new MemoryExecution(
    workflow({ name: "w" }, async () => look()),
    null,
    host,
  ).run();
  expect(seen.map((ctx) => ctx.attempt)).toEqual([1, 2]);
  for (const ctx of seen) {
    expect(ctx).toMatchObject({
      executionId: "e1",
      taskCallId: "look~1",
      name: "look",
      idempotencyKey: "e1:look~1",
      metadata: { team: "a" },
      failure: null,
    });
    expect(ctx.signal.aborted).toBe(false);
  }
});

test("EXE-10 a run's result reads as the spec names it, and prints in snake_case", async () => {
  const execution = new MemoryExecution(
    workflow({ name: "w", namespace: "shop" }, async (n: number) => n + 1),
    1,
    host,
  );
  await execution.run();
  const result = runResult(execution.row, execution.events);
  expect(result).toMatchObject({
    executionId: "e1",
    name: "w",
    namespace: "shop",
    input: 1,
    output: 2,
    finished: true,
    succeeded: true,
    failed: false,
    paused: false,
  });
  expect(JSON.parse(JSON.stringify(result))).toMatchObject({
    execution_id: "e1",
    state: "COMPLETED",
  });
});

test("EXE-24 a call that fails before its body has its start and its outcome", async () => {
  const schema: StandardSchema<unknown, number> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) =>
        typeof value === "number"
          ? { value }
          : { issues: [{ message: "expected a number", path: ["n"] }] },
    },
  };
  let ran = false;
  const strict = task(
    {
      name: "strict",
      input: schema,
      retry: { maxAttempts: 3, delay: 0 },
      rollback: () => {
        ran = true;
      },
      fallback: () => {
        ran = true;
        return 0;
      },
    },
    async () => {
      ran = true;
      return 1;
    },
  );
  const wf = workflow({ name: "w" }, async () => strict("text" as never));
  const execution = new MemoryExecution(wf, null, host);
  await execution.run();
  // EXE-40: neither a retry nor a rollback nor a fallback follows an input that does not fit.
  expect(ran).toBe(false);
  expect(execution.types.slice(3)).toEqual(["TASK_STARTED", "TASK_FAILED", "WORKFLOW_FAILED"]);
  expect(execution.row.failure).toMatchObject({
    type: "InvalidInputError",
    code: "invalid_input",
    message: "input of strict does not fit its schema: n: expected a number",
    task_call_id: "strict~1",
  });
});

test("EXE-32 a pause is no error: catch and finally run when the body goes on, not when it parks", async () => {
  const ran: string[] = [];
  const wf = workflow({ name: "w" }, async () => {
    try {
      return await pause("p");
    } catch (error) {
      ran.push("catch");
      throw error;
    } finally {
      ran.push("finally");
    }
  });
  const execution = new MemoryExecution(wf, null, host);
  await execution.run();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ran).toEqual([]);
  execution.resume("on");
  await execution.run();
  expect(ran).toEqual(["finally"]);
  expect(execution.row.output).toBe("on");
});

test("EXE-34 a log at its limit fails the execution instead of growing on", async () => {
  const tick = task({ name: "tick" }, async () => 0);
  const wf = workflow({ name: "w" }, async () => {
    for (;;) await tick();
  });
  const execution = new MemoryExecution(wf, null, host, { limits: { max_events: 20 } });
  await execution.run();
  expect(execution.row).toMatchObject({ state: "FAILED", failure: { type: "HistoryLimitError" } });
  expect(execution.events.length).toBeLessThanOrEqual(20);
});

test("EXE-36 a TerminalError ends the retries and keeps its type and details", async () => {
  let attempts = 0;
  const declined = task({ name: "declined", retry: { maxAttempts: 5, delay: 0 } }, async () => {
    attempts++;
    throw new TerminalError("declined", { type: "CardDeclined", details: { code: 51 } });
  });
  const wf = workflow({ name: "w" }, async () => {
    try {
      await declined();
    } catch (error) {
      return error instanceof TaskError && error.failure;
    }
    return null;
  });
  const execution = new MemoryExecution(wf, null, host);
  await execution.run();
  expect(attempts).toBe(1);
  expect(execution.row.output).toMatchObject({
    type: "CardDeclined",
    details: { code: 51 },
    retryable: false,
    attempts: 1,
  });
});

test("EXE-45 a body that throws fails the execution and is not tried again", async () => {
  let runs = 0;
  const wf = workflow({ name: "w" }, async () => {
    runs++;
    throw new RangeError("no");
  });
  const execution = new MemoryExecution(wf, null, host);
  await execution.run();
  expect(runs).toBe(1);
  expect(execution.row.failure).toMatchObject({ type: "RangeError", message: "no" });
});
