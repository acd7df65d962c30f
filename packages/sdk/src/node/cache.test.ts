import { expect, test } from "vitest";
import { type TaskOptions, task, workflow } from "../index.ts";
import { memoryServices } from "../testing/memory-services.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { Scene } from "./testing/scene.ts";

type Cache = Exclude<TaskOptions<unknown, unknown>["cache"], undefined>;

/** Two executions after each other that call a cached task with these inputs; what the task ran with. */
async function runs(cache: Cache, first: unknown, second: unknown, give = (n: unknown) => n) {
  const services = memoryServices({ hash: new ManualClock().host.hash });
  const ran: unknown[] = [];
  const cached = task({ name: "cached", cache }, async (input: unknown) => {
    ran.push(input);
    return give(input);
  });
  const wf = workflow({ name: "w" }, async (input: unknown) => cached(input));
  const scenes: Scene[] = [];
  for (const input of [first, second]) {
    const scene = new Scene([wf], { services });
    await scene.run(input);
    scenes.push(scene);
  }
  return { ran, scenes };
}

test("EXE-49a a hit writes start and outcome with meta.cached and does not run the task", async () => {
  const { ran, scenes } = await runs(true, { a: 1 }, { a: 1 });
  expect(ran).toEqual([{ a: 1 }]);
  const [, hit] = scenes;
  expect(hit?.story().slice(3)).toEqual([
    "TASK_STARTED cached~1",
    "TASK_COMPLETED cached~1",
    "WORKFLOW_COMPLETED",
  ]);
  expect(hit?.log()[4]?.meta).toMatchObject({ cached: true });
  expect(hit?.row().output).toEqual({ a: 1 });
  expect(scenes[0]?.log()[4]?.meta).not.toHaveProperty("cached");
});

test("EXE-49a another input is another entry", async () => {
  expect((await runs(true, 1, 2)).ran).toEqual([1, 2]);
});

test("EXE-49a key(input) says which inputs share an entry", async () => {
  const key = ({ id }: { id: number }) => id;
  const cache = { key } as Cache;
  expect((await runs(cache, { id: 1, at: 1 }, { id: 1, at: 2 })).ran).toHaveLength(1);
  expect((await runs(cache, { id: 1, at: 1 }, { id: 2, at: 1 })).ran).toHaveLength(2);
});

test.each([
  ["null", null],
  ["undefined", undefined],
])("EXE-49a %s is a hit", async (_, value) => {
  const { ran, scenes } = await runs(true, 1, 1, () => value);
  expect(ran).toEqual([1]);
  expect(scenes[1]?.row().state).toBe("COMPLETED");
});

test("EXE-49a rich values come out of the cache as they went in", async () => {
  const { scenes } = await runs(true, 1, 1, () => new Map([["at", new Date(5)]]));
  expect(scenes[1]?.row().output).toEqual(scenes[0]?.row().output);
});

test("EXE-49a a failure is never kept", async () => {
  let fails = true;
  const { ran, scenes } = await runs(true, 1, 1, () => {
    if (!fails) return "good";
    fails = false;
    throw new Error("no");
  });
  expect(ran).toEqual([1, 1]);
  expect(scenes.map((scene) => scene.row().state)).toEqual(["FAILED", "COMPLETED"]);
});

test("EXE-49a what is looked up and kept: namespace, task, version, digest, ttl", async () => {
  const asked: unknown[] = [];
  const { host } = new ManualClock();
  const services = {
    lookUp: async (key: unknown) => void asked.push(["lookUp", key]),
    keep: async (key: unknown, text: string, ttl: number) =>
      void asked.push(["keep", key, text, ttl]),
  } as never;
  const plain = task({ name: "plain", cache: true }, async (n: number) => n + 1);
  const tuned = plain.with({ cache: { ttl: "2h", version: "7" } });
  const wf = workflow({ name: "w", namespace: "shop" }, async () => [
    await plain(1),
    await tuned(1),
  ]);
  await new Scene([wf], { services }).run();
  const digest = host.hash("1");
  const key = { namespace: "shop", task: "plain", version: "1", digest };
  expect(asked).toEqual([
    ["lookUp", key],
    ["keep", key, "2", 24 * 3_600_000],
    ["lookUp", { ...key, version: "7" }],
    ["keep", { ...key, version: "7" }, "2", 2 * 3_600_000],
  ]);
});

test("EXE-49a a cache that does not answer is no reason to fail", async () => {
  const broken = () => Promise.reject(new Error("away"));
  const cached = task({ name: "cached", cache: true }, async () => "ran");
  const wf = workflow({ name: "w" }, async () => cached());
  const scene = new Scene([wf], { services: { lookUp: broken, keep: broken } });
  await scene.run();
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: "ran" });
  expect(scene.clock.logged.filter(({ level }) => level === "warn")).toHaveLength(2);
});

test("EXE-49a a cached outcome is replayed from the log, whatever the cache holds by then", async () => {
  const { scenes } = await runs(true, 1, 1);
  const hit = scenes[1];
  if (!hit) throw new Error("no second run");
  for (const crash of hit.crashPoints) {
    const again = hit.after(crash);
    await again.toEnd();
    expect(again.row().output, crash.at).toBe(1);
  }
});

test("EXE-4 a cache of a sensitive task is refused at definition", () => {
  const define = () => task({ name: "t", cache: true, sensitive: true }, async () => 1);
  expect(define).toThrow(/cache.*sensitive|sensitive.*cache/);
});
