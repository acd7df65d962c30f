import { expect, expectTypeOf, test, vi } from "vitest";
import {
  call,
  getConfig,
  map,
  parallel,
  pause,
  random,
  signal,
  sleep,
  task,
  uuid,
  workflow,
} from "../index.ts";
import type { StandardSchema } from "../standard-schema.ts";
import { type TaskRun, type TestEngine, testEngine } from "./index.ts";

const charge = task({ name: "charge" }, async (cents: number) => ({ receipt: `r${cents}` }));
const ship = task({ name: "ship" }, async (receipt: string) => `parcel of ${receipt}`);
const order = workflow({ name: "order" }, async (cents: number) => {
  const { receipt } = await charge(cents);
  return ship(receipt);
});

function types(engine: TestEngine, id: string): string[] {
  return engine.events(id).map(({ type }) => type);
}

test("EXE-6 a workflow runs in memory and gives what a local run gives", async () => {
  const engine = testEngine();
  const result = await engine.run(order, 900, { version: 3, name: "first order" });
  expect(result).toMatchObject({
    executionId: "e1",
    state: "COMPLETED",
    output: "parcel of r900",
    version: 3,
    label: "first order",
  });
  expectTypeOf(result.output).toEqualTypeOf<string | null>();
  expect(types(engine, "e1")).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(engine.calls).toEqual([
    { executionId: "e1", taskCallId: "charge~1", name: "charge", attempt: 1, input: 900 },
    { executionId: "e1", taskCallId: "ship~1", name: "ship", attempt: 1, input: "r900" },
  ] satisfies TaskRun[]);
});

test("EXE-6 a workflow that fails resolves with its failure", async () => {
  const refused = task({ name: "refused" }, async () => {
    throw new RangeError("no funds");
  });
  const result = await testEngine().run(workflow({ name: "fails" }, async () => refused()));
  expect(result).toMatchObject({ failed: true, failure: { type: "RangeError" }, output: null });
});

test("EXE-6 skipTime passes sleeps and retry delays, short and long, without waiting", async () => {
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 6, delay: "1s", backoff: 10, maxDelay: "1h" } },
    async (_, { attempt }) => {
      if (attempt < 6) throw new Error("not yet");
      return attempt;
    },
  );
  const patient = workflow({ name: "patient" }, async () => {
    const begun = Date.now();
    await sleep("30d");
    await sleep("200ms");
    await new Promise((resolve) => setTimeout(resolve, 700));
    await flaky();
    return Date.now() - begun;
  });
  const engine = testEngine({ skipTime: true });
  const { output } = await engine.run(patient);
  const retries = 1_000 + 10_000 + 100_000 + 1_000_000 + 3_600_000;
  expect(output).toBe(30 * 86_400_000 + 200 + 700 + retries);
  expect(engine.now).toEqual(new Date(Date.parse("2026-01-01T00:00:00Z") + (output ?? 0)));
});

test("EXE-6 without skipTime a sleep waits for advance, which never wakes it early", async () => {
  const engine = testEngine({ now: "2030-05-01T12:00:00Z" });
  const sleeper = workflow({ name: "sleeper" }, async () => {
    await sleep("3h");
    return new Date();
  });
  const { state, waiting } = await engine.run(sleeper);
  expect(state).toBe("RUNNING");
  expect(waiting).toMatchObject([{ kind: "sleep", until: "2030-05-01T15:00:00.000Z" }]);
  await engine.advance(3 * 3_600_000 - 1);
  expect(engine.get("e1").finished).toBe(false);
  await engine.advance(1);
  expect(engine.get("e1")).toMatchObject({
    succeeded: true,
    output: new Date("2030-05-01T15:00:00Z"),
  });
});

test("EXE-6 short waits that keep their slot pass in real time when time is not skipped", async () => {
  const engine = testEngine();
  const result = await engine.run(workflow({ name: "short" }, async () => sleep("20ms")));
  expect(result.succeeded).toBe(true);
  expect(engine.now).toEqual(new Date("2026-01-01T00:00:00.020Z"));
});

