import { expect, test } from "vitest";
import {
  type AnyWorkflow,
  map,
  now,
  parallel,
  pause,
  pipeline,
  progress,
  random,
  TaskError,
  TerminalError,
  task,
  uuid,
  workflow,
} from "../index.ts";
import { nodeHost } from "./host.ts";
import { MemoryExecution } from "./memory-execution.ts";

const host = nodeHost();
const start = (wf: AnyWorkflow, input?: unknown) => new MemoryExecution(wf, input, host);
const run = async (wf: AnyWorkflow, input?: unknown) => {
  const execution = new MemoryExecution(wf, input, host);
  await execution.run();
  return execution;
};

const double = task({ name: "double" }, async (n: number) => n * 2);

test("EXE-25 a success writes created, claimed, started, the task's two events, completed", async () => {
  const wf = workflow({ name: "one" }, async (n: number) => double(n));
  const { row, types } = await run(wf, 21);
  expect(row).toMatchObject({ state: "COMPLETED", output: 42 });
  expect(types).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);
});

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
  const { row } = await run(workflow({ name: "w" }, async () => slow()));
  expect(row.failure).toMatchObject({ type: "TaskTimeoutError", code: "timeout" });
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

test("EXE-25 a pause parks in one commit and a resume continues without running tasks again", async () => {
  let bodies = 0;
  const counted = task({ name: "counted" }, async () => ++bodies);
  const wf = workflow({ name: "waits" }, async () => {
    const n = await counted();
    const answer = await pause<{ ok: boolean }>("review", { output: { n } });
    return { n, answer };
  });
  const execution = await run(wf);
  expect(execution.row).toMatchObject({ state: "PAUSED", session: null });
  expect(execution.row.waits).toMatchObject([{ name: "review", output: { n: 1 } }]);
  execution.resume({ ok: true });
  expect(execution.row.state).toBe("RESUMING");
  await execution.run();
  expect(execution.row).toMatchObject({
    state: "COMPLETED",
    output: { n: 1, answer: { ok: true } },
  });
  expect(bodies).toBe(1);
  expect(execution.types.slice(5)).toEqual([
    "TASK_STARTED",
    "TASK_PAUSED",
    "WORKFLOW_PAUSED",
    "TASK_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
});

test("EXE-25 two pauses in parallel make one WORKFLOW_PAUSED, and are resumed by name", async () => {
  const wf = workflow({ name: "two" }, async () =>
    parallel([() => pause("left"), () => pause("right")]),
  );
  const execution = await run(wf);
  expect(execution.types.filter((t) => t === "WORKFLOW_PAUSED")).toHaveLength(1);
  expect(() => execution.resume(1)).toThrow(/2 open pauses/);
  execution.resume("L", "left");
  await execution.run();
  expect(execution.row.state).toBe("PAUSED");
  execution.resume("R", "right");
  await execution.run();
  expect(execution.row.output).toEqual(["L", "R"]);
});

test("CKP-3 a resume recorded before the pause wins over it", async () => {
  let release = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (release = resolve)));
  const wf = workflow({ name: "race" }, async () => parallel([() => pause("early"), () => slow()]));
  const execution = start(wf);
  const copy = execution.claim();
  await until(() => execution.types.includes("TASK_PAUSED"));
  execution.resume("soon");
  release();
  await copy.ended;
  expect(execution.row).toMatchObject({ state: "COMPLETED" });
  expect(execution.types).not.toContain("WORKFLOW_PAUSED");
  expect(execution.types.filter((t) => t === "TASK_COMPLETED")).toHaveLength(3);
});

test("CKP-3 a resume that lands while the pause is being written withdraws the pause", async () => {
  const linger = task({ name: "linger" }, () => new Promise<void>((r) => setTimeout(r, 30)));
  const wf = workflow({ name: "late" }, async () => {
    const [answer] = await parallel([() => pause("p"), () => linger()]);
    return answer;
  });
  const execution = start(wf);
  execution.onDelta = (delta) => {
    if (delta.events.includes("WORKFLOW_PAUSED") && execution.row.waits.length)
      execution.resume("won");
  };
  await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: "won" });
  expect(execution.types).not.toContain("WORKFLOW_PAUSED");
});

