import { expect, test } from "vitest";
import {
  call,
  now,
  parallel,
  pause,
  signal,
  sleep,
  TransientUnsupportedError,
  task,
  workflow,
} from "../index.ts";
import { Scene } from "./testing/scene.ts";

const step = task({ name: "step" }, async (n: number) => n + 1);
const transient = (body: () => Promise<unknown>) =>
  new Scene([workflow({ name: "w", durability: "transient" }, body)]);

test("EXE-58 only events of the workflow itself are recorded, whatever its calls do", async () => {
  const flaky = task(
    {
      name: "flaky",
      retry: { maxAttempts: 2, delay: "1m" },
      rollback: () => {},
      fallback: () => 5,
    },
    async () => {
      throw new Error("no");
    },
  );
  const scene = transient(async () => {
    const at = await now();
    const [a, b] = await parallel([() => step(1), () => flaky()]);
    await sleep(100);
    return [a, b, at instanceof Date];
  });
  await scene.run();
  expect(scene.types()).toEqual([
    "WORKFLOW_CREATED",
    "WORKFLOW_CLAIMED",
    "WORKFLOW_STARTED",
    "WORKFLOW_COMPLETED",
  ]);
  expect(scene.row().output).toEqual([2, 5, true]);
});

test.each([
  ["pause", () => pause("p")],
  ["a sleep that would park", () => sleep("1h")],
  ["signal", () => signal("s")],
  ["call", () => call("other")],
])("EXE-58 %s fails with TransientUnsupportedError", async (_, wait) => {
  let caught: unknown;
  const scene = transient(async () => {
    await wait().catch((error: unknown) => {
      caught = error;
    });
    return "on";
  });
  await scene.run();
  expect(caught).toBeInstanceOf(TransientUnsupportedError);
  expect(caught).toMatchObject({ message: expect.stringContaining('durability "transient"') });
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "on" });
  expect(scene.types()).toHaveLength(4);
});

test("EXE-58 a wait inside a task fails that task for good: no retry would help", async () => {
  let attempts = 0;
  const waits = task({ name: "waits", retry: { maxAttempts: 3, delay: 0 } }, async () => {
    attempts++;
    return pause("p");
  });
  const scene = transient(async () => waits());
  await scene.run();
  expect(attempts).toBe(1);
  expect(scene.row().failure).toMatchObject({ type: "TransientUnsupportedError" });
});

test("EXE-58 a worker lost after the start fails it, one lost before it does not", async () => {
  const hangs = task({ name: "hangs" }, () => new Promise(() => {}));
  const scene = transient(async () => hangs());
  await scene.start();
  expect(scene.types().at(-1)).toBe("WORKFLOW_STARTED");
  await scene.crash();
  expect(scene.row()).toMatchObject({ state: "FAILED", failure: { type: "WorkerLostError" } });

  const early = transient(async () => "ran");
  early.engine.start(
    workflow({ name: "w", durability: "transient" }, async () => 1),
    null,
  );
  early.engine.claim("e1");
  await early.crash();
  expect(early.row()).toMatchObject({ state: "COMPLETED", generation: 2 });
});

test("EXE-58 a cancel unwinds it as any other", async () => {
  const undone: string[] = [];
  const hangs = task(
    { name: "hangs", rollback: () => void undone.push("rollback") },
    () => new Promise(() => {}),
  );
  const scene = transient(async () => hangs());
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(undone).toEqual(["rollback"]);
  expect(scene.types().slice(3)).toEqual(["WORKFLOW_CANCELLING", "WORKFLOW_CANCELLED"]);
});
