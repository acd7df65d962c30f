import { decideCancel, EngineError } from "@engine/contract";
import {
  type AnyWorkflow,
  call,
  parallel,
  pause,
  type RunResult,
  type StandardSchema,
  signal,
  sleep,
  TaskError,
  task,
  workflow,
} from "@engine/sdk";
import type { Store } from "@engine/store";
import { expect, test } from "vitest";
import { ManualHost, openTemporary, temporaryFolder, until } from "./testing/temporary-local.ts";

const double = workflow({ name: "double", namespace: "math" }, async (n: number) => n * 2);

const failing = workflow({ name: "failing_child" }, async () => {
  throw new Error("no paper");
});

const asking = workflow({ name: "asking" }, async () => pause<string>("ask"));

const WORKFLOWS = new Map<string, AnyWorkflow>(
  [double, failing, asking].map((wf) => [wf.qualifiedName, wf]),
);
const findWorkflow = (name: string) => WORKFLOWS.get(name);

/** Runs a call and gives what it gave, or its failure. */
const caller = workflow(
  { name: "caller" },
  async ({ target, input, version }: { target: string; input?: unknown; version?: number }) => {
    try {
      return await call(target, input, version === undefined ? {} : { version });
    } catch (error) {
      if (error instanceof TaskError) return error.failure;
      throw error;
    }
  },
);

function typesOf({ events }: RunResult): string[] {
  return events.map(({ type }) => type);
}

const ALL = { order: "created_asc", limit: 100, offset: 0 } as const;

async function childrenOf(store: Store, parent_id: string) {
  return (await store.executions.list({ parent_id, ...ALL })).items;
}

async function stateOf(store: Store, execution_id: string): Promise<string | undefined> {
  return (await store.executions.find(execution_id))?.state;
}

test("RIN-1 RIN-2 a routing input means nothing in a local run, and a bad one is refused all the same", async () => {
  const routed = workflow({ name: "routed" }, async () => {
    const given = await call(double, 2, { routingInput: { dataset: "berlin" } });
    const bad = { routingInput: { dataset: ["berlin"] } as never };
    const refused = await call(double, 2, bad).catch((error: TaskError) => error.failure);
    return [given, refused];
  });
  const { local, store } = await openTemporary({ findWorkflow });
  const { output, events } = await local.run(routed, null);
  expect(output).toMatchObject([
    4,
    { type: "InvalidInputError", details: { reason: "bad_value" } },
  ]);
  const { items } = await store.executions.list(ALL);
  expect(items.map(({ workflow, routing_input }) => [workflow, routing_input])).toEqual([
    ["routed", null],
    ["double", null],
  ]);
  expect(JSON.stringify(events)).not.toContain("berlin");
});