test("EXE-52 an outcome pushed to a running copy continues it at once", async () => {
  let release = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (release = resolve)));
  const after = task({ name: "after" }, async (x: unknown) => x);
  const wf = workflow({ name: "pushed" }, async () =>
    parallel([async () => after(await pause("p")), () => slow()]),
  );
  const execution = start(wf);
  const copy = execution.claim();
  await until(() => execution.types.includes("TASK_PAUSED"));
  const base = execution.row.head;
  execution.resume("hello");
  copy.deliver(base, execution.events.slice(base));
  await until(() => execution.events.some((e) => e.name === "after"));
  release();
  await copy.ended;
  expect(execution.row.state).toBe("COMPLETED");
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
  expect(row.failure?.details).toEqual({ path: "input.f" });
  expect(types.slice(3, 5)).toEqual(["TASK_STARTED", "TASK_FAILED"]);
  expect(ran).toBe(false);
});

test("EXE-46 the first failure of parallel aborts the others and is what the caller catches", async () => {
  let aborted = false;
  const hangs = task({ name: "hangs" }, (_, { signal }) => {
    signal.addEventListener("abort", () => (aborted = true));
    return new Promise(() => {});
  });
  const fails = task({ name: "fails" }, async () => {
    throw new Error("first");
  });
  const wf = workflow({ name: "w" }, async () => {
    try {
      const twice = async () => {
        await hangs();
        return double(1);
      };
      await parallel([() => hangs(), () => fails(), twice]);
      return "no failure";
    } catch (error) {
      return (error as Error).message;
    }
  });
  const { row, events } = await run(wf);
  expect(row).toMatchObject({ state: "COMPLETED", output: "first" });
  expect(aborted).toBe(true);
  const cancelled = events.filter((e) => e.type === "TASK_CANCELLED").map((e) => e.source_id);
  expect(cancelled.sort()).toEqual(["parallel~1/hangs~1", "parallel~1/hangs~2"]);
});

test("EXE-7 settle never fails and tells how each branch ended", async () => {
  const fails = task({ name: "fails" }, async () => {
    throw new Error("no");
  });
  const wf = workflow({ name: "w" }, async () =>
    map([1, 2], (n) => (n === 1 ? double(n) : fails()), { settle: true }),
  );
  const { row } = await run(wf);
  expect(row.output).toMatchObject([
    { status: "fulfilled", value: 2 },
    { status: "rejected", failure: { message: "no" } },
  ]);
});

test("EXE-7 map keeps to its concurrency and the order of its items", async () => {
  let running = 0;
  let most = 0;
  const step = task({ name: "step" }, async (n: number) => {
    most = Math.max(most, ++running);
    await new Promise((r) => setTimeout(r, 2));
    running--;
    return n * 10;
  });
  const wf = workflow({ name: "w" }, async () =>
    map([1, 2, 3, 4, 5], (n) => step(n), { concurrency: 2 }),
  );
  const { row } = await run(wf);
  expect(row.output).toEqual([10, 20, 30, 40, 50]);
  expect(most).toBe(2);
});

test("EXE-7 pipeline passes each output on", async () => {
  const wf = workflow({ name: "w" }, async (n: number) =>
    pipeline(n, double, (x: number) => x + 1, double),
  );
  expect((await run(wf, 1)).row.output).toBe(6);
});

test("EXE-33 losers of a race stay open until the body ends, then are recorded as cancelled", async () => {
  const quick = task({ name: "quick" }, async () => "quick");
  const never = task({ name: "never" }, () => new Promise<string>(() => {}));
  const wf = workflow({ name: "w" }, async () => Promise.race([quick(), never()]));
  const { row, types } = await run(wf);
  expect(row).toMatchObject({ state: "COMPLETED", output: "quick" });
  expect(types.slice(-2)).toEqual(["TASK_CANCELLED", "WORKFLOW_COMPLETED"]);
});