const review = workflow({ name: "review" }, async () => {
  const answer = await pause<{ ok: boolean }>("boss", { output: { cents: 900 }, after: "2d" });
  return answer ?? "nobody looked";
});

test("EXE-6 a pause with a wake is somebody's to answer, also when time is skipped", async () => {
  const engine = testEngine({ skipTime: true });
  const paused = await engine.run(review);
  expect(paused).toMatchObject({
    paused: true,
    waiting: [{ name: "boss", output: { cents: 900 } }],
  });
  const { output } = await engine.resume("e1", { ok: true }, { pause: "boss" });
  expect(output).toEqual({ ok: true });
});

test("EXE-6 only advance ends a pause by its time", async () => {
  const engine = testEngine({ skipTime: true });
  await engine.run(review);
  await engine.advance("1d");
  expect(engine.get("e1").paused).toBe(true);
  await engine.advance("1d");
  expect(engine.get("e1")).toMatchObject({ state: "COMPLETED", output: "nobody looked" });
});

test("EXE-6 time that is skipped for a sleep passes for pauses, too", async () => {
  const both = workflow({ name: "both" }, async () =>
    parallel([() => sleep("3d"), () => pause("boss", { after: "1d" })]),
  );
  const engine = testEngine({ skipTime: true });
  expect((await engine.run(both)).succeeded).toBe(true);
  const outcomes = engine.events("e1").filter(({ type }) => type === "TASK_COMPLETED");
  expect(outcomes.map(({ source_id, time }) => [source_id, time])).toEqual([
    ["parallel~1/pause~1", "2026-01-02 00:00:00.000"],
    ["parallel~1/sleep~1", "2026-01-04 00:00:00.000"],
    ["parallel~1", "2026-01-04 00:00:00.000"],
  ]);
});

test("EXE-6 advance lets everything due happen in order, each before the next", async () => {
  const order: string[] = [];
  const say = task({ name: "say" }, async (text: string) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push(text);
  });
  const sleeper = workflow({ name: "two_sleeps" }, async (hours: number) => {
    await sleep(`${hours}h`);
    await say(`${hours}h`);
    await sleep(`${hours}h`);
    await say(`${hours * 2}h`);
  });
  const engine = testEngine();
  await Promise.all([3, 1, 2].map((hours) => engine.run(sleeper, hours)));
  await engine.advance("1d");
  expect(order).toEqual(["1h", "2h", "2h", "3h", "4h", "6h"]);
});

test("EXE-6 signals reach who waits for them, also when they come first", async () => {
  const paid = workflow({ name: "paid" }, async () => [
    await signal<number>("paid"),
    await signal<number>("paid", { timeout: "1d" }),
    await signal<number>("paid", { timeout: "1d" }),
  ]);
  const engine = testEngine({ skipTime: true });
  expect((await engine.run(paid)).waiting).toMatchObject([{ kind: "signal", name: "paid" }]);
  await Promise.all([engine.signal("e1", "paid", 1), engine.signal("e1", "paid", 2)]);
  expect(engine.get("e1").waiting).toMatchObject([{ kind: "signal", task_call_id: "signal~3" }]);
  await engine.advance("1d");
  expect(engine.get("e1").output).toEqual([1, 2, undefined]);
});

