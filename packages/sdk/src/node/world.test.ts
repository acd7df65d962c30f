import { expect, test } from "vitest";
import { parallel, pause, sleep, task, workflow } from "../index.ts";
import { currentScope } from "../replay/calls/scope.ts";
import { Scene } from "./testing/scene.ts";

const world = () => {
  const found = currentScope()?.runtime.world;
  if (!found) throw new Error("no world");
  return found;
};
const timer = (then: () => void, ms: number) => {
  const scope = currentScope();
  if (!scope) throw new Error("no scope");
  const { timer: set } = scope.runtime.world;
  if (!set) throw new Error("no timers");
  return set(scope, then, ms);
};

test("EXE-31 the body's clock is the time of the newest event it has received, equal on replay", async () => {
  const seen: number[][] = [];
  const wf = workflow({ name: "w" }, async () => {
    const times = [world().now()];
    seen.push(times);
    await sleep("1h");
    times.push(world().now());
    await parallel([
      async () => {
        await sleep(300);
        times.push(world().now());
      },
      () => sleep(700),
    ]);
    times.push(world().now());
    await pause("p");
    times.push(world().now());
  });
  const scene = new Scene([wf], {
    answer: ({ engine }) => {
      if (engine.row("e1").state !== "PAUSED") return false;
      engine.resume("e1", null);
      return true;
    },
  });
  await scene.run();
  const last = seen.at(-1) ?? [];
  for (const times of seen) expect(last.slice(0, times.length)).toEqual(times);
  expect(last).toHaveLength(5);
  expect([...last].sort((a, b) => a - b)).toEqual(last);
  const outcomes = scene
    .log()
    .filter(({ type, name }) => type === "TASK_COMPLETED" && name === "sleep");
  expect(last.slice(1, 4)).toEqual(
    outcomes.map(({ time }) => Date.parse(`${time.replace(" ", "T")}Z`)),
  );
});

test("EXE-31 numbers come from the seed: equal on replay, another for another seed", async () => {
  const drawn: number[][] = [];
  const wf = workflow({ name: "w" }, async () => {
    drawn.push(Array.from({ length: 100 }, () => world().random()));
    await pause("p");
  });
  const scene = new Scene([wf]);
  await scene.start();
  scene.engine.resume("e1", null);
  await scene.toEnd();
  const [first = [], again] = drawn;
  expect(again).toEqual(first);
  expect(first.every((n) => n >= 0 && n < 1)).toBe(true);
  const mean = first.reduce((sum, n) => sum + n, 0) / first.length;
  expect(mean).toBeGreaterThan(0.3);
  expect(mean).toBeLessThan(0.7);
  const other = new Scene([wf]);
  other.engine.start(wf, null, { seed: "another" });
  await other.settle();
  expect(drawn.at(-1)).not.toEqual(first);
});

test("EXE-31 a timer is a sleep call whose end runs the function, once, also when it is long", async () => {
  const fired: string[] = [];
  const done = task({ name: "done" }, async () => 1);
  const wf = workflow({ name: "w" }, async () => {
    await new Promise<void>((resolve) =>
      timer(() => {
        fired.push("long");
        resolve();
      }, 3_600_000),
    );
    await done();
    return "on";
  });
  const scene = new Scene([wf]);
  await scene.start();
  expect(scene.row()).toMatchObject({ session: null, waits: [{ kind: "sleep" }] });
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "on" });
  expect(fired).toEqual(["long"]);
});

test("EXE-31 a timer that is cleared ends its call and never fires", async () => {
  const fired: string[] = [];
  const wf = workflow({ name: "w" }, async () => {
    const clear = timer(() => fired.push("cleared"), 3_600_000);
    await sleep(10);
    clear();
    clear();
    await pause("p");
    return "on";
  });
  const scene = new Scene([wf]);
  await scene.start();
  await scene.settle();
  await scene.advance(10);
  expect(scene.story()).toContain("TASK_CANCELLED sleep~1");
  expect(scene.row()).toMatchObject({ state: "PAUSED", waits: [{ kind: "pause" }] });
  scene.engine.resume("e1", null);
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "on" });
  expect(fired).toEqual([]);
  for (const crash of scene.crashPoints) {
    const again = scene.after(crash);
    await again.settle();
    await again.advance(20);
    if (again.row().state === "PAUSED") again.engine.resume("e1", null);
    await again.toEnd();
    expect(again.row().state, crash.at).toBe("COMPLETED");
    expect(fired, crash.at).toEqual([]);
  }
});

test("EXE-31 what a timer's function throws or leaves open does not stand in the way of the end", async () => {
  const late = task({ name: "late" }, async () => 1);
  const wf = workflow({ name: "w" }, async () => {
    timer(() => void late(), 10);
    await sleep(20);
    return "on";
  });
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "on" });
  expect(scene.story()).toContain("TASK_COMPLETED late~1");
});

test("EXE-31 the world tells a replay from the first pass", async () => {
  const passes: boolean[][] = [];
  const wf = workflow({ name: "w" }, async () => {
    const pass = [world().isReplaying];
    passes.push(pass);
    await sleep(10);
    pass.push(world().isReplaying);
    await pause("p");
    pass.push(world().isReplaying);
  });
  const scene = new Scene([wf], {
    answer: ({ engine }) => {
      if (engine.row("e1").state !== "PAUSED") return false;
      engine.resume("e1", null);
      return true;
    },
  });
  await scene.run();
  expect(passes[0]).toEqual([false, false]);
  expect(passes[1]?.slice(0, 2)).toEqual([true, true]);
});

test("EXE-31 a warning goes to the worker's log once per key", async () => {
  const wf = workflow({ name: "w" }, async () => {
    for (let i = 0; i < 3; i++) world().warn("fetch", "move fetch into a task");
  });
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.clock.logged.filter(({ level }) => level === "warn")).toEqual([
    { level: "warn", message: "move fetch into a task" },
  ]);
});

test("EXE-31 after a cold replay the body's output appears again from the first thing it had not done", async () => {
  const seen: string[] = [];
  const wf = workflow({ name: "w" }, async () => {
    seen.push(`start ${world().isReplaying}`);
    const answer = await pause("p");
    seen.push(`${answer} ${world().isReplaying}`);
  });
  const scene = new Scene([wf], {
    answer: ({ engine }) => {
      if (engine.row("e1").state !== "PAUSED") return false;
      engine.resume("e1", "answered");
      return true;
    },
  });
  await scene.run();
  expect(seen.slice(-2)).toEqual(["start true", "answered false"]);
  expect(seen[0]).toBe("start false");
});