test("EXE-54 a child runs as an execution of its own, linked to its parent", async () => {
  const { local, store } = await openTemporary({ findWorkflow });
  const parent = await local.run(caller, { target: "math/double", input: 21 });
  expect(parent).toMatchObject({ state: "COMPLETED", output: 42 });
  const [child, ...others] = await childrenOf(store, parent.executionId);
  expect(others).toEqual([]);
  expect(child).toMatchObject({
    namespace: "math",
    workflow: "double",
    state: "COMPLETED",
    version: null,
    parent_id: parent.executionId,
    parent_call_id: "call~1",
    depth: 1,
    generation: 1,
  });
  const log = await store.log.read(child?.execution_id ?? "");
  expect(log.map(({ event }) => event.type)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(log[0]?.event.value).toMatchObject({ trigger: { kind: "call" } });
  expect(log[1]?.event.value).toMatchObject({ worker: "local" });
});

test("EXE-55 a child's end and the outcome of its call are one commit, before the parent goes on", async () => {
  const seen: unknown[] = [];
  let store: Store | undefined;
  const look = task({ name: "look" }, async () => {
    const [parent] = (await store?.executions.list({ workflow: "looking", ...ALL }))?.items ?? [];
    const log = await store?.log.read(parent?.execution_id ?? "");
    seen.push(...(log ?? []).map(({ event: { type, source_id } }) => [type, source_id]));
  });
  const wf = workflow({ name: "looking" }, async () => {
    const doubled = await call(double, 21);
    await look();
    return doubled;
  });
  let commits = Date.now();
  const opened = await openTemporary({ findWorkflow, commitClock: () => ++commits });
  store = opened.store;
  const parent = await opened.local.run(wf);
  expect(parent.output).toBe(42);
  expect(seen).toContainEqual(["TASK_COMPLETED", "call~1"]);
  const [child] = await childrenOf(store, parent.executionId);
  const ended = await store.log.read(child?.execution_id ?? "");
  const answered = (await store.log.read(parent.executionId)).find(({ event }) => {
    return event.type === "TASK_COMPLETED" && event.source_id === "call~1";
  });
  expect(answered?.recorded_at).toBe(ended.at(-1)?.recorded_at);
});

test("EXE-25 EXE-55 a child that takes longer lets its parent park, and its outcome wakes it", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = workflow({ name: "slow_double" }, async (n: number) => {
    await task({ name: "wait" }, () => gate.promise)();
    return n * 2;
  });
  const { local, store } = await openTemporary({ findWorkflow: () => slow });
  const result = local.run(caller, { target: "slow_double", input: 21 });
  const isParked = async () => {
    const [row] = (await store.executions.list({ workflow: "caller", ...ALL })).items;
    return row?.waits.length === 1 && row.session === null;
  };
  await until(isParked);
  gate.resolve();
  const parent = await result;
  expect(typesOf(parent)).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "TASK_COMPLETED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
  const resuming = parent.events.find(({ type }) => type === "WORKFLOW_RESUMING");
  expect(resuming?.meta).toMatchObject({ cause: "child", task_call_id: "call~1" });
});

test("EXE-55 a child that fails rejects the call with its failure as the cause", async () => {
  const { local } = await openTemporary({ findWorkflow });
  const { output } = await local.run(caller, { target: "failing_child" });
  expect(output).toMatchObject({ type: "ChildFailedError", cause: { message: "no paper" } });
});

test("EXE-83 a call whose input the child's schema refuses fails by itself, and no child is made", async () => {
  const issues = [{ message: "expected a number", path: [] }];
  const validate = () => ({ issues });
  const input: StandardSchema<unknown, number> = {
    "~standard": { version: 1, vendor: "zod", validate },
  };
  const picky = workflow({ name: "picky", input }, async (n) => n);
  const { local, store } = await openTemporary({ findWorkflow: () => picky });
  const parent = await local.run(caller, { target: "picky", input: "no" });
  expect(parent.output).toMatchObject({
    type: "InvalidInputError",
    message: "call of default/picky: input: expected a number",
  });
  expect(await childrenOf(store, parent.executionId)).toEqual([]);
});

test("EXE-57 a workflow that the program does not define is not found, and the message says why", async () => {
  const { local, store } = await openTemporary({ findWorkflow });
  const parent = await local.run(caller, { target: "shop/unknown" });
  expect(parent.output).toMatchObject({
    type: "NotFoundError",
    message: expect.stringMatching(/shop\/unknown.*local run calls only workflows/),
  });
  expect(await childrenOf(store, parent.executionId)).toEqual([]);
});

test("EXE-54 a local run has no versions to call", async () => {
  const { local } = await openTemporary({ findWorkflow });
  const { output } = await local.run(caller, { target: "math/double", input: 1, version: 3 });
  expect(output).toMatchObject({ type: "NotFoundError" });
});

test("EXE-57 calls nest no deeper than max_depth", async () => {
  const endless: AnyWorkflow = workflow({ name: "endless" }, async () => call("endless"));
  const { local, store } = await openTemporary({ limits: { max_depth: 3 } });
  const { failure } = await local.run(endless);
  const types: string[] = [];
  for (let f = failure; f; f = f.cause) types.push(f.type);
  expect(types).toEqual([...Array(3).fill("ChildFailedError"), "DepthLimitError"]);
  const page = { order: "created_asc", limit: 10, offset: 0 } as const;
  expect((await store.executions.list(page)).items.map(({ depth }) => depth)).toEqual([0, 1, 2, 3]);
});

