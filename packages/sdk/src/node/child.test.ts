import { expect, test } from "vitest";
import {
  ChildCancelledError,
  ChildFailedError,
  call,
  DepthLimitError,
  NotFoundError,
  parallel,
  pause,
  sleep,
  type TaskContext,
  type TaskError,
  TerminalError,
  task,
  workflow,
} from "../index.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { double } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

const ship = workflow({ name: "ship", namespace: "shop" }, async (n: number) => double(n));

test("EXE-54 a call runs another workflow as a linked child and gives its output", async () => {
  const wf = workflow({ name: "w" }, async (n: number) => (await call(ship, n)) + 1);
  const scene = new Scene([wf, ship]);
  await scene.run(4);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: 9 });
  expect(scene.row("e2")).toMatchObject({
    state: "COMPLETED",
    namespace: "shop",
    workflow: "ship",
    input: 4,
    parent_id: "e1",
    parent_call_id: "call~1",
    depth: 1,
  });
  expect(scene.log("e2")[0]?.value).toMatchObject({ trigger: { kind: "call", id: "e1" } });
  expect(scene.log().find(({ type }) => type === "TASK_STARTED")).toMatchObject({
    name: "call",
    kind: "call",
    value: { workflow: "shop/ship", input: 4, wait: true, detach: false },
  });
});

test("EXE-55 while its child runs a parent holds no slot, and goes on when that has ended", async () => {
  const child = workflow({ name: "child" }, async () => pause("p"));
  const wf = workflow({ name: "w" }, async () => call(child));
  const scene = new Scene([wf, child]);
  await scene.start();
  expect(scene.row("e2").state, "a child that pauses keeps the parent waiting").toBe("PAUSED");
  expect(scene.row()).toMatchObject({ state: "RUNNING", session: null });
  expect(scene.row().waits).toMatchObject([
    { kind: "child", execution_id: "e2", name: "default/child" },
  ]);
  scene.engine.resume("e2", "go");
  await scene.settle();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "go" });
  expect(scene.story().slice(3)).toEqual([
    "TASK_STARTED call~1",
    "TASK_COMPLETED call~1",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
});

test("EXE-55 a child that fails rejects with its failure as cause, equal on replay", async () => {
  const child = workflow({ name: "child" }, async () => {
    throw new TerminalError("no stock", { type: "OutOfStock", details: { sku: 7 } });
  });
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    try {
      await call(child);
    } catch (error) {
      if (!(error instanceof ChildFailedError)) throw error;
      seen.push(error.failure, (error.cause as TaskError).failure);
    }
    return pause("p");
  });
  const scene = new Scene([wf, child]);
  await scene.start();
  scene.engine.resume("e1", null);
  await scene.toEnd();
  expect(seen.slice(2)).toEqual(seen.slice(0, 2));
  expect(seen[0]).toMatchObject({
    type: "ChildFailedError",
    code: "child_failed",
    details: { execution_id: "e2" },
    task_call_id: "call~1",
  });
  expect(seen[1]).toMatchObject({ type: "OutOfStock", message: "no stock", details: { sku: 7 } });
});

test("EXE-55 a child that somebody cancels rejects with ChildCancelledError", async () => {
  const child = workflow({ name: "child" }, async () => pause("p"));
  let caught: unknown;
  const wf = workflow({ name: "w" }, async () =>
    call(child).catch((error: unknown) => {
      caught = error;
    }),
  );
  const scene = new Scene([wf, child]);
  await scene.start();
  scene.engine.cancel("e2");
  await scene.toEnd();
  expect(caught).toBeInstanceOf(ChildCancelledError);
  expect(scene.row().state).toBe("COMPLETED");
});

test("EXE-56 without wait the id comes at once, and the child goes on when its parent has ended", async () => {
  const child = workflow({ name: "child" }, async () => sleep("1h"));
  const wf = workflow({ name: "w" }, async () => call(child, undefined, { wait: false }));
  const scene = new Scene([wf, child]);
  await scene.start();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "e2" });
  await scene.toEnd();
  expect(scene.row("e2").state).toBe("COMPLETED");
});

