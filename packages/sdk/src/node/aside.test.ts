/** Functions of the author that are neither a body nor a task, each in the world it belongs to. */
import { expect, test } from "vitest";
import { pause, type StandardSchema, sleep, task, workflow } from "../index.ts";
import { memoryServices } from "../testing/memory-services.ts";
import { Scene } from "./testing/scene.ts";

const NOW = Date.UTC(2030, 0, 1);

/** A schema that draws what is missing, and takes a moment about it. */
function drawing(seen: unknown[] = []): StandardSchema<unknown, { id: string; at: number }> {
  const validate = async (value: unknown) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const drawn = { id: crypto.randomUUID(), at: Date.now(), chance: Math.random() };
    seen.push(drawn);
    return { value: { ...drawn, ...(value as object) } };
  };
  return { "~standard": { version: 1, vendor: "test", validate } };
}

/** Real time for what a schema waits for by a real timer. */
async function patiently(scene: Scene): Promise<void> {
  for (let i = 0; i < 400; i++) {
    await scene.toEnd();
    if (["COMPLETED", "FAILED"].includes(scene.row().state)) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const echo = task({ name: "echo" }, (value: unknown) => value);

test("I9 what an input schema draws is the same in every pass", async () => {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w", input: drawing(seen) }, async (input) => {
    await sleep("1h");
    await echo(input.id);
    await sleep("1h");
    return input;
  });
  const scene = new Scene([wf]);
  await scene.start({});
  await patiently(scene);
  expect(scene.row()).toMatchObject({ state: "COMPLETED" });
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen.map((drawn) => JSON.stringify(drawn))).size).toBe(1);
  expect(scene.row().output).toMatchObject(seen[0] as object);
  expect(scene.story().join()).not.toContain("WARNING");
});

test("EXE-31 schemas, retryIf, cache.key and storages leave the body's chance as it was", async () => {
  const drawn = async (options: object): Promise<unknown> => {
    let attempts = 0;
    const busy = task({ name: "busy", ...options }, (_: object) => {
      if (++attempts === 1) throw new Error("once more");
      return "done";
    });
    const scene = new Scene([
      workflow({ name: "w" }, async () => {
        // Begun when the log has been replayed: then the code's own turn begins it.
        const before = [await echo(0), Math.random()];
        await busy({}).catch(() => {});
        return [before, Math.random(), crypto.randomUUID()];
      }),
    ]);
    await scene.start();
    await patiently(scene);
    expect(scene.row()).toMatchObject({ state: "COMPLETED" });
    return scene.row().output;
  };
  const plain = await drawn({ retry: { maxAttempts: 2, delay: 1 } });
  const draw = () => Math.random() < 2 && crypto.randomUUID().length > 0;
  const shelf = new Map<string, unknown>();
  const options = {
    retry: { maxAttempts: 2, delay: 1, retryIf: draw },
    input: drawing(),
    output: drawing(),
    cache: { key: () => [draw(), 1] },
    outputStorage: {
      type: "shelf",
      store: async (reference_id: string, value: unknown) => {
        draw();
        shelf.set(reference_id, value);
        return { storage_type: "shelf", reference_id, metadata: {} };
      },
      retrieve: async ({ reference_id }: { reference_id: string }) => {
        draw();
        return shelf.get(reference_id);
      },
    },
  };
  expect(await drawn(options)).toEqual(plain);
});

test("EXE-49 a timer in a storage, as of a client with a timeout, is no sleep of the body", async () => {
  const shelf = new Map<string, unknown>();
  const moment = () => new Promise((resolve) => setTimeout(resolve, 1));
  const outputStorage = {
    type: "shelf",
    store: async (reference_id: string, value: unknown) => {
      await moment();
      shelf.set(reference_id, value);
      return { storage_type: "shelf", reference_id, metadata: {} };
    },
    retrieve: async ({ reference_id }: { reference_id: string }) => {
      await moment();
      return shelf.get(reference_id);
    },
  };
  const stores = task({ name: "stores", outputStorage }, () => "kept");
  const wf = workflow({ name: "w", outputStorage }, async () => {
    await echo(0);
    const kept = await stores();
    await sleep("1h");
    return kept;
  });
  const scene = new Scene([wf]);
  await scene.start();
  await patiently(scene);
  expect(scene.row()).toMatchObject({ state: "COMPLETED" });
  expect(shelf.get("e1")).toBe("kept");
  expect(scene.story().filter((line) => line.startsWith("TASK_STARTED sleep"))).toEqual([
    "TASK_STARTED sleep~1",
  ]);
});