test("EXE-55 a hundred children of one parent run at once", async () => {
  const many = workflow({ name: "many" }, async () => {
    const calls = Array.from({ length: 100 }, (_, n) => () => call(double, n));
    const doubles = (await parallel(calls)) as number[];
    return doubles.reduce((sum, n) => sum + n, 0);
  });
  const { local } = await openTemporary({ findWorkflow });
  expect((await local.run(many)).output).toBe(9900);
});

test("EXE-55 a child of a task that still runs is told to a parent that never parked", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = task({ name: "slow" }, () => gate.promise.then(() => "slow"));
  const opener = task({ name: "opener" }, async () => gate.resolve());
  const wf = workflow({ name: "busy_parent" }, async () => {
    return parallel([() => slow(), async () => [await call(double, 4), await opener()][0]]);
  });
  const { local } = await openTemporary({ findWorkflow });
  const parent = await local.run(wf);
  expect(parent.output).toEqual(["slow", 8]);
  expect(typesOf(parent)).not.toContain("WORKFLOW_RESUMING");
});

test("EXE-55 a child that pauses keeps its parent waiting; continuing it continues the parent", async () => {
  const { local, store } = await openTemporary({ findWorkflow });
  const parent = await local.run(caller, { target: "asking" });
  expect(parent).toMatchObject({ state: "RUNNING", finished: false });
  const [wait] = parent.waiting;
  expect(wait).toMatchObject({ kind: "child", execution_id: expect.any(String) });
  const executionId = wait?.execution_id ?? "";
  const child = await local.run(asking, "yes", { executionId });
  expect(child).toMatchObject({ output: "yes", parentId: parent.executionId });
  await until(async () => (await stateOf(store, parent.executionId)) === "COMPLETED");
  const done = await local.run(caller, undefined, { executionId: parent.executionId });
  expect(done.output).toBe("yes");
});

test("EXE-14 EXE-55 the child is continued in another process, and its parent too", async () => {
  const folder = temporaryFolder();
  const first = await openTemporary({ folder, findWorkflow });
  const parent = await first.local.run(caller, { target: "asking" });
  const executionId = parent.waiting[0]?.execution_id ?? "";
  await first.local.close();
  const manual = new ManualHost();
  manual.now = Date.now();
  const known = new Map([...WORKFLOWS, [caller.qualifiedName, caller as AnyWorkflow]]);
  const { local, store } = await openTemporary({
    folder,
    host: manual.host,
    findWorkflow: (name) => known.get(name),
  });
  await local.run(asking, "yes", { executionId });
  // A process that is alive would have gone on by itself by now.
  await manual.pass(1_000);
  expect(await stateOf(store, parent.executionId)).toBe("COMPLETED");
});

test("EXE-55 a parent whose process lives goes on there when its child ends in another", async () => {
  const wf = workflow({ name: "parent_of_asking" }, async () => {
    return parallel([() => call(asking), () => signal("go", { timeout: "2s" })]);
  });
  const folder = temporaryFolder();
  const manual = new ManualHost();
  const parts = { folder, host: manual.host };
  const here = await openTemporary({ ...parts, findWorkflow: () => asking });
  const there = await openTemporary({ ...parts, findWorkflow: () => wf });
  const result = here.local.run(wf);
  await manual.pass(10);
  const filter = { workflow: "asking", order: "created_asc", limit: 1, offset: 0 } as const;
  const [child] = (await here.store.executions.list(filter)).items;
  expect(child?.state).toBe("PAUSED");
  await there.local.run(asking, "yes", { executionId: child?.execution_id ?? "" });
  await manual.pass(3_000);
  expect((await result).output).toEqual(["yes", undefined]);
});

test("EXE-56 with wait: false the id comes at once, and the child outlives its parent", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = task({ name: "slow" }, () => gate.promise);
  const child = workflow({ name: "slow_child" }, async () => slow());
  const wf = workflow({ name: "launcher" }, async () => call(child, undefined, { wait: false }));
  const { local, store } = await openTemporary({ findWorkflow: () => child });
  const parent = await local.run(wf);
  expect(parent.state).toBe("COMPLETED");
  const executionId = parent.output as string;
  expect(await stateOf(store, executionId)).not.toBe("COMPLETED");
  const joined = local.run(child, undefined, { executionId });
  gate.resolve();
  expect((await joined).state).toBe("COMPLETED");
});

