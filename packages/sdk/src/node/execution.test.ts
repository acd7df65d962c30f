import { expect, test } from "vitest";
import {
  now,
  parallel,
  pause,
  progress,
  random,
  TaskError,
  TerminalError,
  task,
  uuid,
  workflow,
} from "../index.ts";
import { double, run, start } from "./testing/run-in-memory.ts";

test("EXE-26 calls are named by parent, name and number", async () => {
  const inner = task({ name: "inner" }, async () => double(1));
  const wf = workflow({ name: "ids" }, async () => {
    await double(1);
    await parallel([() => double(2), () => double(3)]);
    await inner();
  });
  const { events, row } = await run(wf);
  expect(row.state).toBe("COMPLETED");
  const ids = events.filter((e) => e.type === "TASK_STARTED").map((e) => e.source_id);
  expect(ids).toEqual([
    "double~1",
    "parallel~1",
    "parallel~1/double~1",
    "parallel~1/double~2",
    "inner~1",
    "inner~1/double~1",
  ]);
});

test("EXE-25 three attempts that fail leave the order of the table, and the last failure", async () => {
  let attempts = 0;
  const flaky = task({ name: "flaky", retry: { maxAttempts: 3, delay: 1 } }, async () => {
    throw new RangeError(`no ${++attempts}`);
  });
  const wf = workflow({ name: "fails" }, async () => flaky());
  const { row, types, events } = await run(wf);
  expect(types.slice(3)).toEqual([
    "TASK_STARTED",
    "TASK_RETRY_STARTED",
    "TASK_RETRY_FAILED",
    "TASK_RETRY_STARTED",
    "TASK_RETRY_FAILED",
    "TASK_FAILED",
    "WORKFLOW_FAILED",
  ]);
  expect(row.failure).toMatchObject({ type: "RangeError", message: "no 3", attempts: 3 });
  expect(events[4]?.value).toMatchObject({ attempt: 2, max_attempts: 3, delay_ms: 1 });
});

test("EXE-38 a retry that succeeds says so and its output is the call's", async () => {
  const second = task({ name: "second", retry: { maxAttempts: 2, delay: 1 } }, async (_, ctx) => {
    if (ctx.attempt === 1) throw new Error("not yet");
    return ctx.attempt;
  });
  const { row, types } = await run(workflow({ name: "again" }, async () => second()));
  expect(types.slice(3, -1)).toEqual([
    "TASK_STARTED",
    "TASK_RETRY_STARTED",
    "TASK_RETRY_COMPLETED",
    "TASK_COMPLETED",
  ]);
  expect(row.output).toBe(2);
});

test("EXE-39 rollback runs before fallback, which gives the result", async () => {
  const order: string[] = [];
  const broken = task(
    {
      name: "broken",
      rollback: async (_, ctx) => void order.push(`rollback after ${ctx.failure?.message}`),
      fallback: async (_, failure) => {
        order.push("fallback");
        return `instead of ${failure.type}`;
      },
    },
    async (): Promise<string> => {
      throw new TerminalError("no", { type: "Gone" });
    },
  );
  const { row, types } = await run(workflow({ name: "saved" }, async () => broken()));
  expect(order).toEqual(["rollback after no", "fallback"]);
  expect(row.output).toBe("instead of Gone");
  expect(types.slice(4, -1)).toEqual([
    "TASK_ROLLBACK_STARTED",
    "TASK_ROLLBACK_COMPLETED",
    "TASK_FALLBACK_STARTED",
    "TASK_FALLBACK_COMPLETED",
    "TASK_COMPLETED",
  ]);
});

test("EXE-39 a failed rollback skips the fallback and rides the original failure", async () => {
  const broken = task(
    {
      name: "broken",
      rollback: async () => {
        throw new Error("cannot undo");
      },
      fallback: async () => "never",
    },
    async () => {
      throw new Error("original");
    },
  );
  const { row, types } = await run(workflow({ name: "w" }, async () => broken()));
  expect(types).not.toContain("TASK_FALLBACK_STARTED");
  expect(row.failure).toMatchObject({
    message: "original",
    details: { rollback: { message: "cannot undo" } },
  });
});

