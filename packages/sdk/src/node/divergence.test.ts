import { expect, test } from "vitest";
import { call, getConfig, graph, parallel, pause, signal, task, workflow } from "../index.ts";
import { double, run } from "./testing/run-in-memory.ts";
import { Scene } from "./testing/scene.ts";

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

test("EXE-28 the message has two columns, position, file and line, both bundles and what to do", async () => {
  const other = task({ name: "other" }, async () => 0);
  let isChanged = false;
  const wf = workflow({ name: "w" }, async () => {
    await double(1);
    await (isChanged ? other() : double(2));
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  isChanged = true;
  await execution.run();
  const { message, details } = execution.row.failure ?? {};
  const started = execution.events.find(({ source_id }) => source_id === "double~2");
  const lines = String(message).split("\n");
  expect(lines[0]).toBe(
    "replay diverged at position 1: the code does not do what the log says it did",
  );
  expect(lines[1]).toBe(
    `  expected  ${"double~2".padEnd(28)}  event ${started?.seq}, ${started?.time}`,
  );
  expect(lines[2]).toMatch(/^ {2}found {5}other~1 +divergence\.test\.ts:\d+:\d+$/);
  expect(lines.slice(3, 5)).toEqual([
    "  recorded  version 1, bundle m1",
    "  running   version 1, bundle m1",
  ]);
  expect(lines[5]).toContain("register a new version");
  expect(details).toEqual({
    position: 1,
    expected: { task_call_id: "double~2", name: "double", label: null },
    found: { task_call_id: "other~1", name: "other", label: null },
    at: expect.stringMatching(/^divergence\.test\.ts:\d+:\d+$/),
    recorded_version: 1,
    running_version: 1,
    recorded_bundle: "m1",
    running_bundle: "m1",
    hint: lines[5],
  });
});

test("EXE-28 a recorded call that the code no longer makes is found as null, with its own hint", async () => {
  let isChanged = false;
  const wf = workflow({ name: "w" }, async () => {
    await double(1);
    if (!isChanged) await double(2);
    return pause("p");
  });
  const execution = await run(wf);
  execution.resume(null);
  isChanged = true;
  await execution.run();
  // The pause comes where the log has the second call.
  expect(execution.row.failure?.details).toMatchObject({
    position: 1,
    expected: { task_call_id: "double~2" },
    found: { task_call_id: "pause~1", label: "p" },
  });

  const early = await run(
    workflow({ name: "w" }, async () => (isChanged ? [await double(1), await pause("q")] : 0)),
  );
  expect(early.row.waits).toHaveLength(1);
  early.resume(null);
  isChanged = false;
  await early.run();
  expect(early.row.failure?.details).toMatchObject({
    position: 0,
    expected: { task_call_id: "double~1" },
    found: null,
    hint: expect.stringContaining("A call was removed"),
  });
});

test.each<[string, (isNew: boolean) => Promise<unknown>, string, string]>([
  ["signal", (isNew) => signal(isNew ? "b" : "a"), "a", "b"],
  ["call", (isNew) => call(isNew ? "b" : "a"), "default/a", "default/b"],
  ["graph", (isNew) => graph(isNew ? "b" : "a", { n: { run: () => pause("p") } })(), "a", "b"],
  ["getConfig", async (isNew) => [await getConfig(isNew ? "b" : "a"), await pause("p")], "a", "b"],
])("EXE-28 the label of %s is bound by the log", async (_, body, expected, found) => {
  let isNew = false;
  const wf = workflow({ name: "w" }, async () => body(isNew));
  const children = ["a", "b"].map((name) => workflow({ name }, async () => pause("p")));
  const services = { configs: async () => ({ a: 1, b: 1 }) };
  const scene = new Scene([wf, ...children], { services });
  await scene.start();
  isNew = true;
  scene.engine.fence("e1");
  const waiting = scene.row();
  scene.engine.rows.set("e1", { ...waiting, state: "RESUMING", session: null });
  await scene.settle();
  expect(scene.row().failure).toMatchObject({
    type: "NondeterminismError",
    details: {
      expected: { label: expected },
      found: { label: found },
      hint: expect.stringContaining(
        "keep the names of pauses, signals, children and graphs stable",
      ),
    },
  });
});

test("EXE-28 below a combinator the position counts among the calls of that parent", async () => {
  const other = task({ name: "other" }, async () => 0);
  let isNew = false;
  const wf = workflow({ name: "w" }, async () => {
    await double(1);
    return parallel([() => double(2), () => (isNew ? other() : double(3)), () => pause("p")]);
  });
  const execution = await run(wf);
  execution.resume(null);
  isNew = true;
  await execution.run();
  expect(execution.row.failure?.details).toMatchObject({
    position: 1,
    expected: { task_call_id: "parallel~1/double~2" },
    found: { task_call_id: "parallel~1/other~1" },
  });
});

test("I8 nothing of a mismatched call runs, and nothing it would have consumed is used", async () => {
  const ran: string[] = [];
  const other = task({ name: "other" }, async () => void ran.push("other"));
  let isNew = false;
  const wf = workflow({ name: "w" }, async () => {
    try {
      const got = await (isNew ? other() : double(21));
      ran.push(`got ${String(got)}`);
      await pause("p");
    } catch {
      ran.push("caught");
    } finally {
      ran.push("finally");
    }
  });
  const execution = await run(wf);
  ran.length = 0;
  execution.resume(null);
  isNew = true;
  await execution.run();
  expect(execution.row.state).toBe("FAILED");
  expect(ran).toEqual([]);
});

test("EXE-29 another message of an error is not compared", async () => {
  let message = "first";
  let passes = 0;
  const wf = workflow({ name: "w" }, async () => {
    passes++;
    // The branch runs in every pass, and fails with another message in the second.
    const caught = await parallel([
      () => {
        throw new Error(message);
      },
    ]).catch((error: Error) => error.name);
    return [caught, await pause("p")];
  });
  const execution = await run(wf);
  message = "second";
  execution.resume(null);
  await execution.run();
  expect(passes).toBe(2);
  expect(execution.row).toMatchObject({ state: "COMPLETED", output: ["TaskError", null] });
  const failed = execution.events.find(({ type }) => type === "TASK_FAILED");
  expect(failed?.value).toMatchObject({ message: "first" });
  expect(execution.types).not.toContain("WORKFLOW_WARNING");
});
