import { isOutcome } from "@engine/contract";
import { expect, test } from "vitest";
import { map, parallel, pause, sleep, task, workflow } from "../index.ts";
import { cancelAndCrashEverywhere, marked, undo } from "./testing/cancel-sweep.ts";
import { Scene } from "./testing/scene.ts";

const forever = () => new Promise<string>(() => {});
const charge = task({ name: "charge", rollback: undo }, marked(forever));
const ready = task(
  { name: "ready", rollback: undo },
  marked(async (n: number) => n + 1),
);

test("EXE-25 EXE-42 a call made in a task's body is undone before that has an outcome", async () => {
  const outer = task(
    { name: "outer", rollback: undo },
    marked(async () => charge(2)),
  );
  const scene = await cancelAndCrashEverywhere(
    async () => outer(),
    ["outer~1", "outer~1/charge~1"],
  );
  expect(scene.story().slice(-7)).toEqual([
    "TASK_CANCELLED outer~1/charge~1",
    "TASK_ROLLBACK_STARTED outer~1/charge~1",
    "TASK_ROLLBACK_COMPLETED outer~1/charge~1",
    "TASK_CANCELLED outer~1",
    "TASK_ROLLBACK_STARTED outer~1",
    "TASK_ROLLBACK_COMPLETED outer~1",
    "WORKFLOW_CANCELLED",
  ]);
});

test("EXE-42 I4 so is one two levels deep, behind calls that are finished", async () => {
  const middle = task(
    { name: "middle" },
    marked(async (n: number) => charge(await ready(n))),
  );
  const outer = task(
    { name: "outer" },
    marked(async () => middle(await ready(1))),
  );
  await cancelAndCrashEverywhere(async () => outer(), ["outer~1/middle~1/charge~1"]);
});

test("EXE-42 so are those in branches, beside waits and failures", async () => {
  const bad = task({ name: "bad" }, async () => {
    throw new Error("no");
  });
  const outer = task({ name: "outer", rollback: undo }, async () =>
    parallel([
      () => Promise.race([sleep("1h"), pause("p")]),
      async () => charge(await ready(1)),
      () => bad().catch(() => charge(2)),
    ]),
  );
  await cancelAndCrashEverywhere(
    async () => parallel([() => outer(), () => charge(3)]),
    [
      "parallel~1/charge~1",
      "parallel~1/outer~1",
      "parallel~1/outer~1/parallel~1/charge~1",
      "parallel~1/outer~1/parallel~1/charge~2",
    ],
  );
});

test("EXE-42 so is one that a fallback made", async () => {
  const outer = task({ name: "outer", fallback: () => charge(1) }, async (): Promise<string> => {
    throw new Error("no");
  });
  await cancelAndCrashEverywhere(async () => outer(), ["outer~1/charge~1"]);
});

test("EXE-42 so is one that nobody awaits, in a branch that is over", async () => {
  const outer = task({ name: "outer" }, async () => charge(1));
  const body = async () => {
    await map([1], async () => void outer());
    await pause("p");
  };
  await cancelAndCrashEverywhere(body, ["map~1/outer~1/charge~1"]);
});

/** A worker is lost while `body` waits; the cancel reaches the next one before it has begun. */
async function cancelAfterLoss(body: () => Promise<unknown>): Promise<Scene> {
  const scene = new Scene([workflow({ name: "w" }, body)]);
  await scene.start();
  scene.engine.copyOf("e1")?.stop("its worker is lost");
  scene.engine.fence("e1");
  scene.engine.cancel("e1");
  await scene.settle();
  return scene;
}

/** Each call that has begun has one outcome. */
function expectSound(scene: Scene): void {
  const log = scene.log();
  const started = log.filter(({ type }) => type === "TASK_STARTED").map((e) => e.source_id);
  const outcomes = log.filter(({ type }) => isOutcome(type)).map((e) => e.source_id);
  expect(outcomes.sort()).toEqual(started.sort());
}

test("EXE-42 the body that is run again hears of the cancel once it has made its calls again", async () => {
  const seen: boolean[] = [];
  const caught: unknown[] = [];
  const outer = task({ name: "outer" }, async (_: unknown, { signal }) => {
    seen.push(signal.aborted);
    await charge(1).catch((error: unknown) => caught.push(error));
    seen.push(signal.aborted);
    await charge(2).catch((error: unknown) => caught.push(error));
  });
  const scene = await cancelAfterLoss(async () => outer());
  expect(scene.row().state).toBe("CANCELLED");
  expect(seen).toEqual([false, false, true]);
  expect(caught).toMatchObject([
    { failure: { type: "CancelledError" } },
    { failure: { type: "CancelledError" } },
  ]);
  expect(scene.types().filter((type) => type === "TASK_STARTED")).toHaveLength(2);
  expectSound(scene);
});

test("EXE-42 one that comes no further is given up after the grace, and the log says what it missed", async () => {
  let runs = 0;
  const outer = task({ name: "outer", rollback: undo }, async () => {
    if (++runs > 1) return forever();
    return charge(1);
  });
  const scene = await cancelAfterLoss(async () => outer());
  expect(scene.row().state).toBe("CANCELLING");
  // The way to its calls, the way out of the body, that of the workflow's.
  await scene.advance(6_000);
  expect(scene.row().state).toBe("CANCELLED");
  expect(runs).toBe(2);
  const warnings = scene.log().filter(({ type }) => type === "WORKFLOW_WARNING");
  expect(warnings).toMatchObject([
    { value: { code: "not_unwound", task_call_id: "outer~1/charge~1" } },
  ]);
  expect(scene.story()).toContain("TASK_ROLLBACK_COMPLETED outer~1");
  expectSound(scene);
});