test("EXE-6 children run in the same engine, and a cancel goes down to them", async () => {
  const engine = testEngine({ skipTime: true });
  const parent = workflow({ name: "parent" }, async (wait: boolean) => {
    const done = await call(order, 5);
    if (wait) await call(review);
    return done;
  });
  expect(await engine.run(parent, false)).toMatchObject({ output: "parcel of r5" });
  const open = await engine.run(parent, true, { executionId: "mine" });
  expect(open.waiting).toMatchObject([{ kind: "child", name: "default/review" }]);
  const child = open.waiting[0]?.execution_id ?? "";
  expect(engine.get(child)).toMatchObject({ paused: true, parentId: "mine" });
  const cancelled = await engine.cancel("mine", { reason: "enough" });
  expect(cancelled.cancelled).toBe(true);
  expect(engine.get(child).cancelled).toBe(true);
  const asked = engine.events("mine").find(({ type }) => type === "WORKFLOW_CANCELLING");
  expect(asked?.meta).toMatchObject({ cause: "request", reason: "enough" });
});

/** A schema that takes what `isFine` says, as a library makes it. */
function schemaOf(
  vendor: string,
  isFine: (value: unknown) => boolean,
  issue: { readonly code?: string } = {},
): StandardSchema<unknown> {
  const issues = [{ message: "expected a number", path: ["items", 2, "sku"], ...issue }];
  const validate = (value: unknown) => (isFine(value) ? { value } : { issues });
  return { "~standard": { version: 1, vendor, validate } };
}

test.each([
  ["by itself, before there is one, when a server would have refused it", "zod", {}, false],
  ["with the child when a server cannot read the schema", "another", {}, true],
  ["with the child when a function in the schema refuses it", "zod", { code: "custom" }, true],
])("EXE-83 a call whose input its child refuses fails %s", async (_, vendor, issue, hasChild) => {
  const input = schemaOf(vendor, (value) => value === 1, issue);
  const child = workflow({ name: "child", input }, async () => "ran");
  const parent = workflow({ name: "parent" }, async () => {
    const [refused] = await parallel([() => call(child, "no")], { settle: true });
    return [refused, await call(child, 1)];
  });
  const engine = testEngine({ alwaysReplay: true });
  const { output } = await engine.run(parent);
  const own = {
    type: "InvalidInputError",
    code: "invalid_input",
    retryable: false,
    message: "call of default/child: input.items[2].sku: expected a number",
    details: { issues: [{ path: "input.items[2].sku", message: "expected a number" }] },
    task_call_id: "parallel~1/call~1",
  };
  const ofChild = { type: "ChildFailedError", cause: { type: "InvalidInputError" } };
  const failure = hasChild ? ofChild : own;
  expect(output).toMatchObject([{ status: "rejected", failure }, "ran"]);
  expect(engine.get("e2")).toMatchObject(hasChild ? { failed: true } : { output: "ran" });
});

test("EXE-6 a mock replaces the function of a task and of its copies until it is taken back", async () => {
  const engine = testEngine({ skipTime: true });
  const urgent = ship.with({ retry: { maxAttempts: 3 } });
  const wf = workflow({ name: "mocked" }, async () => [await ship("a"), await urgent("b")]);
  const restore = engine.mock(ship, async (receipt, { attempt, taskCallId }) => {
    if (taskCallId === "ship~2" && attempt < 3) throw new Error("busy");
    return `mock of ${receipt}`;
  });
  expect((await engine.run(wf)).output).toEqual(["mock of a", "mock of b"]);
  expect(engine.calls.map(({ taskCallId, attempt }) => `${taskCallId} ${attempt}`)).toEqual([
    "ship~1 1",
    "ship~2 1",
    "ship~2 2",
    "ship~2 3",
  ]);
  expect((await testEngine().run(wf)).output).toEqual(["parcel of a", "parcel of b"]);
  restore();
  expect((await engine.run(wf)).output).toEqual(["parcel of a", "parcel of b"]);
});

test("EXE-6 a mock leaves fallback and rollback to the task", async () => {
  const done: string[] = [];
  const book = task(
    {
      name: "book",
      fallback: async (_: number, { message }) => `instead of ${message}`,
      rollback: async () => void done.push("undone"),
    },
    async () => "booked",
  );
  const engine = testEngine();
  engine.mock(book, () => {
    throw new Error("mocked");
  });
  const { output } = await engine.run(workflow({ name: "books" }, async () => book(1)));
  expect([output, done]).toEqual(["instead of mocked", ["undone"]]);
});

