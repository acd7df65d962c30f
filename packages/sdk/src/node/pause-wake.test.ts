import { decode } from "@engine/contract";
import { expect, test } from "vitest";
import {
  NotFoundError,
  parallel,
  pause,
  sleep,
  type TaskContext,
  task,
  workflow,
} from "../index.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene } from "./testing/scene.ts";

const HOUR = 3_600_000;
const scene = (body: () => Promise<unknown>) => new Scene([workflow({ name: "w" }, body)]);

test("EXE-51 after ends a pause with undefined at its instant, not before", async () => {
  const wf = scene(async () => (await pause("p", { after: "2h" })) === undefined);
  await wf.start();
  const { waits, wake_at } = wf.row();
  expect(wf.row().state).toBe("PAUSED");
  expect(waits).toMatchObject([{ kind: "pause", name: "p", until: wake_at }]);
  await wf.advance(Number(wake_at) - wf.clock.now - 1);
  expect(wf.row().state).toBe("PAUSED");
  await wf.advance(1);
  expect(wf.row()).toMatchObject({ state: "COMPLETED", output: true });
  expect(wf.story().slice(-7)).toEqual(
    [
      "TASK_RESUMED pause~1",
      "TASK_COMPLETED pause~1",
      "WORKFLOW_RESUMING",
      "WORKFLOW_CLAIMED",
      "WORKFLOW_RESUMED",
      "WORKFLOW_COMPLETED",
    ].toSpliced(0, 0, "WORKFLOW_PAUSED"),
  );
});

test.each([
  ["a Date", () => new Date(Date.UTC(2030, 0, 2))],
  ["a text", () => "2030-01-02T00:00:00Z"],
])("EXE-51 until takes %s", async (_, until) => {
  const wf = scene(async () => pause("p", { until: until() }));
  await wf.run();
  expect(wf.clock.now).toBe(Date.UTC(2030, 0, 2));
  expect(wf.row().state).toBe("COMPLETED");
});

test("EXE-51 an until that is past wakes at once", async () => {
  const wf = scene(async () => (await pause("p", { until: new Date(0) })) === undefined);
  const { now } = wf.clock;
  await wf.run();
  expect(wf.row()).toMatchObject({ state: "COMPLETED", output: true });
  expect(wf.clock.now - now).toBeLessThan(1_000);
});

test("I11 a resume before the wake wins, JSON null is an input", async () => {
  const wf = scene(async () => [await pause("p", { after: "1h" }), await sleep("2h")][0]);
  await wf.start();
  wf.engine.resume("e1", null);
  await wf.toEnd();
  expect(wf.row()).toMatchObject({ state: "COMPLETED", output: null });
  expect(wf.story().filter((line) => line === "TASK_COMPLETED pause~1")).toHaveLength(1);
});

test("EXE-52 a resume after the wake is refused, and never reaches a pause that opens later", async () => {
  const wf = scene(async () => [
    await pause("p", { after: "1h" }),
    await sleep("1h"),
    await pause("p"),
  ]);
  await wf.start();
  await wf.advance(HOUR + 10);
  expect(() => wf.engine.resume("e1", "late")).toThrow(
    expect.objectContaining({ code: "not_paused" }),
  );
  await wf.advance(HOUR + 10);
  expect(wf.row()).toMatchObject({ state: "PAUSED", waits: [{ task_call_id: "pause~2" }] });
});

test("EXE-52 a resume names the pause by name or by its call id, in whatever state it is open", async () => {
  let finish = () => {};
  const slow = task({ name: "slow" }, () => new Promise<void>((resolve) => (finish = resolve)));
  const wf = scene(async () => parallel([() => slow(), () => pause("a"), () => pause("b")]));
  await wf.start();
  expect(wf.row()).toMatchObject({ state: "RUNNING", session: "s1" });
  wf.engine.resume("e1", 1, "parallel~1/pause~1");
  finish();
  await wf.settle();
  wf.engine.resume("e1", 2, "b");
  expect(wf.row().state).toBe("RESUMING");
  await wf.settle();
  expect(wf.row().state).toBe("COMPLETED");
  expect(decode(wf.row().output)).toEqual([undefined, 1, 2]);
});

