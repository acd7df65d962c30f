import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

const RESOURCES = "ENGINE_WORKERS__RESOURCES";

function startWorker(engine: Engine, name: string, memory: string, gpu: string) {
  return engine.startWorker(name, {
    [`${RESOURCES}__MEMORY`]: memory,
    [`${RESOURCES}__GPU`]: gpu,
    ENGINE_WORKERS__THREADS: "2",
  });
}

test("RES-1 to RES-4 executions wait for a worker with what they and their tasks request, and its tasks for each other", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("weighty");
  const few = [
    startWorker(engine, "small", "2GiB", "1"),
    startWorker(engine, "blind", "8GiB", "0"),
  ];
  await Promise.all(few.map((worker) => worker.printed(/connected/)));
  const file = engine.home.file("lock");
  const ids = await Promise.all([1, 2, 3].map(() => engine.start("weighty", file)));
  for (const id of ids) {
    expect(await engine.http.execution(id)).toMatchObject({ state: "CREATED", worker: null });
  }
  startWorker(engine, "fits", "8GiB", "1");

  for (const id of ids) {
    expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED", output: "done" });
    const claims = (await engine.http.log(id)).filter(({ type }) => type === "WORKFLOW_CLAIMED");
    expect(claims).toMatchObject([{ value: { worker: "fits" } }]);
  }
  const { stdout } = await engine.cli("workflow", "show", "weighty");
  expect(stdout).toMatch(/needs +3 GiB memory, packages zod@>=4/);
  expect(stdout).toContain("alone (needs 10 MiB memory, 1 GPU)");
});

test("RES-1 a file with a wrong request is refused at its line, and nothing is registered", async () => {
  await using engine = await startEngine({ workers: [] });
  const path = await engine.home.write(
    "wrong.ts",
    `import { workflow } from "@engine/sdk";
export const wrong = workflow(
  { name: "wrong", requests: { memory: "16 gigs" } },
  async () => {},
);
`,
  );
  const { code, stderr } = await engine.cli("workflow", "register", path);
  expect(code).toBe(1);
  expect(stderr).toMatch(/wrong\.ts:3:40.*requests\.memory.*"16 gigs"/s);
  expect((await engine.http.get("/workflows/default/wrong")).status).toBe(404);
});

test("RES-3 a resource that is no amount stops the worker, naming the key", async () => {
  await using engine = await startEngine({ workers: [] });
  const worker = startWorker(engine, "one", "plenty", "0");
  const { code, stderr } = await worker.result();
  expect(code).toBe(2);
  expect(stderr).toMatch(/ENGINE_WORKERS__RESOURCES__MEMORY.*"16GiB"; got "plenty"/);
});
