import type { Assignment, WorkerPackage, WorkerResources } from "@engine/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lacks } from "../gate/fits.ts";
import { settled } from "../testing/manual-time.ts";
import type { ScriptedWorker } from "../testing/scripted-worker.ts";
import { hello, TestEngine } from "../testing/start-engine.ts";

const GIB = 2 ** 30;

function resources(changes: Partial<WorkerResources> = {}): WorkerResources {
  return {
    cpu_total: 8,
    cpu_available: 8,
    memory_total: 16 * GIB,
    memory_available: 16 * GIB,
    disk_total: 100 * GIB,
    disk_free: 100 * GIB,
    gpus: [],
    ...changes,
  };
}

const gpus = (count: number) =>
  Array.from({ length: count }, () => ({ name: "gpu", memory_total: 0 }));

/** A server with the workflow `w`, which requests this; its only task requests `task`. */
async function requesting(requests: string, task = "{}"): Promise<TestEngine> {
  const t = await TestEngine.start();
  const source = `import { call, task, workflow } from "@engine/sdk";
const t = task({ name: "t", requests: ${task} }, async () => {});
export const w = workflow({ name: "w", requests: ${requests} }, async () => t());
export const parent = workflow({ name: "parent" }, async () => call(w));
`;
  await t.engine.catalog.register({ source }, { by: null });
  return t;
}

async function join(
  t: TestEngine,
  name: string,
  has: WorkerResources | null = resources(),
  packages: WorkerPackage[] = [],
): Promise<ScriptedWorker> {
  const worker = t.strangeWorker(name);
  await worker.register({ resources: has, packages });
  await worker.connect();
  return worker;
}

async function start(t: TestEngine, workflow = "w") {
  return (await t.engine.executions.start({ ...hello(), workflow })).row;
}

/** Once everything has come to rest, which worker has it. */
async function owner(t: TestEngine, execution_id: string): Promise<string | null> {
  await settled();
  return (await t.row(execution_id)).worker;
}

test("RES-2 only a worker that has what is requested gets it, whoever has less to do", async () => {
  await using t = await requesting(`{ cpu: 4, memory: "12GiB", disk: "50GiB", gpu: 1 }`);
  await join(t, "a-slow", resources({ cpu_total: 3, gpus: gpus(1) }));
  await join(t, "b-small", resources({ memory_total: 8 * GIB, gpus: gpus(1) }));
  await join(t, "c-full", resources({ disk_free: 49 * GIB, gpus: gpus(1) }));
  await join(t, "d-blind", resources());
  const { execution_id } = await start(t);
  expect(await owner(t, execution_id)).toBeNull();
  await join(t, "e-fits", resources({ gpus: gpus(1) }));
  expect(await owner(t, execution_id)).toBe("e-fits");
});

test("RES-2 an execution that nobody has the resources for says what it needs", async () => {
  await using t = await requesting(`{ cpu: 9, packages: ["sharp@^1"] }`, "{ gpu: 2 }");
  await join(t, "w");
  const request = { ...hello(), workflow: "w", park_ttl: 1 };
  const { execution_id } = (await t.engine.executions.start(request)).row;
  await t.time.advance(2_000);
  expect((await t.row(execution_id)).failure).toMatchObject({
    type: "ParkTimeoutError",
    message: expect.stringContaining("(cpu 9, package sharp@^1, gpu 2 for a task of it)"),
    details: { code: "no_matching_worker" },
  });
});

test("RES-2 what its executions have reserved is not given out again, and their end gives it back", async () => {
  await using t = await requesting(`{ memory: "6GiB" }`);
  const worker = await join(t, "w");
  const [first, second, third] = [await start(t), await start(t), await start(t)];
  expect(await owner(t, first.execution_id)).toBe("w");
  expect(await owner(t, second.execution_id)).toBe("w");
  expect(await owner(t, third.execution_id)).toBeNull();
  await worker.completed(await worker.next("assign"), null);
  expect(await owner(t, third.execution_id)).toBe("w");
});

test("RES-2 those that request nothing go past one that waits for room", async () => {
  await using t = await requesting("{ cpu: 8 }");
  await join(t, "w");
  await start(t);
  const waiting = await start(t);
  const plain = await t.run();
  expect(await owner(t, plain.execution_id)).toBe("w");
  expect(await owner(t, waiting.execution_id)).toBeNull();
});

