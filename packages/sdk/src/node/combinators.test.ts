import { expect, test } from "vitest";
import { map, parallel, pipeline, task, workflow } from "../index.ts";
import { double, run } from "./testing/run-in-memory.ts";

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
  const wf = workflow({ name: "w" }, async () => {
    const first = await Promise.race([quick(), never()]);
    return [first, await quick()];
  });
  const { row, events } = await run(wf);
  expect(row).toMatchObject({ state: "COMPLETED", output: ["quick", "quick"] });
  expect(events.slice(-4).map(({ type, source_id }) => `${type} ${source_id}`)).toEqual([
    "TASK_STARTED quick~2",
    "TASK_COMPLETED quick~2",
    "TASK_CANCELLED never~1",
    "WORKFLOW_COMPLETED e1",
  ]);
});
