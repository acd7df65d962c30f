import { type Assignment, isOutcome, type Json } from "@engine/contract";
import { expect, test } from "vitest";
import { LargeInputs } from "../executions/large-inputs.ts";
import type { StartRequest } from "../executions/requests.ts";
import { Starts } from "../starts/starts.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import type { AuthorizeCall } from "./authorize-call.ts";
import { CallResolver } from "./call-resolver.ts";

const FAMILY = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent", namespace: "shop" }, async (input) => input);
export const child = workflow({ name: "child", namespace: "shop" }, async (input) => input);
`;

const CHILD = `import { workflow } from "@engine/sdk";
export const child = workflow({ name: "child", namespace: "shop" }, async (input) => input);
`;

async function family(config: unknown = {}): Promise<TestEngine> {
  const t = await TestEngine.start(config);
  await t.engine.catalog.register({ source: FAMILY }, { by: null });
  return t;
}

async function runParent(t: TestEngine, version?: number): Promise<string> {
  const { row } = await t.engine.executions.start({
    namespace: "shop",
    workflow: "parent",
    version,
    input: null,
    trigger: { kind: "api" },
    by: null,
  });
  return row.execution_id;
}

interface Start {
  readonly workflow?: string;
  readonly input?: Json;
  readonly version?: number;
  readonly wait?: boolean;
  readonly detach?: boolean;
  readonly name?: string;
}

/** The beginning of a call, as the log holds it. */
function call(worker: ScriptedWorker, start: Start = {}, id = "call~1") {
  const value = { workflow: "shop/child", input: null, wait: true, detach: false, ...start };
  return worker.callEvent("TASK_STARTED", id, value as Json);
}

/** A parent that waits for its child, and the child's assignment. */
async function calling(t: TestEngine, worker: ScriptedWorker, start: Start = {}) {
  const parent_id = await runParent(t);
  await worker.parked(await worker.next("assign"), [call(worker, start)]);
  const child = await worker.next("assign");
  return { parent_id, child };
}

function failure(message: string): Json {
  return {
    type: "Error",
    code: null,
    message,
    retryable: false,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
  };
}

async function fails(worker: ScriptedWorker, assigned: Assignment, message: string) {
  await worker.checkpoint(assigned, assigned.head, "FAILED", [
    worker.begin(assigned),
    worker.event(assigned, "WORKFLOW_FAILED", failure(message)),
  ]);
}

async function outcomeOf(t: TestEngine, execution_id: string) {
  const log = (await t.store.log.read(execution_id)).map(({ event }) => event);
  return log.findLast(({ source_id, type }) => source_id === "call~1" && isOutcome(type));
}

test("EXE-54 EXE-55 a call creates a linked child, parks its parent without a slot, and brings the output", async () => {
  await using t = await family();
  const worker = await t.worker("w", { slots: 1 });
  const { parent_id, child } = await calling(t, worker, { input: { n: 1 } });
  // The only slot is the child's now.
  expect(child).toMatchObject({ workflow: "child", version: 1, input: { n: 1 }, parent_id });
  const child_id = child.execution_id;
  expect(await t.row(child_id)).toMatchObject({ parent_call_id: "call~1", depth: 1, priority: 0 });
  expect(await t.row(parent_id)).toMatchObject({
    state: "RUNNING",
    worker: null,
    waits: [{ kind: "child", name: "shop/child", execution_id: child_id }],
  });
  await worker.completed(child, "grown up");
  const resumed = await worker.next("assign");
  expect(resumed).toMatchObject({ execution_id: parent_id, reason: "resume" });
  expect(resumed.history.events.slice(-3)).toMatchObject([
    { type: "TASK_COMPLETED", source_id: "call~1", kind: "call", value: "grown up" },
    { type: "WORKFLOW_RESUMING", meta: { cause: "child", task_call_id: "call~1" } },
    { type: "WORKFLOW_CLAIMED" },
  ]);
});

test("EXE-19 a child's end reaches a parent that runs on by a frame", async () => {
  await using t = await family();
  const worker = await t.worker();
  const parent_id = await runParent(t);
  const assigned = await worker.next("assign");
  await worker.started(assigned, [call(worker)]);
  const child = await worker.next("assign");
  await worker.completed(child, 7);
  const pushed = await worker.next("events");
  expect(pushed).toMatchObject({ execution_id: parent_id, generation: 1, base_seq: 4 });
  expect(pushed.events).toMatchObject([{ seq: 5, type: "TASK_COMPLETED", value: 7 }]);
});

test("EXE-55 a child that fails or is cancelled fails the call with its cause", async () => {
  await using t = await family();
  const worker = await t.worker();
  const failed = await calling(t, worker);
  await fails(worker, failed.child, "no luck");
  expect(await outcomeOf(t, failed.parent_id)).toMatchObject({
    type: "TASK_FAILED",
    value: {
      type: "ChildFailedError",
      cause: { message: "no luck" },
      details: { execution_id: failed.child.execution_id },
    },
  });
  await worker.completed(await worker.next("assign"), null);

  const cancelled = await calling(t, worker);
  const { execution_id } = cancelled.child;
  await t.engine.executions.cancel({ execution_id, by: null });
  expect(await worker.next("events")).toMatchObject({
    execution_id,
    events: [{ type: "WORKFLOW_CANCELLING", meta: { cause: "request" } }],
  });
  const { head } = await t.row(execution_id);
  await worker.checkpoint(cancelled.child, head, "CANCELLED", [
    worker.begin(cancelled.child),
    worker.event(cancelled.child, "WORKFLOW_CANCELLED", null),
  ]);
  expect(await outcomeOf(t, cancelled.parent_id)).toMatchObject({
    type: "TASK_FAILED",
    value: { type: "ChildCancelledError", details: { execution_id } },
  });
});

test("EXE-55 a child that pauses keeps its parent waiting", async () => {
  await using t = await family();
  const worker = await t.worker();
  const { parent_id, child } = await calling(t, worker);
  await worker.paused(child);
  expect(await t.row(parent_id)).toMatchObject({ state: "RUNNING", waits: [{ kind: "child" }] });
});

test("EXE-54 a checkpoint that is sent again makes no second child", async () => {
  await using t = await family();
  const worker = await t.worker();
  await runParent(t);
  const assigned = await worker.next("assign");
  const events = [worker.begin(assigned), call(worker)];
  const first = await worker.checkpoint(assigned, 2, "RUNNING", events);
  const second = await worker.checkpoint(assigned, 2, "RUNNING", events);
  expect(second).toEqual(first);
  const page = { order: "created_asc", limit: 9, offset: 0 } as const;
  const children = await t.engine.executions.list({ ...page, parent_id: assigned.execution_id });
  expect(children.total).toBe(1);
});

test("EXE-54 without a version the child is of its parent's own file, else the latest", async () => {
  await using t = await family();
  await t.engine.catalog.register({ source: CHILD }, { by: null });
  const worker = await t.worker();
  const versionOf = async (parent_version: number, start: Start = {}) => {
    await runParent(t, parent_version);
    await worker.parked(await worker.next("assign"), [call(worker, start)]);
    return (await worker.next("assign")).version;
  };
  // The parent knows version 1 from its file; 2 is the latest.
  expect(await versionOf(1)).toBe(1);
  expect(await versionOf(1)).toBe(1);
  expect(await versionOf(1, { version: 2 })).toBe(2);
  const alone = `import { workflow } from "@engine/sdk";