test("EXE-51 onComplete ends with the other execution, whatever its end is", async () => {
  const other = workflow({ name: "other" }, async () => {
    await sleep("1h");
    throw new Error("no matter");
  });
  const waits = workflow(
    { name: "w" },
    async (id: string) => (await pause("p", { onComplete: id })) === undefined,
  );
  const both = new Scene([other, waits]);
  await both.start();
  both.engine.start(waits, "e1");
  await both.settle();
  expect(both.row("e2")).toMatchObject({ state: "PAUSED", wake_at: null });
  expect(both.row("e2").waits).toMatchObject([{ kind: "pause", execution_id: "e1" }]);
  await both.toEnd();
  expect(both.row().state).toBe("FAILED");
  expect(both.row("e2")).toMatchObject({ state: "COMPLETED", output: true });
  const resuming = both.log("e2").find(({ type }) => type === "WORKFLOW_RESUMING");
  expect(resuming?.meta).toMatchObject({ cause: "completion" });
});

test("EXE-51 onComplete of what has ended wakes at once, of what does not exist rejects", async () => {
  let caught: unknown;
  const waits = workflow({ name: "w" }, async (id: string) => {
    try {
      return (await pause("p", { onComplete: id })) === undefined;
    } catch (error) {
      caught = error;
      return "refused";
    }
  });
  const ended = new Scene([workflow({ name: "other" }, async () => 1), waits]);
  await ended.run();
  ended.engine.start(waits, "e1");
  await ended.toEnd();
  expect(ended.row("e2")).toMatchObject({ state: "COMPLETED", output: true });

  const none = new Scene([waits]);
  await none.run("nowhere");
  expect(none.row().output).toBe("refused");
  expect(caught).toBeInstanceOf(NotFoundError);
});

test("EXE-17 row 4: WORKFLOW_PAUSED tells of the oldest open pause", async () => {
  const wf = scene(async () =>
    parallel([
      () => pause("first", { output: { n: 1 } }),
      () => pause("second"),
      () => sleep("1h"),
    ]),
  );
  await wf.start();
  const paused = wf.log().filter(({ type }) => type === "WORKFLOW_PAUSED");
  expect(paused.map(({ value }) => value)).toEqual([{ name: "first", output: { n: 1 } }]);
  await wf.advance(HOUR + 10);
  expect(wf.row().state, "the sleep's end leads back to the pauses").toBe("PAUSED");
  expect(wf.types().filter((t) => t === "WORKFLOW_PAUSED")).toHaveLength(2);
});

test("EXE-32 while it waits neither catch nor finally runs, on however many replays", async () => {
  const passed: string[] = [];
  const wf = scene(async () => {
    try {
      await sleep("1h");
      await pause("p", { after: "1h" });
    } catch {
      passed.push("catch");
    } finally {
      passed.push("finally");
    }
  });
  await wf.run();
  expect(passed).toEqual(["finally"]);
});

test("I11 wherever all workers are lost, every answer arrives once", async () => {
  const ran: string[] = [];
  const step = task(
    { name: "step" },
    async (of: unknown, { executionId, taskCallId }: TaskContext) => {
      ran.push(`${executionId}:${taskCallId}`);
      return String(of);
    },
  );
  const wf = new Scene(
    [
      workflow({ name: "w" }, async () => {
        const answers = await parallel([
          async () => step(await pause("a")),
          async () => step(await pause("b", { after: "1h" })),
          async () => step(await pause("c")),
        ]);
        return [answers, await step(await pause("d", { until: new Date(0) }))];
      }),
    ],
    {
      answer: ({ engine }) => {
        const open = engine
          .row("e1")
          .waits.find(({ kind, until }) => kind === "pause" && until === undefined);
        if (open) engine.resume("e1", open.name, open.name);
        return open !== undefined;
      },
    },
  );
  await wf.run();
  expect(wf.row().output).toEqual([["a", "undefined", "c"], "undefined"]);
  await crashEverywhere(wf, ran);
});
