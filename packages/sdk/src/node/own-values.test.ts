/** Code may do with what it is given as it likes: no later pass over the log sees it (I9). */
import { expect, test } from "vitest";
import {
  call,
  pause,
  signal,
  sleep,
  TaskError,
  TerminalError,
  task,
  type WorkflowContext,
  workflow,
} from "../index.ts";
import { crashEverywhere } from "./testing/crash-sweep.ts";
import { Scene } from "./testing/scene.ts";

const echo = task({ name: "echo" }, (item: unknown) => item);
const leaf = workflow({ name: "leaf" }, async (list: number[]) => list);
const declines = task({ name: "declines" }, () => {
  throw new TerminalError("declined", { details: { codes: [51] }, cause: new Error("no cents") });
});
const INPUT = { items: [1, 2, 3] };

type Body = (input: typeof INPUT, ctx: WorkflowContext) => Promise<unknown>;

function sceneOf(body: Body): Scene {
  return new Scene([workflow({ name: "w", metadata: { tags: ["a"] } }, body), leaf], {
    answer: ({ engine }) => {
      const { state, waits } = engine.row("e1");
      const [wait] = waits;
      if (state === "PAUSED") engine.resume("e1", { list: [1, 2] });
      else if (wait?.kind === "signal") engine.signal("e1", wait.name, [1, 2]);
      else return false;
      return true;
    },
  });
}

const drain: Body = async ({ items }) => {
  const done: unknown[] = [];
  while (items.length > 0) done.push(await echo(items.shift()));
  return done;
};

/** Changes what a call gave, then waits: what follows is another copy. */
function changing(make: () => Promise<unknown>): Body {
  return async () => {
    const given = (await make()) as { list?: unknown[] } & unknown[];
    const list = given.list ?? given;
    const length = list.length;
    list.length = 0;
    await sleep("1h");
    return length;
  };
}

test("I9 a body that shifts items off its input handles each of them, wherever its worker is lost", async () => {
  const scene = sceneOf(drain);
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [1, 2, 3] });
  await crashEverywhere(scene, []);
});

test.each([1, 2, 3, 4])("I9 so it does when a signal overtakes delta %d of it", async (nth) => {
  const scene = sceneOf(drain);
  let deltas = 0;
  scene.onDelta = () => {
    if (++deltas === nth) scene.engine.signal("e1", "news", null);
  };
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [1, 2, 3] });
});

test.each<[string, () => Promise<unknown>]>([
  ["the output of a task", () => echo([1, 2])],
  ["the answer to a pause", () => pause("p")],
  ["the output of a child", () => call(leaf, [1, 2])],
  ["the payload of a signal", () => signal("s")],
])("I9 %s is the code's own to change", async (_, make) => {
  const scene = sceneOf(changing(make));
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: 2 });
  await crashEverywhere(scene, []);
});

test("I9 the failure that a task threw is the code's own to change", async () => {
  const scene = sceneOf(async () => {
    const error: unknown = await declines().catch((thrown: unknown) => thrown);
    if (!(error instanceof TaskError)) throw new Error("no TaskError");
    const codes = error.failure.details?.["codes"] as number[];
    const seen = [...codes, error.failure.cause?.message];
    codes.length = 0;
    if (error.failure.cause) error.failure.cause.message = "changed";
    await sleep("1h");
    return seen;
  });
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [51, "no cents"] });
  await crashEverywhere(scene, []);
});

test("EXE-10 so are the events, the input and the metadata that the context shows", async () => {
  const scene = sceneOf(async (_, ctx) => {
    await echo([7]);
    const shown = () => {
      const { items } = ctx.input as typeof INPUT;
      const tags = ctx.metadata["tags"] as string[];
      const outputs = ctx.events.filter(({ type }) => type === "TASK_COMPLETED");
      return { items, tags, output: outputs[0]?.value as number[] };
    };
    const { items, tags, output } = shown();
    const seen = [items.length, tags.length, output.length];
    for (const list of [items, tags, output]) list.length = 0;
    await sleep("1h");
    return seen;
  });
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [3, 1, 1] });
  await crashEverywhere(scene, []);
  const [started] = scene.log().filter(({ type }) => type === "WORKFLOW_STARTED");
  expect(started?.value).toEqual(INPUT);
});

test("I9 every attempt of a task, its rollback and its fallback have the input as it was given", async () => {
  const seen: [string, number][] = [];
  const take = (part: string, { items }: typeof INPUT) => {
    seen.push([part, items.length]);
    items.length = 0;
  };
  const failing = task(
    {
      name: "failing",
      retry: { maxAttempts: 2, delay: "10ms" },
      rollback: (input: typeof INPUT) => take("rollback", input),
      fallback: (input: typeof INPUT, failure) => {
        take("fallback", input);
        failure.message = "changed";
        return "rescued";
      },
    },
    (input: typeof INPUT) => {
      take("attempt", input);
      throw new Error("no");
    },
  );
  const scene = sceneOf(async (input) => failing(input));
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ output: "rescued" });
  expect(seen).toEqual([
    ["attempt", 3],
    ["attempt", 3],
    ["rollback", 3],
    ["fallback", 3],
  ]);
  const started = scene.log().find(({ type }) => type === "TASK_FALLBACK_STARTED");
  expect(started?.value).toMatchObject({ error: { message: "no" } });
});

test("I9 a storage that changes what it keeps changes nothing of what the code gets", async () => {
  const kept = new Map<string, string>();
  const stores = task(
    {
      name: "stores",
      outputStorage: {
        type: "shelf",
        store: async (reference_id, value) => {
          kept.set(reference_id, JSON.stringify(value));
          (value as number[]).length = 0;
          return { storage_type: "shelf", reference_id, metadata: {} };
        },
        retrieve: async ({ reference_id }) => JSON.parse(kept.get(reference_id) ?? "null"),
      },
    },
    () => [1, 2],
  );
  const scene = sceneOf(async () => stores());
  await scene.run(INPUT);
  expect(scene.row()).toMatchObject({ state: "COMPLETED", output: [1, 2] });
});

test("I9 a rollback that a cancel runs gets an input of its own, whatever the function did to its", async () => {
  const seen: unknown[] = [];
  const undoable = task(
    { name: "undoable", rollback: (input: { items: string[] }) => void seen.push(input.items) },
    (input: { items: string[] }, { signal }) => {
      input.items.length = 0;
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  );
  const scene = new Scene([workflow({ name: "w" }, () => undoable({ items: ["a"] }))]);
  await scene.start();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(scene.row()).toMatchObject({ state: "CANCELLED" });
  expect(seen).toEqual([["a"]]);
});