/** What makes a worker give an execution back while that lives on. */
const GIVEN_BACK: readonly (readonly [
  string,
  (worker: ScriptedWorker, assigned: Assignment, t: TestEngine) => Promise<unknown>,
])[] = [
  ["pausing", (worker, assigned) => worker.paused(assigned)],
  [
    "parking",
    (worker, assigned) =>
      worker.parked(assigned, [
        worker.callEvent("TASK_STARTED", "sleep~1", { until: "2100-01-01T00:00:00.000Z" }),
      ]),
  ],
  [
    "failing",
    (worker, assigned) =>
      worker.checkpoint(assigned, assigned.head, "FAILED", [
        worker.begin(assigned),
        worker.event(assigned, "WORKFLOW_FAILED", {
          type: "Error",
          code: null,
          message: "no",
          retryable: false,
          details: null,
          cause: null,
          attempts: 1,
          task_call_id: null,
        }),
      ]),
  ],
];

test.each(GIVEN_BACK)("RES-2 %s gives the reservation back", async (_, giveBack) => {
  await using t = await requesting("{ gpu: 2, cpu: 1 }");
  const worker = await join(t, "w", resources({ gpus: gpus(3) }));
  await start(t);
  const { execution_id } = await start(t);
  expect(await owner(t, execution_id)).toBeNull();
  await giveBack(worker, await worker.next("assign"), t);
  expect(await owner(t, execution_id)).toBe("w");
  const { reserved } = await t.engine.fleet.show("w");
  expect(reserved).toEqual({ cpu: 1, memory: 0, disk: 0, gpu: 2 });
});

test("RES-2 a resumed execution reserves again, on a worker that has room", async () => {
  await using t = await requesting("{ cpu: 8 }");
  const worker = await join(t, "a");
  const { execution_id } = await start(t);
  await worker.paused(await worker.next("assign"));
  const second = await start(t);
  expect(await owner(t, second.execution_id)).toBe("a");
  await t.engine.executions.resume({ execution_id, input: 1, by: null });
  expect(await owner(t, execution_id)).toBeNull();
  await join(t, "b");
  expect(await owner(t, execution_id)).toBe("b");
});

test("RES-2 a worker that reconnects has its executions' reservations as before", async () => {
  await using t = await requesting("{ cpu: 5 }");
  const worker = await join(t, "w");
  const first = await start(t);
  const { generation, head } = await worker.next("assign");
  worker.connection?.close();
  await worker.connect([{ execution_id: first.execution_id, generation, seq: head }]);
  const second = await start(t);
  expect(await owner(t, second.execution_id)).toBeNull();
});

test("RES-2 the available values of each heartbeat count: less than the total, and then more", async () => {
  await using t = await requesting(`{ memory: "10GiB" }`);
  const worker = await join(t, "w", resources({ memory_available: 4 * GIB }));
  const { execution_id } = await start(t);
  expect(await owner(t, execution_id)).toBeNull();
  await worker.beat([], { resources: resources({ memory_available: 9 * GIB }) });
  expect(await owner(t, execution_id)).toBeNull();
  await worker.beat([], { resources: resources({ memory_available: 10 * GIB }) });
  expect(await owner(t, execution_id)).toBe("w");
});

test("RES-2 a worker that reports no resources has room for whatever is requested", async () => {
  await using t = await requesting("{ cpu: 500 }", "{ gpu: 80 }");
  await join(t, "w", null);
  expect(await owner(t, (await start(t)).execution_id)).toBe("w");
});

test.each([
  ["sharp", ["sharp@0.33.5"], true],
  ["sharp", ["sharp@1.0.0-beta.1"], true],
  ["sharp", ["sharp-cli@1.0.0"], false],
  ["sharp@^0.33", ["sharp@0.33.5"], true],
  ["sharp@^0.33", ["sharp@0.34.0"], false],
  ["sharp@^0.33", ["sharp@0.34.0", "sharp@0.33.0"], true],
  ["sharp@>=0.30 <0.32 || 1.x", ["sharp@1.9.0"], true],
  ["sharp@*", ["sharp@"], false],
  ["@acme/fonts@~2.1", ["@acme/fonts@2.1.9"], true],
  ["@acme/fonts", ["fonts@2.1.9"], false],
])("RES-2 whether %s is matched by %j: %j", (wanted, installed, isMatched) => {
  const packages = installed.map((text) => {
    const at = text.lastIndexOf("@");
    return { name: text.slice(0, at), version: text.slice(at + 1) };
  });
  const of = { worker: "w", runners: ["thread"] as const, labels: {}, metadata: {} };
  const has = { ...of, resources: resources(), packages };
  const requirements = { requests: { packages: ["typescript", wanted] } };
  const typescript = { name: "typescript", version: "7.0.2" };
  const missing = lacks({ requirements }, { ...has, packages: [typescript, ...packages] });
  expect(missing).toBe(isMatched ? undefined : `package ${wanted}`);
});