test("EXE-6 crashAfter loses the copy right after an outcome; no recorded task runs again", async () => {
  const engine = testEngine();
  engine.crashAfter("charge~1");
  expect((await engine.run(order, 7)).output).toBe("parcel of r7");
  expect(engine.calls.map(({ taskCallId }) => taskCallId)).toEqual(["charge~1", "ship~1"]);
  expect(types(engine, "e1").slice(4)).toEqual([
    "TASK_COMPLETED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);
});

test("EXE-6 a task that runs while the copy is lost runs again under the same key", async () => {
  const keys: string[] = [];
  const slow = task({ name: "slow" }, async (_, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  const wf = workflow({ name: "beside" }, async () => parallel([() => charge(1), () => slow()]));
  const engine = testEngine();
  engine.crashAfter("parallel~1/charge~1");
  expect((await engine.run(wf)).succeeded).toBe(true);
  expect(keys).toEqual(["e1:parallel~1/slow~1", "e1:parallel~1/slow~1"]);
});

test("EXE-6 crashAfter a pause loses the copy that its answer woke", async () => {
  const engine = testEngine();
  const wf = workflow({ name: "asks" }, async () => {
    const n = await pause<number>("n");
    return [await charge(n), await charge(n + 1)];
  });
  engine.crashAfter("pause~1");
  await engine.run(wf);
  expect((await engine.resume("e1", 1)).output).toEqual([{ receipt: "r1" }, { receipt: "r2" }]);
  const claims = types(engine, "e1").filter((type) => type === "WORKFLOW_CLAIMED");
  expect(claims).toHaveLength(3);
});

test("EXE-6 a crash planned after a call that never came is reported when the run ends", async () => {
  const engine = testEngine();
  engine.crashAfter("chargé~1");
  await expect(engine.run(order, 1)).rejects.toThrow(
    'crashAfter("chargé~1") never came about: no call of that id had an outcome; did you mean charge~1? (those that had: charge~1, ship~1)',
  );
  expect((await engine.run(order, 1)).succeeded).toBe(true);
});

test("EXE-6 alwaysReplay finds a body that is not deterministic, and leaves others alone", async () => {
  let calls = 0;
  const drifting = workflow({ name: "drifting" }, async () => {
    if (calls++ % 2 === 0) await charge(1);
    await ship("a");
  });
  const { failure } = await testEngine({ alwaysReplay: true }).run(drifting);
  expect(failure).toMatchObject({ type: "NondeterminismError" });
  expect(failure?.details).toMatchObject({
    position: 0,
    expected: { task_call_id: "charge~1" },
    found: { task_call_id: "ship~1" },
  });
  calls = 0;
  expect((await testEngine().run(drifting)).succeeded).toBe(true);

  const engine = testEngine({ alwaysReplay: true });
  const { output } = await engine.run(order, 3);
  expect(output).toBe("parcel of r3");
  expect(engine.calls.map(({ taskCallId }) => taskCallId)).toEqual(["charge~1", "ship~1"]);
  const claims = types(engine, "e1").filter((type) => type === "WORKFLOW_CLAIMED");
  expect(claims).toHaveLength(3);
});

test("EXE-6 what arrives twice changes nothing", async () => {
  const wf = workflow({ name: "much" }, async () => {
    const answer = await parallel([() => pause("p"), () => call(order, 5), () => sleep("2h")]);
    return [...answer, await signal("s"), await map([1, 2], (n) => charge(n))];
  });
  async function logOf(duplicateDelivery: boolean) {
    const engine = testEngine({ skipTime: true, duplicateDelivery });
    await engine.run(wf);
    await engine.signal("e1", "s", "early");
    const { output } = await engine.resume("e1", "go");
    expect(output).toMatchObject(["go", "parcel of r5", undefined, "early", [{}, {}]]);
    return [engine.events("e1"), engine.events("e2")];
  }
  expect(await logOf(true)).toEqual(await logOf(false));
});

test("EXE-6 two runs of a test give the same log, chance and time included", async () => {
  const wf = workflow({ name: "chance" }, async () => [
    await random(),
    await random(1, 1000),
    await uuid(),
    Math.random(),
    await charge(1),
  ]);
  const logs = await Promise.all(
    [1, 2].map(async () => {
      const engine = testEngine();
      await engine.run(wf);
      return engine.history("e1");
    }),
  );
  expect(logs[0]).toEqual(logs[1]);
  const [first, second] = await Promise.all([1, 2].map(() => testEngine().run(wf)));
  expect(first?.output).toEqual(second?.output);
});

test("EXE-6 secrets and configs come from the options", async () => {
  const pay = task({ name: "pay", secrets: ["key"] }, async (_, { secrets }) => secrets["key"]);
  const wf = workflow({ name: "pays" }, async () => [await pay(), await getConfig("rate")]);
  const engine = testEngine({ secrets: { key: "k1" }, configs: { rate: 7 } });
  expect((await engine.run(wf)).output).toEqual(["k1", 7]);
  const { failure } = await testEngine().run(wf);
  expect(failure?.type).toBe("SecretMissingError");
});

test("EXE-6 a timeout passes under a task that hangs when time is advanced", async () => {
  const hangs = task(
    { name: "hangs", timeout: "30s", retry: { maxAttempts: 2, delay: "10s" } },
    (): Promise<string> => new Promise(() => {}),
  );
  const engine = testEngine({ skipTime: true });
  const running = engine.run(workflow({ name: "hung" }, async () => hangs()));
  await engine.advance("2m");
  const { failure } = await running;
  expect(failure).toMatchObject({ type: "TaskTimeoutError", attempts: 2 });
});

test("EXE-6 a timed out attempt that never returns does not hold up time", async () => {
  const hangs = task(
    { name: "hangs_once", timeout: 20, retry: { maxAttempts: 2, delay: "1h" } },
    (_, { attempt }) => (attempt === 1 ? new Promise(() => {}) : Promise.resolve(attempt)),
  );
  const engine = testEngine({ skipTime: true });
  const { output } = await engine.run(workflow({ name: "hung_once" }, async () => hangs()));
  expect(output).toBe(2);
});

test("EXE-6 a task that waits for calls of its own lets time be skipped", async () => {
  const outer = task({ name: "outer" }, async () => {
    await sleep("500ms");
    await sleep("5h");
    return charge(2);
  });
  const engine = testEngine({ skipTime: true });
  const { output } = await engine.run(workflow({ name: "nested" }, async () => outer()));
  expect(output).toEqual({ receipt: "r2" });
});

test("EXE-6 an output too large for the log is given whole", async () => {
  const big = task({ name: "big" }, async () => "x".repeat(1000));
  const engine = testEngine({ limits: { inline_value_bytes: 100 }, alwaysReplay: true });
  const { output, events } = await engine.run(workflow({ name: "large" }, async () => big()));
  expect(output).toBe("x".repeat(1000));
  expect(JSON.stringify(events)).toContain("$stored");
});

test("EXE-6 misuse is told with the fix", async () => {
  const engine = testEngine();
  expect(() => engine.get("e9")).toThrow(
    "this engine has no execution e9 (it has: none; run() starts one)",
  );
  await engine.run(order, 1);
  await expect(engine.resume("e9")).rejects.toThrow("no execution e9 (it has: e1)");
  await expect(engine.signal("e9", "s")).rejects.toThrow("no execution e9 (it has: e1)");
  await expect(engine.cancel("e9")).rejects.toThrow("no execution e9 (it has: e1)");
  await expect(engine.resume("e1")).rejects.toMatchObject({ code: "execution_finished" });
  await expect(engine.run(order, 1, { executionId: "e1" })).rejects.toMatchObject({
    code: "conflict",
  });
  await expect(engine.advance("2 days" as "2d")).rejects.toThrow('such as "2d"; got 2 days');
  expect(() => engine.crashAfter("charge")).toThrow('such as "charge~1"');
  const plain = async (cents: number) => cents;
  // @ts-expect-error a function is no task
  expect(() => engine.mock(plain, plain)).toThrow("takes a task made by task()");
  // @ts-expect-error nothing to run
  expect(() => engine.mock(charge)).toThrow("mock() of task charge takes the function to run");
  // @ts-expect-error a function is no workflow
  await expect(engine.run(plain, 1)).rejects.toThrow("takes a workflow made by workflow()");
  expect(() => testEngine({ now: "soon" })).toThrow("option now must be a date; got soon");
});

test("EXE-6 fake timers of the test runner do not stop the engine", async () => {
  vi.useFakeTimers();
  try {
    const engine = testEngine({ skipTime: true });
    const wf = workflow({ name: "faked" }, async () => {
      await sleep("300ms");
      await sleep("3h");
      return charge(1);
    });
    expect((await engine.run(wf)).output).toEqual({ receipt: "r1" });
  } finally {
    vi.useRealTimers();
  }
});

test("EXE-6 what runs beside an execution does not hold up its result", async () => {
  let open = (_: string) => {};
  const gate = task({ name: "gate" }, () => new Promise<string>((resolve) => (open = resolve)));
  const engine = testEngine();
  const slow = engine.run(workflow({ name: "slow" }, async () => gate()));
  expect((await engine.run(order, 1)).succeeded).toBe(true);
  open("late");
  expect((await slow).output).toBe("late");
});

test("EXE-6 a cancel rolls back what ran, and a body that ignores it gets its grace", async () => {
  const undone: string[] = [];
  const hold = task(
    { name: "hold", rollback: async (what: string) => void undone.push(what) },
    (_: string) => new Promise<never>(() => {}),
  );
  const engine = testEngine({ limits: { sibling_grace: 0.01 }, alwaysReplay: true });
  const wf = workflow({ name: "held" }, async () => parallel([() => hold("a"), () => hold("b")]));
  const running = engine.run(wf);
  await engine.advance(1);
  expect((await engine.cancel("e1")).cancelled).toBe(true);
  expect((await running).cancelled).toBe(true);
  expect(undone.sort()).toEqual(["a", "b"]);
});

test("EXE-33 a call that is given up just before its function begins is not run at all", async () => {
  const engine = testEngine({ log: () => {} });
  const beside = task({ name: "beside" }, () => new Promise<never>(() => {}));
  const wf = workflow({ name: "leaves" }, async () => {
    void beside();
    return charge(1);
  });
  engine.crashAfter("charge~1");
  expect((await engine.run(wf)).output).toEqual({ receipt: "r1" });
  // Once by the copy that was lost; the other one is over before it would begin.
  expect(engine.calls.map(({ name }) => name)).toEqual(["beside", "charge"]);
});

test("EXE-6 a machine that is held up at every turn does not change what is recorded", async () => {
  const double = task({ name: "double" }, async (n: number) => n * 2);
  const wf = workflow({ name: "held_up" }, async () => {
    const first = await double(1);
    await sleep("1h");
    return [first, await double(2), await parallel([() => double(3), () => double(4)])];
  });
  const record = async () => {
    const engine = testEngine({ skipTime: true });
    for (const id of ["double~1", "sleep~1", "parallel~1/double~2"]) engine.crashAfter(id);
    await engine.run(wf);
    return engine.events("e1");
  };
  const expected = await record();
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const hog = setInterval(() => Atomics.wait(cell, 0, 0, 8), 1);
  try {
    expect(await record()).toEqual(expected);
  } finally {
    clearInterval(hog);
  }
});
