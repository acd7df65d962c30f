import { decode, EngineError, referenceOf, type StoredReference } from "@engine/contract";
import { expect, test } from "vitest";
import {
  type OutputStorage,
  pause,
  type TaskContext,
  type TaskOptions,
  task,
  workflow,
} from "../index.ts";
import { memoryServices } from "../testing/memory-services.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { Scene } from "./testing/scene.ts";

const limits = { inline_value_bytes: 100, max_value_bytes: 10_000 };
const large = (mark: string) => ({ mark, text: "x".repeat(200) });
const give = task({ name: "give" }, async (mark: string) => large(mark));

/** Runs to the pause in the body, resumes, and so replays everything before it. */
async function replayed(
  body: (seen: unknown[]) => Promise<unknown>,
  options = {},
): Promise<[Scene, unknown[]]> {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    const output = await body(seen);
    await pause("p");
    return output;
  });
  const scene = new Scene([wf], { limits, ...options });
  await scene.start();
  expect(scene.row().state).toBe("PAUSED");
  scene.engine.resume("e1", null);
  await scene.toEnd();
  return [scene, seen];
}

test("EXE-49 a large output lies outside the log under its hash; live and on replay it is whole", async () => {
  const [scene, seen] = await replayed(async (into) => into.push(await give("a")));
  const completed = scene.log().find(({ type }) => type === "TASK_COMPLETED");
  const { host } = new ManualClock();
  expect(referenceOf(completed?.value ?? null)).toEqual({
    storage_type: "file",
    reference_id: expect.stringContaining(host.hash(JSON.stringify(large("a")))),
    metadata: { bytes: JSON.stringify(large("a")).length },
  });
  expect(seen).toEqual([large("a"), large("a")]);
});

test("EXE-49 a value is stored before the event that names it is written", async () => {
  const order: string[] = [];
  const { hash } = new ManualClock().host;
  const memory = memoryServices({ hash });
  const services = {
    ...memory,
    saveValue: async (text: string) => {
      order.push("saved");
      return memory.saveValue(text);
    },
  };
  const scene = new Scene([workflow({ name: "w" }, async () => (await give("a")).mark)], {
    limits,
    services,
  });
  scene.onDelta = (_, delta) => {
    if (delta.events.includes("$stored")) order.push("written");
  };
  await scene.run();
  expect(order).toEqual(["saved", "written"]);
});

test("EXE-49 a large argument and a large output of the workflow lie outside too", async () => {
  const take = task({ name: "take" }, async (of: unknown) => JSON.stringify(of).length);
  const wf = workflow({ name: "w" }, async () => [await take(large("in")), large("out")]);
  const scene = new Scene([wf], { limits });
  await scene.run();
  const outside = scene.log().filter(({ value }) => referenceOf(value));
  expect(outside.map(({ type }) => type)).toEqual(["TASK_STARTED", "WORKFLOW_COMPLETED"]);
});

test("EXE-29 a large argument that differs is told of, an equal one is not", async () => {
  const take = task({ name: "take" }, async (of: { mark: string }) => of.mark);
  let mark = "a";
  const [same] = await replayed(async () => take(large("a")));
  expect(same.types()).not.toContain("WORKFLOW_WARNING");
  const wf = workflow({ name: "w" }, async () => [await take(large(mark)), await pause("p")]);
  const scene = new Scene([wf], { limits });
  await scene.start();
  mark = "b";
  scene.engine.resume("e1", null);
  await scene.toEnd();
  expect(scene.log().find(({ type }) => type === "WORKFLOW_WARNING")?.value).toMatchObject({
    code: "argument_changed",
    task_call_id: "take~1",
  });
  expect(scene.row().output).toEqual(["a", null]);
});

