import { referenceOf } from "@engine/contract";
import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";
import { until } from "../testing/until.ts";

const TASKS = `
import { getConfig, pause, task, workflow } from "@engine/sdk";
let ran = 0;
const long = task({ name: "long" }, async (length) => "x".repeat(length));
const costly = task({ name: "costly", cache: true }, async (n) => { ran++; return n * 2; });
const signs = task({ name: "signs", secrets: ["KEY"], configs: ["region"] },
  async (_, { secrets, configs }) => secrets.KEY + " in " + configs.region);
export const large = workflow({ name: "large" }, async (length) => {
  const text = await long(length);
  await pause("look");
  return text.length;
});
export const cached = workflow({ name: "cached" }, async (n) => [await costly(n), ran]);
const placed = task({ name: "placed", configs: ["region"] }, async (_, { configs }) => configs.region);
export const placing = workflow({ name: "placing" }, async () => placed());
export const asking = workflow({ name: "asking" }, async () => {
  try {
    return await getConfig("region");
  } catch (error) {
    return [error.name, error.message];
  }
});
export const signing = workflow({ name: "signing" }, async () => signs());
`;

test("EXE-49 a large output is kept by the server, and a replay reads it back", async () => {
  const server = new FakeServer();
  server.limits = { ...server.limits, inline_value_bytes: 1024 };
  await using worker = await startTestWorker(server, { warm_executions: 0 });
  const id = server.start("large", server.addModule(TASKS), { input: 5000 });
  await server.until(() => server.row(id).state === "PAUSED");
  await until(() => worker.status().running === 0);
  const completed = server.log(id).find((event) => event.type === "TASK_COMPLETED");
  const reference = referenceOf(completed?.value ?? null);
  expect(reference?.reference_id).toMatch(/^execution-\d+\/[0-9a-f]{64}$/);
  expect(server.storage.values.get(reference?.reference_id ?? "")).toBe(`"${"x".repeat(5000)}"`);
  server.resume(id, null);

  expect(await server.finished(id)).toMatchObject({ state: "COMPLETED", output: 5000 });
});

test("EXE-49 network trouble on the way to the storage is tried again", async () => {
  const server = new FakeServer();
  server.limits = { ...server.limits, inline_value_bytes: 1024 };
  let tries = 0;
  server.before = (call) => {
    if (call === "saveValue" && ++tries < 3) throw new Error("connection reset");
  };
  await using _worker = await startTestWorker(server);
  const id = server.start("large", server.addModule(TASKS), { input: 5000 });
  await server.until(() => server.row(id).state === "PAUSED");

  expect(tries).toBe(3);
  expect(server.storage.values.size).toBe(1);
});

test("EXE-49a an output that was kept spares every later execution the task", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(TASKS);
  const first = await server.finished(server.start("cached", hash, { input: 4 }));
  await until(() => server.storage.cache.size === 1);
  const second = await server.finished(server.start("cached", hash, { input: 4 }));
  const other = await server.finished(server.start("cached", hash, { input: 5 }));

  expect(first.output).toEqual([8, 1]);
  expect(second.output).toEqual([8, 1]);
  expect(other.output).toEqual([10, 2]);
  const hit = server.log(second.execution_id).find(({ type }) => type === "TASK_COMPLETED");
  expect(hit?.meta).toMatchObject({ cached: true });
});

test("EXE-5 a secret that does not exist fails the call by its name", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const { state, failure } = await server.finished(
    server.start("signing", server.addModule(TASKS)),
  );

  expect(state).toBe("FAILED");
  expect(failure).toMatchObject({ type: "SecretMissingError" });
  expect(failure?.message).toContain("KEY");
});

test("EXE-5 a config that does not exist fails the task that declares it and the body that asks", async () => {
  const server = new FakeServer();
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(TASKS);
  const { state, failure } = await server.finished(server.start("placing", hash));
  expect(state).toBe("FAILED");
  expect(failure).toMatchObject({ type: "ConfigMissingError", code: "config_missing" });
  expect(failure?.message).toContain("region");

  const asking = await server.finished(server.start("asking", hash));
  expect(asking.output).toEqual(["ConfigMissingError", expect.stringContaining('"region"')]);
});

test("EXE-5 SEC-6 a task gets the secrets and configs it declares from the server, at each call", async () => {
  const server = new FakeServer();
  server.secretValues.set("KEY", "k-1");
  server.configValues.set("region", "eu");
  await using _worker = await startTestWorker(server);
  const hash = server.addModule(TASKS);
  expect(await server.finished(server.start("signing", hash))).toMatchObject({
    output: "k-1 in eu",
  });
  server.secretValues.set("KEY", "k-2");
  expect(await server.finished(server.start("signing", hash))).toMatchObject({
    output: "k-2 in eu",
  });
  const once = ["secret KEY", "config region"];
  expect(server.askedNames).toEqual([...once, ...once]);
});

test("EXE-5 EXE-40 SEC-6 a secret that the server does not have fails the task by its name", async () => {
  const server = new FakeServer();
  server.configValues.set("region", "eu");
  await using _worker = await startTestWorker(server);
  const id = server.start("signing", server.addModule(TASKS));
  const { failure } = await server.finished(id);
  expect(failure).toMatchObject({ type: "SecretMissingError" });
  expect(failure?.message).toContain("KEY");
});

test("EXE-5 a task gets the secrets and configs it declares of a source that the worker brings", async () => {
  const server = new FakeServer();
  const asked: unknown[][] = [];
  await using _worker = await startTestWorker(
    server,
    {},
    {
      values: {
        secrets(...args) {
          asked.push(args);
          return Promise.resolve({ KEY: "k-1" });
        },
        configs(...args) {
          asked.push(args);
          return Promise.resolve({ region: "eu" });
        },
      },
    },
  );
  const id = server.start("signing", server.addModule(TASKS));

  expect(await server.finished(id)).toMatchObject({ output: "k-1 in eu" });
  expect(asked).toEqual([
    [id, "signs", ["KEY"]],
    [id, "signs", ["region"]],
  ]);
});