test("RES-2 every requested package must match, and a worker that has them all gets it", async () => {
  await using t = await requesting(`{ packages: ["sharp@^0.33", "zod"] }`);
  await join(t, "a-neither");
  await join(t, "b-one", resources(), [{ name: "sharp", version: "0.33.1" }]);
  const { execution_id } = await start(t);
  expect(await owner(t, execution_id)).toBeNull();
  await join(t, "c-both", null, [
    { name: "sharp", version: "0.33.1" },
    { name: "zod", version: "4.0.0" },
  ]);
  expect(await owner(t, execution_id)).toBe("c-both");
});

test("RES-2 children and forks request what their own workflow does", async () => {
  await using t = await requesting(`{ memory: "1GiB" }`);
  const worker = await join(t, "w");
  await start(t, "parent");
  const child = { workflow: "default/w", input: null, wait: true, detach: false };
  await worker.parked(await worker.next("assign"), [
    worker.callEvent("TASK_STARTED", "call~1", child),
  ]);
  const assigned = await worker.next("assign");
  expect(await t.row(assigned.execution_id)).toMatchObject({
    requirements: { requests: { memory: GIB } },
  });
  await worker.completed(assigned, null);
  const by = null;
  const fork = await t.engine.executions.fork({ execution_id: assigned.execution_id, by });
  expect(fork.row).toMatchObject({ requirements: { requests: { memory: GIB } } });
});

test("RES-4 a workflow goes only where its largest task request fits into the totals, and reserves nothing for it", async () => {
  await using t = await requesting("{}", `{ cpu: 6, memory: "12GiB", gpu: 1 }`);
  await join(t, "a-slow", resources({ cpu_total: 5, gpus: gpus(1) }));
  await join(t, "b-blind");
  const executions = [await start(t), await start(t), await start(t)];
  for (const { execution_id } of executions) expect(await owner(t, execution_id)).toBeNull();
  await join(t, "c-busy", resources({ cpu_available: 0, memory_available: 0, gpus: gpus(1) }));
  for (const { execution_id } of executions) {
    expect(await owner(t, execution_id)).toBe("c-busy");
  }
});

test("RES-2 however starts, pauses, ends and resumes race, no worker has more than it has", async () => {
  const size = fc.constantFrom("s", "m", "l");
  const step = fc.oneof(
    fc.record({ kind: fc.constant("start" as const), sizes: fc.array(size, { maxLength: 6 }) }),
    fc.record({ kind: fc.constant("work" as const), ends: fc.array(fc.boolean()) }),
    fc.record({ kind: fc.constant("resume" as const) }),
  );
  const SIZES = { s: 0.1, m: 1.5, l: 4 };
  const source = `import { workflow } from "@engine/sdk";
${Object.entries(SIZES)
  .map(
    ([name, cpu]) =>
      `export const ${name} = workflow({ name: "${name}", requests: { cpu: ${cpu}, memory: "${cpu}GiB" } }, async () => {});`,
  )
  .join("\n")}`;

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      await using t = await TestEngine.start();
      await t.engine.catalog.register({ source }, { by: null });
      const workers = [
        await join(t, "a", resources({ cpu_total: 4.2, cpu_available: 4.2 })),
        await join(t, "b", resources({ memory_total: 3 * GIB, memory_available: 3 * GIB })),
      ];
      const paused: string[] = [];
      const frames = new Map(workers.map((worker) => [worker, 0]));
      for (const action of steps) {
        if (action.kind === "start") {
          await Promise.all(action.sizes.map((name) => start(t, name)));
        } else if (action.kind === "resume") {
          const resumed = paused
            .splice(0)
            .map((execution_id) =>
              t.engine.executions.resume({ execution_id, input: 1, by: null }),
            );
          await Promise.all(resumed);
        } else {
          await Promise.all(workers.map((worker) => work(worker, action.ends)));
        }
        await settled();
        await expectNoneExceeded(t);
      }

      async function work(worker: ScriptedWorker, ends: readonly boolean[]): Promise<void> {
        const assigned = worker.frames
          .slice(frames.get(worker))
          .flatMap((frame) => (frame.event === "assign" ? [frame.data] : []));
        frames.set(worker, worker.frames.length);
        await Promise.all(
          assigned.map(async (assignment, index) => {
            if (ends[index] || assignment.reason !== "start") {
              await worker.completed(assignment, null);
            } else {
              await worker.paused(assignment);
              paused.push(assignment.execution_id);
            }
          }),
        );
      }
    }),
    { numRuns: 25 },
  );
});

async function expectNoneExceeded(t: TestEngine): Promise<void> {
  for (const [name, cpu, memory] of [
    ["a", 4.2, 16 * GIB],
    ["b", 8, 3 * GIB],
  ] as const) {
    const { reserved } = await t.engine.fleet.show(name);
    expect(reserved.cpu).toBeLessThanOrEqual(cpu + 1e-6);
    expect(reserved.memory).toBeLessThanOrEqual(memory);
  }
}