test("EXE-21 cancelling the parent cancels a child that runs and one that is detached goes on", async () => {
  const napping = workflow({ name: "napping_child" }, async () => sleep("1h"));
  const wf = workflow({ name: "parent_of_two" }, async () => {
    return parallel([
      () => call(napping, undefined),
      () => call(napping, undefined, { detach: true, wait: false }),
    ]);
  });
  const manual = new ManualHost();
  const { local, store } = await openTemporary({ host: manual.host, findWorkflow: () => napping });
  let executionId = "";
  const result = local.run(wf, undefined, { onStarted: (id) => (executionId = id) });
  await manual.pass(10);
  await store.executions.change(executionId, (row) => {
    const of = { cause: "request", by: null, cancel_timeout_ms: 300_000 } as const;
    const verdict = decideCancel(row, { ...of, hasWorker: () => false, now: manual.now });
    if (verdict instanceof EngineError) throw verdict;
    return verdict;
  });
  await manual.pass(1_500);
  expect((await result).state).toBe("CANCELLED");
  const children = await childrenOf(store, executionId);
  expect(children.map(({ state }) => state)).toEqual(["CANCELLED", "RUNNING"]);
});

test("EXE-15 EXE-21 a parent's timeout ends a child that has parked, too", async () => {
  const child = workflow({ name: "parked_child" }, async () => signal("never"));
  const wf = workflow({ name: "limited_parent", timeout: "5s" }, async () => call(child));
  const manual = new ManualHost();
  const { local, store } = await openTemporary({ host: manual.host, findWorkflow: () => child });
  const result = local.run(wf);
  await manual.pass(10_000);
  const parent = await result;
  expect(parent.failure).toMatchObject({ type: "WorkflowTimeoutError" });
  const [row] = await childrenOf(store, parent.executionId);
  expect(row?.state).toBe("CANCELLED");
  expect(manual.timers).toBe(0);
});

test("EXE-56 a child whose call is given up is cancelled", async () => {
  const child = workflow({ name: "given_up" }, async () => signal("never"));
  const wf = workflow({ name: "giving_up" }, async () => {
    return Promise.race([call(child), call(double, 1)]);
  });
  const known = new Map<string, AnyWorkflow>([
    ["default/given_up", child],
    ["math/double", double],
  ]);
  const { local, store } = await openTemporary({ findWorkflow: (name) => known.get(name) });
  const parent = await local.run(wf);
  expect(parent.output).toBe(2);
  const states = async () => (await childrenOf(store, parent.executionId)).map((row) => row.state);
  await until(async () => (await states())[0] === "CANCELLED");
  expect(await states()).toEqual(["CANCELLED", "COMPLETED"]);
});

test("EXE-14 taking a dead process's parent over takes its child over, too", async () => {
  const folder = temporaryFolder();
  let dies = true;
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const ran: string[] = [];
  const step = task({ name: "step" }, async () => void ran.push("step"));
  const hang = task({ name: "hang" }, async () => {
    ran.push("hang");
    if (!dies) return "done";
    reached.resolve();
    await gate.promise;
    return "late";
  });
  const child = workflow({ name: "hanging" }, async () => {
    await step();
    return hang();
  });
  const wf = workflow({ name: "parent_of_hanging" }, async () => call(child));
  const dead = await openTemporary({ folder, findWorkflow: () => child });
  let executionId = "";
  const lost = dead.local.run(wf, undefined, { onStarted: (id) => (executionId = id) });
  const told = lost.catch((error: EngineError) => error.code);
  await reached.promise;
  await until(async () => (await dead.store.executions.find(executionId))?.session === null);
  dies = false;
  const alive = await openTemporary({ folder, findWorkflow: () => child });
  const done = await alive.local.run(wf, undefined, { executionId });
  expect(done).toMatchObject({ state: "COMPLETED", output: "done" });
  expect(ran).toEqual(["step", "hang", "hang"]);
  gate.resolve();
  expect(await told).toBe("stale_claim");
});