test("EXE-41 an attempt over its timeout fails, its signal aborts, its late result is ignored", async () => {
  let reason: unknown;
  const slow = task({ name: "slow", timeout: 10 }, async (_, { signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    reason = signal.reason;
    return "late";
  });
  const { row, types } = await run(workflow({ name: "w" }, async () => slow()));
  expect(row.failure).toMatchObject({ type: "TaskTimeoutError", code: "timeout" });
  expect(types.slice(2)).toEqual([
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_FAILED",
    "WORKFLOW_FAILED",
  ]);
  expect(row.failure?.message).toContain("slow took longer than its timeout of 10ms");
  expect(reason).toMatchObject({ name: "TaskTimeoutError" });
});

test("EXE-36 a caller catches a TaskError with the failure, equal on replay", async () => {
  const bad = task({ name: "bad" }, async () => {
    throw new RangeError("out", { cause: new Error("deep") });
  });
  const seen: unknown[] = [];
  const wf = workflow({ name: "catches" }, async () => {
    try {
      await bad();
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      seen.push([error.message, error.failure, (error.cause as TaskError).message]);
    }
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume("go");
  await execution.run();
  expect(seen).toHaveLength(2);
  expect(seen[1]).toEqual(seen[0]);
});

test("EXE-7 now, random and uuid are recorded once and equal on replay", async () => {
  const seen: unknown[] = [];
  const wf = workflow({ name: "values" }, async () => {
    const values = [await now(), await random(), await random(1, 6), await uuid()];
    seen.push(values);
    await pause("p");
    return values;
  });
  const execution = await run(wf);
  execution.resume(null);
  await execution.run();
  expect(seen[0]).toEqual(seen[1]);
  expect((seen[0] as unknown[])[0]).toBeInstanceOf(Date);
});

test("I9 the value a body sees live is the decoded stored value", async () => {
  class Money {
    toJSON() {
      return { cents: 5 };
    }
  }
  const original = { at: new Date(5), set: new Set([1]), money: new Money() };
  const give = task({ name: "give" }, async () => original);
  const wf = workflow({ name: "copies" }, async () => {
    const got = await give();
    expect(got).toEqual({ at: new Date(5), set: new Set([1]), money: { cents: 5 } });
    expect(got).not.toBe(original);
    return got.money;
  });
  expect((await run(wf)).row).toMatchObject({ state: "COMPLETED", output: { cents: 5 } });
});

test("EXE-47 an output that cannot be encoded fails the task and names the path", async () => {
  const bad = task({ name: "bad" }, async () => ({ items: [{ client: () => 1 }] }));
  const { row } = await run(workflow({ name: "w" }, async () => bad()));
  expect(row.failure).toMatchObject({
    type: "UnencodableValueError",
    details: { path: "output.items[0].client" },
    task_call_id: "bad~1",
  });
});

test("EXE-47 an argument that cannot be encoded fails the call before its body", async () => {
  let ran = false;
  const bad = task({ name: "bad" }, async (_: unknown) => {
    ran = true;
  });
  const { row, types } = await run(workflow({ name: "w" }, async () => bad({ f: () => 1 })));
  const at = expect.stringMatching(/execution\.test\.ts:\d+:\d+$/);
  expect(row.failure?.details).toEqual({ path: "input.f", at });
  expect(types.slice(3, 5)).toEqual(["TASK_STARTED", "TASK_FAILED"]);
  expect(ran).toBe(false);
});

test("EXE-30 calls inside a task are journaled; a retry makes new ones", async () => {
  const bodies: string[] = [];
  const leaf = task({ name: "leaf" }, async (tag: string) => void bodies.push(tag));
  const outer = task(
    { name: "outer", retry: { maxAttempts: 2, delay: 1 } },
    async (_, { attempt }) => {
      await leaf(`attempt ${attempt}`);
      if (attempt === 1) throw new Error("again");
    },
  );
  const execution = await run(workflow({ name: "w" }, async () => outer()));
  expect(bodies).toEqual(["attempt 1", "attempt 2"]);
  const ids = execution.events
    .filter((e) => e.type === "TASK_STARTED" && e.name === "leaf")
    .map((e) => e.source_id);
  expect(ids).toEqual(["outer~1/leaf~1", "outer~1/leaf~2"]);
});

test("PRG-1 progress reaches the port while somebody listens and never the log", async () => {
  const talks = task({ name: "talks" }, async () => {
    progress({ step: 1 });
    progress(() => 1);
  });
  const wf = workflow({ name: "w" }, async () => talks());
  const silent = await run(wf);
  expect(silent.progress).toEqual([]);
  const heard = start(wf);
  await heard.claim({ listen: true }).ended;
  expect(heard.progress).toEqual([{ step: 1 }]);
  expect(heard.types).toEqual(silent.types);
});

test("EXE-91 a viewer sees that the execution runs before any of its progress", async () => {
  const talks = task({ name: "talks" }, async () => progress("early"));
  const execution = start(workflow({ name: "w" }, async () => talks()));
  const seenAt: boolean[] = [];
  execution.onDelta = () => void seenAt.push(execution.progress.length > 0);
  await execution.claim({ listen: true }).ended;
  expect(seenAt[0]).toBe(false);
  expect(execution.progress).toEqual(["early"]);
});

test("EXE-11 events inside a body end at the newest outcome received, equal on replay", async () => {
  const seen: number[][] = [];
  const wf = workflow({ name: "w" }, async (_: undefined, ctx) => {
    await double(1);
    seen.push(ctx.events.map((e) => e.seq));
    await pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  await execution.run();
  expect(seen[0]).toEqual([1, 2, 3, 4, 5]);
  expect(seen[1]).toEqual(seen[0]);
});

test("a task called outside a workflow says how to call it", async () => {
  await expect(double(1)).rejects.toMatchObject({ code: "no_execution" });
});