test("EXE-39 a rollback has the defaults that its attempt had, also after a crash", async () => {
  const ids: string[] = [];
  const booked = task(
    { name: "booked", input: drawing(), rollback: ({ id }: { id: string }) => void ids.push(id) },
    ({ id }) => {
      ids.push(id);
      throw new Error("full");
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => booked({}))]);
  await scene.start();
  await patiently(scene);
  expect(scene.row()).toMatchObject({ state: "FAILED" });
  expect(ids).toHaveLength(2);
  for (const crash of scene.crashPoints) await patiently(scene.after(crash));
  expect(new Set(ids).size).toBe(1);
});

test("retryIf and cache.key ask the real clock, as they decide by the present", async () => {
  const asked: number[] = [];
  const now = () => asked.push(Date.now()) > 0;
  const flaky = task(
    { name: "flaky", retry: { maxAttempts: 2, delay: 1, retryIf: now }, cache: { key: now } },
    (_, { attempt }) => {
      if (attempt === 1) throw new Error("no");
      return attempt;
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  await scene.start();
  await patiently(scene);
  expect(scene.row()).toMatchObject({ output: 2 });
  expect(asked).toHaveLength(2);
  for (const ms of asked) expect(Math.abs(ms - NOW)).toBeGreaterThan(86_400_000);
});

test("EXE-49a a result is kept under the key it was looked for, whatever its task does to the input", async () => {
  const keys: string[] = [];
  const services = memoryServices({ hash: (text) => text });
  const scene = new Scene(
    [
      workflow({ name: "w" }, async () => {
        const eats = task(
          { name: "eats", cache: { key: (input: number[]) => input } },
          (input: number[]) => input.splice(0).length,
        );
        return [await eats([1, 2]), await eats([1, 2])];
      }),
    ],
    {
      services: {
        lookUp: (key) => {
          keys.push(`look ${key.digest}`);
          return services.lookUp(key);
        },
        keep: (key, text, ttl) => {
          keys.push(`keep ${key.digest}`);
          return services.keep(key, text, ttl);
        },
      },
    },
  );
  await scene.run();
  expect(scene.row()).toMatchObject({ output: [2, 2] });
  const [look = "", keep = "", again = ""] = keys;
  expect([keep.slice(5), again.slice(5)]).toEqual([look.slice(5), look.slice(5)]);
  expect(keys).toHaveLength(3);
});

test("calls are refused where no replay would find them: in schemas, retryIf, cache.key, storages", async () => {
  const refusals: string[] = [];
  const calls = async (): Promise<boolean> => {
    for (const make of [() => echo(1), () => sleep(1), () => pause("p")]) {
      await make().catch((error: Error) => refusals.push(error.message));
    }
    return false;
  };
  const validate = async (value: unknown) => {
    await calls();
    return { value };
  };
  const schema = { "~standard": { version: 1 as const, vendor: "test", validate } };
  const asks = task(
    { name: "asks", input: schema, retry: { maxAttempts: 2, retryIf: calls } },
    () => {
      throw new Error("no");
    },
  );
  const wf = workflow({ name: "w", input: schema }, async () => asks({}).catch(() => "caught"));
  const scene = new Scene([wf]);
  await scene.run();
  expect(scene.row()).toMatchObject({ output: "caught" });
  expect(refusals).toHaveLength(9);
  expect(refusals[0]).toContain("task echo was called in the input schema of workflow default/w");
  expect(refusals[8]).toContain("pause() was called in retryIf of task asks");
});