test("EXE-21 a cancel goes down to children and theirs, but not to detached ones", async () => {
  const leaf = workflow({ name: "leaf" }, async () => sleep("1h"));
  const middle = workflow({ name: "middle" }, async () => call(leaf));
  const wf = workflow({ name: "w" }, async () => {
    await call(leaf, undefined, { wait: false, detach: true });
    await call(leaf, undefined, { wait: false });
    await call(middle);
  });
  const scene = new Scene([wf, middle, leaf]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.settle();
  const ends = [...scene.engine.rows.values()].map(
    ({ workflow: name, detached, state }) => `${name} ${detached} ${state}`,
  );
  expect(ends).toEqual([
    "w false CANCELLED",
    "leaf true RUNNING",
    "leaf false CANCELLED",
    "middle false CANCELLED",
    "leaf false CANCELLED",
  ]);
  const causes = scene.log("e5").filter(({ type }) => type === "WORKFLOW_CANCELLING");
  expect(causes[0]?.meta).toMatchObject({ cause: "parent" });
});

test("EXE-56 a sibling's failure cancels the child of a call that waits", async () => {
  const child = workflow({ name: "child" }, async () => sleep("1h"));
  const fails = task({ name: "fails" }, async () => {
    throw new Error("first");
  });
  const wf = workflow({ name: "w" }, async () => parallel([() => call(child), () => fails()]));
  const scene = new Scene([wf, child]);
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "FAILED", failure: { message: "first" } });
  expect(scene.row("e2").state).toBe("CANCELLED");
});

test("EXE-57 an unknown target and a nesting that is too deep fail the call", async () => {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    await call("nowhere/nothing").catch((error: unknown) => seen.push(error));
    return "on";
  });
  const unknown = new Scene([wf]);
  await unknown.run();
  expect(seen[0]).toBeInstanceOf(NotFoundError);
  expect(unknown.row().output).toBe("on");

  const endless = workflow({ name: "endless" }, async () =>
    call("endless").catch((error: unknown) => {
      if (error instanceof DepthLimitError) seen.push(error);
      throw error;
    }),
  );
  const deep = new Scene([endless]);
  await deep.run();
  expect(seen.filter((error) => error instanceof DepthLimitError)).toHaveLength(1);
  expect(deep.engine.rows.size).toBe(21);
  expect(deep.row().failure).toMatchObject({ type: "ChildFailedError" });
});

test("EXE-54 wherever all workers are lost there is one child per call", async () => {
  const ran: string[] = [];
  const step = task(
    { name: "step" },
    async (n: number, { executionId, taskCallId }: TaskContext) => {
      ran.push(`${executionId}:${taskCallId}`);
      return n + 1;
    },
  );
  const leaf = workflow({ name: "leaf" }, async (n: number) => {
    await sleep("1h");
    return step(n);
  });
  const wf = workflow({ name: "w" }, async () => {
    const [a, b] = await parallel([() => call(leaf, 1), () => call(leaf, 10)]);
    const id = await call(leaf, 100, { wait: false });
    return [await step(a), b, id];
  });
  const scene = new Scene([wf, leaf]);
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [3, 11, "e4"] });
  await crashEverywhere(scene, ran);
});

test.each([
  ["neither a name nor a workflow", 7, /takes a workflow or its name/],
  ["a name with too many parts", "a/b/c", /"ns\/name" or "name"; got "a\/b\/c"/],
  ["an empty name", "", /takes a workflow or its name/],
])("EXE-54 call refuses %s", async (_, target, message) => {
  const wf = workflow({ name: "w" }, async () => call(target as string));
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row().failure).toMatchObject({
    type: "TypeError",
    message: expect.stringMatching(message),
  });
});

test("EXE-54 a version must be an integer, an unknown option names the nearest", async () => {
  for (const [options, message] of [
    [{ version: 1.5 }, "option version of call() must be an integer from 1; got 1.5"],
    [{ detached: true }, 'call() has no option "detached"; did you mean detach?'],
  ] as const) {
    const wf = workflow({ name: "w" }, async () => call("other", null, options as never));
    const scene = new Scene([wf]);
    await scene.run();
    expect(scene.row().failure?.message).toContain(message);
  }
});