test("EXE-49 what exceeds max_value_bytes fails with ValueTooLargeError that says what to do", async () => {
  const huge = task({ name: "huge" }, async () => "x".repeat(20_000));
  const scene = new Scene([workflow({ name: "w" }, async () => huge())], { limits });
  await scene.run();
  expect(scene.row().failure).toMatchObject({
    type: "ValueTooLargeError",
    code: "value_too_large",
    task_call_id: "huge~1",
    message: expect.stringContaining("keep large data outside and return a reference"),
  });
  const body = new Scene([workflow({ name: "w" }, async () => "x".repeat(20_000))], { limits });
  await body.run();
  expect(body.row().failure).toMatchObject({ type: "ValueTooLargeError" });
});

test('EXE-49 "inline" keeps the value in the log in an envelope, whatever its size', async () => {
  const inline = task({ name: "inline", outputStorage: "inline" }, async () => ({
    ...large("i"),
    at: new Date(5),
  }));
  const [scene, seen] = await replayed(async (into) => into.push(await inline()));
  const completed = scene.log().find(({ type }) => type === "TASK_COMPLETED");
  const reference = referenceOf(completed?.value ?? null);
  expect(reference).toMatchObject({ storage_type: "inline", reference_id: "e1/inline~1" });
  expect(decode(reference?.metadata["value"] ?? null)).toEqual({ ...large("i"), at: new Date(5) });
  expect(seen[1]).toEqual(seen[0]);
});

test("EXE-49 a storage of the user's keeps the output under the call's id and reads it back on replay", async () => {
  const kept = new Map<string, unknown>();
  const retrieved: StoredReference[] = [];
  const storage: OutputStorage = {
    type: "bucket",
    async store(id, value) {
      kept.set(id, value);
      return { storage_type: "bucket", reference_id: id, metadata: { shelf: 3 } };
    },
    async retrieve(reference) {
      retrieved.push(reference);
      return kept.get(reference.reference_id);
    },
  };
  const stored = task({ name: "stored", outputStorage: storage }, async () => large("s"));
  const [scene, seen] = await replayed(async (into) => into.push(await stored()));
  expect([...kept.keys()]).toEqual(["e1/stored~1"]);
  expect(seen).toEqual([large("s"), large("s")]);
  const completed = scene.log().find(({ type }) => type === "TASK_COMPLETED");
  expect(completed?.value).toEqual({
    $stored: { storage_type: "bucket", reference_id: "e1/stored~1", metadata: { shelf: 3 } },
  });
  expect(retrieved).toHaveLength(1);
});

type Keeping = Pick<TaskOptions<null, ReturnType<typeof large>>, "cache" | "outputStorage">;

/** Its first attempt fails, the second gives a large output. */
function flaky(attempts: number[], keeping: Keeping) {
  const retry = { maxAttempts: 2, delay: 0 };
  return task({ name: "flaky", retry, ...keeping }, async (_: null, { attempt }: TaskContext) => {
    attempts.push(attempt);
    if (attempt === 1) throw new Error("not yet");
    return large("f");
  });
}

test("EXE-49 I4 a retry is not told as completed before what it gave is kept: until then it may run again", async () => {
  const hung = new Promise<never>(() => {});
  let isHung = true;
  const kept = new Map<string, unknown>();
  const bucket: OutputStorage = {
    type: "bucket",
    async store(id, value) {
      if (isHung) await hung;
      kept.set(id, value);
      return { storage_type: "bucket", reference_id: id, metadata: {} };
    },
    retrieve: async ({ reference_id }) => kept.get(reference_id),
  };
  const keep = () => (isHung ? hung : Promise.resolve());
  for (const [options, services] of [
    [{ outputStorage: bucket }, {}],
    [{ cache: true }, { keep }],
  ] as const) {
    isHung = true;
    const attempts: number[] = [];
    const once = flaky(attempts, options);
    const wf = workflow({ name: "w" }, async () => (await once(null)).mark);
    const scene = new Scene([wf], { limits, services });
    await scene.start();
    await scene.advance(100);
    expect(attempts).toEqual([1, 2]);
    expect(scene.story()).not.toContain("TASK_RETRY_COMPLETED flaky~1");

    isHung = false;
    await scene.crash();
    await scene.toEnd();
    expect(attempts).toEqual([1, 2, 2]);
    expect(scene.row().output).toBe("f");
    const told = scene.story().filter((line) => line.includes("COMPLETED flaky~1"));
    expect(told).toEqual(["TASK_RETRY_COMPLETED flaky~1", "TASK_COMPLETED flaky~1"]);
  }
});