export const parent = workflow({ name: "parent", namespace: "shop" }, async (input) => input);
`;
  await t.engine.catalog.register({ source: alone }, { by: null });
  expect(await versionOf(2)).toBe(2);
});

test("EXE-54 a child has the label its call gives it", async () => {
  await using t = await family();
  const worker = await t.worker();
  const { child } = await calling(t, worker, { name: "for ann" });
  expect(child.name).toBe("for ann");
});

test("EXE-54 EXE-70 a call within a file finds its version also after that was deleted", async () => {
  await using t = await family();
  await t.engine.catalog.register({ source: CHILD }, { by: null });
  const worker = await t.worker();
  await runParent(t);
  const assigned = await worker.next("assign");
  await t.engine.catalog.delete("shop", "child", 1);
  await worker.started(assigned, [call(worker)]);
  const first = await worker.next("assign");
  expect(first).toMatchObject({ workflow: "child", version: 1, module: assigned.module });

  // With no live version left only those of the file's own executions can start it.
  await t.engine.catalog.delete("shop", "child");
  await worker.checkpoint(assigned, 4, "RUNNING", [call(worker, {}, "call~2")]);
  expect(await worker.next("assign")).toMatchObject({ workflow: "child", version: 1 });
  await worker.checkpoint(assigned, 5, "RUNNING", [call(worker, { version: 1 }, "call~3")]);
  expect((await worker.next("events")).events).toMatchObject([
    { type: "TASK_FAILED", source_id: "call~3", value: { type: "NotFoundError" } },
  ]);
});

test("EXE-56 wait: false gives the child's id as soon as it exists", async () => {
  await using t = await family();
  const worker = await t.worker();
  const parent_id = await runParent(t);
  const assigned = await worker.next("assign");
  const answer = await worker.started(assigned, [call(worker, { wait: false })]);
  // The worker sent two events; what the server wrote behind them comes as a frame.
  expect(answer).toMatchObject({ seq: 4, state: "RUNNING" });
  const pushed = await worker.next("events");
  expect(pushed).toMatchObject({ execution_id: parent_id, base_seq: 4 });
  const child_id = pushed.events[0]?.value;
  expect(pushed.events).toMatchObject([{ seq: 5, type: "TASK_COMPLETED", value: child_id }]);
  const child = await worker.next("assign");
  expect(child).toMatchObject({ execution_id: child_id, parent_id });

  await worker.checkpoint(assigned, 5, "COMPLETED", [
    worker.event(assigned, "WORKFLOW_COMPLETED", null),
  ]);
  expect(await t.row(String(child_id))).toMatchObject({ state: "CLAIMED" });
});

test("EXE-21 EXE-56 a cancel takes the children with it, all but detached ones", async () => {
  await using t = await family();
  const worker = await t.worker();
  const parent_id = await runParent(t);
  const assigned = await worker.next("assign");
  await worker.parked(assigned, [
    call(worker, {}, "call~1"),
    call(worker, { wait: false }, "call~2"),
    call(worker, { wait: false, detach: true }, "call~3"),
  ]);
  const page = { order: "created_asc", limit: 9, offset: 0 } as const;
  const children = await t.engine.executions.list({ ...page, parent_id });
  expect(children.items).toHaveLength(3);
  await t.engine.executions.cancel({ execution_id: parent_id, by: null });
  const states = new Map<string | null, string>();
  for (const { execution_id } of children.items) {
    const { parent_call_id, state } = await t.row(execution_id);
    states.set(parent_call_id, state);
  }
  expect(Object.fromEntries(states)).toEqual({
    "call~1": "CANCELLING",
    "call~2": "CANCELLING",
    "call~3": "CLAIMED",
  });
  const told = worker.frames.filter(({ event }) => event === "events").map(({ data }) => data);
  for (const { execution_id } of children.items.slice(0, 2)) {
    expect(told).toContainEqual(
      expect.objectContaining({
        execution_id,
        events: [expect.objectContaining({ type: "WORKFLOW_CANCELLING" })],
      }),
    );
  }
});

test("EXE-56 a waiting call that its parent gives up cancels the child", async () => {
  await using t = await family();
  const worker = await t.worker();
  await runParent(t);
  const assigned = await worker.next("assign");
  await worker.started(assigned, [call(worker)]);
  const child = await worker.next("assign");
  await worker.checkpoint(assigned, 4, "RUNNING", [worker.callEvent("TASK_CANCELLED", "call~1")]);
  expect(await worker.next("events")).toMatchObject({
    execution_id: child.execution_id,
    events: [{ type: "WORKFLOW_CANCELLING", meta: { cause: "sibling" } }],
  });
});

test("EXE-57 an unknown target fails the call, and the execution goes on", async () => {
  await using t = await family();
  const worker = await t.worker();
  const parent_id = await runParent(t);
  const assigned = await worker.next("assign");
  await worker.started(assigned, [
    call(worker, { workflow: "shop/nobody" }, "call~1"),
    call(worker, { version: 9 }, "call~2"),
  ]);
  const pushed = await worker.next("events");
  expect(pushed).toMatchObject({ execution_id: parent_id, base_seq: 5 });
  expect(pushed.events).toMatchObject([
    {
      type: "TASK_FAILED",
      source_id: "call~1",
      value: {
        type: "NotFoundError",
        task_call_id: "call~1",
        details: { resource: "workflow", name: "shop/nobody" },
      },
    },
    {
      type: "TASK_FAILED",
      source_id: "call~2",
      value: { type: "NotFoundError", details: { resource: "version", name: "shop/child" } },
    },
  ]);
  expect(await t.row(parent_id)).toMatchObject({ state: "RUNNING", worker: "w", waits: [] });
});

test("EXE-57 a call of an unknown target by a parked execution lets it go on with the failure", async () => {
  await using t = await family();
  const worker = await t.worker();
  await runParent(t);
  const assigned = await worker.next("assign");
  const answer = await worker.parked(assigned, [call(worker, { workflow: "shop/nobody" })]);
  expect(answer).toMatchObject({ seq: 4, state: "RESUMING" });
  const again = await worker.next("assign");
  expect(again.history.events.slice(-3).map(({ type }) => type)).toEqual([
    "TASK_FAILED",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
  ]);
});

test("EXE-57 calls nest to max_depth and no deeper", async () => {
  await using t = await family({ executions: { max_depth: 2 } });
  const worker = await t.worker();
  await runParent(t);
  for (const depth of [1, 2]) {
    const assigned = await worker.next("assign");
    await worker.started(assigned, [call(worker)]);
    expect(await t.row(assigned.execution_id)).toMatchObject({ depth: depth - 1 });
  }
  const deepest = await worker.next("assign");
  await worker.started(deepest, [call(worker)]);
  expect((await worker.next("events")).events).toMatchObject([
    { type: "TASK_FAILED", value: { type: "DepthLimitError", code: "depth_limit" } },
  ]);
});

test("EXE-57 a target that the execution may not start fails the call", async () => {
  await using t = await family();
  const asked: string[] = [];
  const ports = {
    store: t.store,
    values: t.values,
    ids: () => "id",
    seed: () => "seed",
    clock: t.time.clock,
    config: t.config,
    log: silent,
    authorizeCall: ({ target: { record } }: Parameters<AuthorizeCall>[0]) => {
      asked.push(record.name);
      return record.name === "child" ? ["workflow:shop:child:run"] : [];
    },
  };
  const { catalog } = t.engine;
  const create = () => expect.unreachable("the commit of the parent creates its children");
  const starts = new Starts({ ports, catalog, inputs: new LargeInputs(ports), create });
  const calls = new CallResolver({ ports, catalog, starts });
  const worker = t.strangeWorker();
  const caller = await t.row(await runParent(t));
  const resolved = await calls.resolve(caller, [
    call(worker, {}, "call~1"),
    call(worker, { workflow: "hello" }, "call~2"),
  ]);
  expect(resolved.get("call~1")).toMatchObject({
    kind: "refused",
    failure: {
      type: "TaskNotAuthorizedError",
      code: "permission_denied",
      task_call_id: "call~1",
      message: "shop/parent may not start shop/child: it lacks workflow:shop:child:run",
      details: { workflow: "shop/child", missing_permissions: ["workflow:shop:child:run"] },
    },
  });
  expect(resolved.get("call~2")).toMatchObject({
    kind: "child",
    fresh: { namespace: "default", workflow: "hello", trigger: { kind: "call" } },
  });
  expect(asked).toEqual(["child", "hello"]);
});

test("AUTH-34 a child has the rights of its parent, and so has a fork's child those of the fork", async () => {
  await using t = await family();
  const worker = await t.worker();
  const start = { namespace: "shop", workflow: "parent", input: null, trigger: { kind: "api" } };
  const { row } = await t.engine.executions.start({ ...start, by: "ada" } as StartRequest);
  const assigned = await worker.next("assign");
  await t.engine.executions.rename(row.execution_id, "named");
  await worker.parked(assigned, [call(worker)]);
  const child = await t.row((await worker.next("assign")).execution_id);
  expect(child).toMatchObject({ workflow: "child", started_by: "ada", run_as: "ada" });
  const { row: fork } = await t.engine.executions.fork({
    execution_id: row.execution_id,
    from_seq: (await t.row(row.execution_id)).head,
    by: "bob",
  });
  expect(fork).toMatchObject({ started_by: "bob", run_as: "bob" });
  const [forked] = (await t.engine.executions.list({ ...NEWEST, parent_id: fork.execution_id }))
    .items;
  expect(forked).toMatchObject({ workflow: "child", started_by: "bob", run_as: "bob" });
});

const NEWEST = { order: "created_desc", limit: 9, offset: 0 } as const;

test("EXE-54 the parent's worker is asked first for the child", async () => {
  await using t = await family();
  await t.worker("a");
  const worker = await t.worker("b");
  // a and b have one each: by load, the child would go to a.
  await t.run();
  await runParent(t);
  const assigned = await worker.next("assign");
  expect(assigned.workflow).toBe("parent");
  await worker.started(assigned, [call(worker)]);
  expect(await worker.next("assign")).toMatchObject({ workflow: "child" });
});

test("EXE-93 a parent's stream tells what its child's end did to it", async () => {
  await using t = await family();
  const worker = await t.worker();
  const { follower } = await t.engine.executions.startAndFollow({
    namespace: "shop",
    workflow: "parent",
    input: null,
    trigger: { kind: "api" },
    by: null,
  });
  const names: string[] = [];
  const reading = (async () => {
    for await (const part of follower.frames())
      if (typeof part !== "string") names.push(part.event);
  })();
  await worker.parked(await worker.next("assign"), [call(worker)]);
  await worker.completed(await worker.next("assign"), 1);
  await worker.completed(await worker.next("assign"), 2);
  await reading;
  expect(names.map((name) => name.split(".").at(-1))).toEqual([
    "created",
    "claimed",
    "running",
    "resuming",
    "claimed",
    "running",
    "completed",
  ]);
});
