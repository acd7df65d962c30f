import { decode, NO_SIGNALS } from "@engine/contract";
import { expect, test } from "vitest";
import { parallel, signal, sleep, type TaskContext, task, workflow } from "../index.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene, type SceneOptions } from "./testing/scene.ts";

const scene = (body: () => Promise<unknown>, options: SceneOptions = {}) =>
  new Scene([workflow({ name: "w" }, body)], options);

test("EXE-53 a signal sent while the call waits is what it gives; it waits without a slot", async () => {
  const waits = scene(async () => signal<{ cents: number }>("paid"));
  await waits.start();
  expect(waits.row()).toMatchObject({ state: "RUNNING", session: null, wake_at: null });
  expect(waits.row().waits).toMatchObject([
    { kind: "signal", name: "paid", task_call_id: "signal~1" },
  ]);
  waits.engine.signal("e1", "paid", { cents: 5 });
  await waits.settle();
  expect(waits.row()).toMatchObject({ state: "COMPLETED", output: { cents: 5 } });
  expect(waits.story().slice(3)).toEqual([
    "TASK_STARTED signal~1",
    "WORKFLOW_SIGNALED",
    "TASK_COMPLETED signal~1",
    "WORKFLOW_RESUMING",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_RESUMED",
    "WORKFLOW_COMPLETED",
  ]);
});

test("EXE-53 a signal sent before the execution ran is there when it asks", async () => {
  const wf = workflow({ name: "w" }, async () => signal("paid"));
  const early = new Scene([wf]);
  early.engine.start(wf, null);
  early.engine.signal("e1", "paid", "early");
  await early.settle();
  expect(early.row()).toMatchObject({ state: "COMPLETED", output: "early" });
  expect(early.row().signals).toEqual(NO_SIGNALS);
});

test("EXE-53 a signal that arrives while the call's start is on its way is not lost", async () => {
  const racing = scene(async () => signal("paid"));
  let sent = false;
  racing.onDelta = (_, delta) => {
    if (sent || !delta.events.includes("TASK_STARTED")) return;
    sent = true;
    racing.engine.signal("e1", "paid", "during");
  };
  await racing.start();
  expect(racing.row()).toMatchObject({ state: "COMPLETED", output: "during" });
});

test("EXE-53 each signal is consumed by one call, in arrival order per name", async () => {
  const wf = scene(async () => {
    const first = await signal("a");
    const other = await signal("b");
    return [first, other, await signal("a")];
  });
  await wf.start();
  for (const [name, payload] of [
    ["b", 1],
    ["a", 2],
    ["a", 3],
  ] as const)
    wf.engine.signal("e1", name, payload);
  await wf.settle();
  expect(wf.row()).toMatchObject({ state: "COMPLETED", output: [2, 1, 3] });
});

test("EXE-53 two that wait under one name are answered oldest first", async () => {
  const wf = scene(async () => parallel([() => signal("a"), () => signal("a")]));
  await wf.start();
  wf.engine.signal("e1", "a", "first");
  await wf.settle();
  expect(wf.row().waits).toHaveLength(1);
  wf.engine.signal("e1", "a", "second");
  await wf.settle();
  expect(wf.row().output).toEqual(["first", "second"]);
});

test("I11 a timeout gives undefined and consumes nothing; JSON null is a payload", async () => {
  const seen: unknown[] = [];
  const wf = scene(async () => {
    seen.push(await signal("paid", { timeout: "1h" }));
    await sleep("1h");
    seen.push(await signal("paid"));
  });
  await wf.start();
  const { wake_at } = wf.row();
  await wf.advance(Number(wake_at) - wf.clock.now);
  expect(seen).toEqual([undefined]);
  wf.engine.signal("e1", "paid", null);
  await wf.toEnd();
  expect(seen.at(-1)).toBeNull();
  expect(wf.row().state).toBe("COMPLETED");
});

test("EXE-53 a signal before its timeout ends the wait for good", async () => {
  const wf = scene(async () => [
    await signal("paid", { timeout: "1h" }),
    await signal("paid", { timeout: "3h" }),
  ]);
  await wf.start();
  wf.engine.signal("e1", "paid", 1);
  await wf.toEnd();
  expect(decode(wf.row().output)).toEqual([1, undefined]);
  const ends = wf.log().filter(({ type }) => type === "TASK_COMPLETED");
  expect(ends.map(({ source_id }) => source_id)).toEqual(["signal~1", "signal~2"]);
});

test("EXE-53 signals that are left over at the end are told of in the log", async () => {
  const wf = scene(async () => sleep("1h"));
  await wf.start();
  wf.engine.signal("e1", "late", 1);
  wf.engine.signal("e1", "late", 2);
  await wf.toEnd();
  const [warning] = wf.log().filter(({ type }) => type === "WORKFLOW_WARNING");
  expect(warning?.value).toMatchObject({
    code: "signal_dropped",
    message: expect.stringContaining("late (2)"),
  });
  expect(wf.row()).toMatchObject({ state: "COMPLETED", signals: NO_SIGNALS });
  const used = scene(async () => signal("a"));
  await used.start();
  used.engine.signal("e1", "a", 1);
  await used.settle();
  expect(used.types()).not.toContain("WORKFLOW_WARNING");
});

test("EXE-53 an outcome pushed to a body that still runs reaches it at once", async () => {
  let finish = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (finish = resolve)));
  let got: unknown;
  const wf = scene(async () => parallel([() => slow(), async () => (got = await signal("a"))]));
  await wf.start();
  wf.engine.signal("e1", "a", "now");
  await wf.settle();
  expect(got).toBe("now");
  expect(wf.types()).not.toContain("WORKFLOW_RESUMING");
  finish();
  await wf.toEnd();
  expect(wf.row().state).toBe("COMPLETED");
});

test("I11 wherever all workers are lost, every signal is consumed once", async () => {
  const ran: string[] = [];
  const step = task(
    { name: "step" },
    async (n: unknown, { executionId, taskCallId }: TaskContext) => {
      ran.push(`${executionId}:${taskCallId}`);
      return n;
    },
  );
  let sent = 0;
  const wf = scene(
    async () => {
      const both = await parallel([
        async () => step(await signal("a")),
        async () => step(await signal("a")),
      ]);
      return [both, await step(await signal("b"))];
    },
    {
      answer: ({ engine }) => {
        const log = engine.log("e1").filter(({ type }) => type === "WORKFLOW_SIGNALED");
        if (log.length === 3) return false;
        engine.signal("e1", log.length === 1 ? "b" : "a", log.length);
        sent++;
        return true;
      },
    },
  );
  await wf.run();
  expect(sent).toBe(3);
  expect(wf.row().output).toEqual([[0, 2], 1]);
  await crashEverywhere(wf, ran);
});