test("EXE-49 a storage that cannot keep it, or answers nonsense, fails the call", async () => {
  const broken: OutputStorage = {
    type: "bucket",
    store: () => Promise.reject(new RangeError("bucket is full")),
    retrieve: async () => null,
  };
  const stored = task({ name: "stored", outputStorage: broken }, async () => 1);
  const scene = new Scene([workflow({ name: "w" }, async () => stored())]);
  await scene.run();
  expect(scene.row().failure).toMatchObject({
    type: "RangeError",
    message: "bucket is full",
    task_call_id: "stored~1",
  });

  const vague = { ...broken, store: async () => ({}) as StoredReference };
  const other = task({ name: "other", outputStorage: vague }, async () => 1);
  const second = new Scene([workflow({ name: "w" }, async () => other())]);
  await second.run();
  expect(second.row().state).toBe("FAILED");
});

test("EXE-37 a recorded value that is gone fails the execution with StoredValueMissingError", async () => {
  const { hash } = new ManualClock().host;
  const memory = memoryServices({ hash });
  const services = {
    ...memory,
    loadValue: () => Promise.reject(new EngineError("not_found", "no value x")),
  };
  const [scene] = await replayed(async () => void (await give("a")), { services });
  expect(scene.row()).toMatchObject({
    state: "FAILED",
    failure: {
      type: "StoredValueMissingError",
      code: "stored_value_missing",
      task_call_id: "give~1",
    },
  });
});

test("EXE-37 a recorded value that no runner there has the memory for fails the execution with ValueTooLargeError", async () => {
  const { hash } = new ManualClock().host;
  const services = {
    ...memoryServices({ hash }),
    loadValue: () => Promise.reject(new EngineError("payload_too_large", "512 MiB")),
  };
  const [scene] = await replayed(async () => void (await give("a")), { services });
  const message = "the recorded output of give~1 cannot be read: 512 MiB";
  expect(scene.row()).toMatchObject({
    state: "FAILED",
    failure: { type: "ValueTooLargeError", task_call_id: "give~1", message },
  });
});

test("EXE-27 a stored value that takes long to fetch does not change the order of what follows", async () => {
  const small = task({ name: "small" }, async () => "s");
  const order: string[][] = [];
  const { hash } = new ManualClock().host;
  const memory = memoryServices({ hash });
  const services = {
    ...memory,
    loadValue: async (of: StoredReference) => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      return memory.loadValue(of);
    },
  };
  const wf = workflow({ name: "w" }, async () => {
    const seen: string[] = [];
    order.push(seen);
    await Promise.all([
      give("l").then(() => seen.push("large")),
      small().then(() => seen.push("small")),
    ]);
    await pause("p");
  });
  const scene = new Scene([wf], { limits, services });
  await scene.start();
  scene.engine.resume("e1", null);
  for (let turn = 0; turn < 20; turn++) await scene.settle();
  expect(scene.row().state).toBe("COMPLETED");
  expect(order[1]).toEqual(order[0]);
});

test("EXE-4 a storage without its parts, or under a name of the engine's, is refused at definition", () => {
  const parts = { store: async () => ({}), retrieve: async () => 1 };
  for (const wrong of [
    "disk",
    { type: "x" },
    { type: "file", ...parts },
    { type: "inline", ...parts },
  ]) {
    expect(() => task({ name: "t", outputStorage: wrong as never }, async () => 1)).toThrow(
      /outputStorage/,
    );
  }
});