test("EXE-28 code that makes another call than the log has fails, naming both", async () => {
  const other = task({ name: "other" }, async () => 0);
  let isChanged = false;
  const wf = workflow({ name: "w" }, async () => {
    await (isChanged ? other() : double(1));
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  isChanged = true;
  await execution.run();
  expect(execution.row.failure).toMatchObject({
    type: "NondeterminismError",
    code: "nondeterminism",
    details: {
      position: 0,
      expected: { task_call_id: "double~1" },
      found: { task_call_id: "other~1" },
    },
  });
  expect(execution.types.slice(-2)).toEqual(["WORKFLOW_RESUMED", "WORKFLOW_FAILED"]);
});

test("EXE-28 a recorded call that the code no longer makes is a divergence", async () => {
  let isChanged = false;
  const wf = workflow({ name: "w" }, async () => {
    if (!isChanged) await double(1);
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  isChanged = true;
  await execution.run();
  expect(execution.row.failure).toMatchObject({ type: "NondeterminismError" });
});

test("EXE-28 a pause under another name is a divergence that names both labels", async () => {
  let name = "before";
  const wf = workflow({ name: "w" }, async () => pause(name));
  const execution = await run(wf);
  execution.resume(null);
  name = "after";
  await execution.run();
  expect(execution.row.failure?.details).toMatchObject({
    expected: { label: "before" },
    found: { label: "after" },
  });
});

test("EXE-29 another argument is a warning, once, and the recorded outcome is used", async () => {
  let n = 1;
  const wf = workflow({ name: "w" }, async () => [
    await double(n),
    await pause("p"),
    await pause("q"),
  ]);
  const execution = await run(wf);
  n = 2;
  execution.resume(null);
  await execution.run();
  execution.resume(null);
  await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: [2, null, null] });
  const warnings = execution.events.filter((e) => e.type === "WORKFLOW_WARNING");
  expect(warnings.map((e) => e.value)).toMatchObject([
    { code: "argument_changed", task_call_id: "double~1" },
  ]);
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

test("a pause inside a task parks, and the task goes on from its journal", async () => {
  let leafs = 0;
  const leaf = task({ name: "leaf" }, async () => ++leafs);
  const outer = task({ name: "outer" }, async () => [await leaf(), await pause("inside")]);
  const execution = await run(workflow({ name: "w" }, async () => outer()));
  expect(execution.row.state).toBe("PAUSED");
  execution.resume("in");
  await execution.run();
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: [1, "in"] });
  expect(leafs).toBe(1);
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

test("I6 a copy whose claim was taken over writes nothing more", async () => {
  let release = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (release = resolve)));
  const execution = start(workflow({ name: "w" }, async () => slow()));
  const first = execution.claim();
  await until(() => execution.types.includes("TASK_STARTED"));
  const second = execution.claim();
  release();
  expect(await first.ended).toBe("stopped");
  await until(() => execution.types.includes("WORKFLOW_RESUMED"));
  release();
  expect(await second.ended).toBe("terminal");
  expect(execution.types.filter((t) => t === "TASK_COMPLETED")).toHaveLength(1);
});

test("WRK-9 a running copy whose claim is renewed says that it resumed and runs nothing again", async () => {
  let bodies = 0;
  let release = () => {};
  const slow = task({ name: "slow" }, () => {
    bodies++;
    return new Promise<void>((resolve) => (release = resolve));
  });
  const execution = start(workflow({ name: "w" }, async () => slow()));
  const copy = execution.claim();
  await until(() => execution.types.includes("TASK_STARTED"));
  const base = execution.row.head;
  execution.renewClaim();
  copy.deliver(base, execution.events.slice(base));
  release();
  expect(await copy.ended).toBe("terminal");
  expect(bodies).toBe(1);
  expect(execution.types.slice(4)).toEqual([
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);
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

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
