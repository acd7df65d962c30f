import { expect, test } from "vitest";
import { parallel, pause, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

/** A task whose bodies wait until the test ends them, and that says which have started. */
function gated() {
  const started: string[] = [];
  const ends = new Map<string, (result: unknown) => void>();
  const body = (name: string) => {
    started.push(name);
    return new Promise<unknown>((resolve) => ends.set(name, resolve));
  };
  const end = (name: string, result: unknown = name) => ends.get(name)?.(result);
  return { started, body, end, work: task({ name: "work" }, body) };
}

function hold(scene: Scene, on = true): void {
  scene.engine.copyOf("e1")?.hold(on);
}

test("WRK-8 while an execution is held its running body goes on and no other one starts", async () => {
  const { started, work, end } = gated();
  const scene = new Scene([
    workflow({ name: "w" }, async () => [await work("a"), await work("b")]),
  ]);
  await scene.start();
  hold(scene);
  end("a");
  await scene.settle();
  expect(scene.story()).toContain("TASK_COMPLETED work~1");
  expect(started).toEqual(["a"]);

  hold(scene, false);
  await scene.settle();
  expect(started).toEqual(["a", "b"]);
  end("b");
  expect(await scene.toEnd()).toMatchObject({ output: ["a", "b"] });
});

test("WRK-12 a held execution says so once nothing of it runs, with all its outcomes in the log", async () => {
  const { work, end } = gated();
  const scene = new Scene([
    workflow({ name: "w" }, async () =>
      parallel([() => work("long"), async () => [await work("short"), await work("next")]]),
    ),
  ]);
  await scene.start();
  hold(scene);
  end("short");
  await scene.settle();
  expect(scene.engine.stalled).toEqual([]);
  end("long");
  await scene.settle();
  expect(scene.engine.stalled).toContain("e1");
  expect(scene.story().filter((line) => /^TASK_COMPLETED .*work/.test(line))).toHaveLength(2);
});

test("WRK-12 an execution that has stalled says so again when it is held for another reason", async () => {
  const { work } = gated();
  const scene = new Scene([
    workflow({ name: "w" }, async () => [await pause("p"), await work("a")]),
  ]);
  await scene.start();
  scene.engine.resume("e1", null);
  const copy = scene.engine.claim("e1");
  copy.hold(true);
  await scene.settle();
  const times = scene.engine.stalled.length;
  expect(times).toBeGreaterThan(0);
  copy.hold(true);
  await scene.settle();
  expect(scene.engine.stalled.length).toBeGreaterThan(times);
});

test("WRK-12 a held execution whose last task ends completes rather than stalls", async () => {
  const { work, end } = gated();
  const scene = new Scene([workflow({ name: "w" }, async () => work("a"))]);
  await scene.start();
  hold(scene);
  end("a");
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED", output: "a" });
  expect(scene.engine.stalled).toEqual([]);
});

test("WRK-8 retries, rollbacks and fallbacks are held as first attempts are", async () => {
  const ran: string[] = [];
  const run = (name: string) => {
    ran.push(name);
    hold(scene);
  };
  const work = task(
    {
      name: "work",
      retry: { maxAttempts: 2, delay: 10 },
      rollback: () => run("rollback"),
      fallback: () => run("fallback"),
    },
    async (_: undefined, { attempt }) => {
      run(`attempt ${attempt}`);
      throw new Error("no");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => work())]);
  await scene.start();
  const steps = ["attempt 1", "attempt 2", "rollback", "fallback"];
  for (let n = 1; n < steps.length; n++) {
    await scene.advance(100);
    expect(ran).toEqual(steps.slice(0, n));
    hold(scene, false);
    await scene.settle();
  }
  expect(ran).toEqual(steps);
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED" });
});

test("WRK-8 a body that is held when its sibling fails is cancelled without having run", async () => {
  const { started, work, end } = gated();
  const fails = task({ name: "fails" }, async () => Promise.reject(await work("failing")));
  const scene = new Scene([
    workflow({ name: "w" }, async () =>
      parallel([fails, async () => [await work("a"), await work("b")]]),
    ),
  ]);
  await scene.start();
  hold(scene);
  end("a");
  await scene.settle();
  end("failing", new Error("no"));
  expect(await scene.toEnd()).toMatchObject({ state: "FAILED" });
  expect(started.toSorted()).toEqual(["a", "failing"]);
  expect(scene.story().filter((line) => line.startsWith("TASK_CANCELLED"))).toHaveLength(1);
});

test("WRK-8 a cancel reaches a held execution; its rollbacks wait until it is let go", async () => {
  const undone: string[] = [];
  const { work } = gated();
  const first = task({ name: "first", rollback: () => void undone.push("first") }, async () => 1);
  const hanging = task(
    { name: "hanging", rollback: () => void undone.push("hanging") },
    () => new Promise(() => {}),
  );
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      await first();
      await parallel([hanging, () => work("a")]);
    }),
  ]);
  await scene.start();
  hold(scene);
  scene.engine.cancel("e1");
  await scene.advance(3_000);
  expect(scene.row()).toMatchObject({ state: "CANCELLING" });
  expect(undone).toEqual([]);
  expect(scene.engine.stalled).toContain("e1");

  hold(scene, false);
  expect(await scene.toEnd()).toMatchObject({ state: "CANCELLED" });
  expect(undone).toContain("hanging");
});

test("EXE-42 WRK-8 a rollback that is held when a cancel comes runs once it may, and only once", async () => {
  const undone: string[] = [];
  const { started, body, end } = gated();
  const fails = task(
    { name: "fails", rollback: async (what: string) => void undone.push(what) },
    async (what: string) => {
      await body(what);
      throw new Error("no");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => fails("a"))]);
  await scene.start();
  hold(scene);
  end("a");
  await scene.settle();
  expect([started, undone]).toEqual([["a"], []]);

  scene.engine.cancel("e1");
  await scene.settle();
  expect(undone).toEqual([]);
  hold(scene, false);
  await scene.toEnd();
  expect(undone).toEqual(["a"]);
  expect(scene.row().state).toBe("CANCELLED");
  expect(scene.story().filter((line) => line.includes("ROLLBACK"))).toEqual([
    "TASK_ROLLBACK_STARTED fails~1",
    "TASK_ROLLBACK_STARTED fails~1",
    "TASK_ROLLBACK_COMPLETED fails~1",
  ]);
});
