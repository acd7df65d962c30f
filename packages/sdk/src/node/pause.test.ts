import { expect, test } from "vitest";
import { parallel, pause, task, workflow } from "../index.ts";
import { double, run, start, until } from "./testing/run-in-memory.ts";

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

test("LIV-1 an outcome that reaches a copy while it replays is there once the code comes to its call", async () => {
  const wf = workflow({ name: "replayed" }, async () => {
    const n = await double(1);
    return [n, ...(await parallel([() => pause("p"), () => pause("q")]))];
  });
  const execution = await run(wf);
  execution.resume("first", "p");
  const copy = execution.claim();
  const base = execution.row.head;
  execution.resume("second", "q");
  // The copy has not come to the pauses yet: it is still handed what the task returned.
  copy.deliver(base, execution.events.slice(base));
  await copy.ended;
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: [2, "first", "second"] });
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
  expect(execution.types).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "TASK_STARTED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "TASK_COMPLETED",
    "WORKFLOW_COMPLETED",
  ]);
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
