import { expect, test } from "vitest";
import {
  call,
  getConfig,
  parallel,
  pause,
  TaskNotAuthorizedError,
  type TaskOptions,
  task,
  workflow,
} from "../index.ts";
import type { TaskRights } from "../replay/port.ts";
import { memoryServices } from "../testing/memory-services.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { Scene } from "./testing/scene.ts";

const granted = (...task_grants: string[]): TaskRights => ({ task_grants, hold: false });
const HOLD: TaskRights = { task_grants: [], hold: true };

/** A workflow `shop/w` that calls `charge`, on an engine whose principal has these rights. */
function charging(
  rights: TaskRights | undefined,
  options: TaskOptions<unknown, unknown> = {},
): { scene: Scene; ran: string[] } {
  const ran: string[] = [];
  const charge = task({ ...options, name: "charge" }, async () => {
    ran.push("charge");
    return "charged";
  });
  const scene = new Scene([workflow({ name: "w", namespace: "shop" }, async () => charge(1))]);
  scene.engine.rights = rights;
  return { scene, ran };
}

test("AUTH-35 a task that is not granted fails before its function runs, and the failure names the permission", async () => {
  const { scene, ran } = charging(granted("refund", "charge2", "Charge"));
  const { state, failure } = await scene.run();
  expect(state).toBe("FAILED");
  expect(failure).toMatchObject({
    type: "TaskNotAuthorizedError",
    code: "permission_denied",
    retryable: false,
    task_call_id: "charge~1",
    details: { missing_permissions: ["workflow:shop:w:task:charge:execute"] },
  });
  expect(failure?.message).toContain("workflow:shop:w:task:charge:execute");
  expect(scene.story().slice(3)).toEqual([
    "TASK_STARTED charge~1",
    "TASK_FAILED charge~1",
    "WORKFLOW_FAILED",
  ]);
  expect(ran).toEqual([]);
});

test.each([
  ["its name is granted", granted("refund", "charge")],
  ["every task is", granted("*")],
  ["nobody's rights are checked", undefined],
])("AUTH-35 a task runs where %s", async (_, rights) => {
  const { scene, ran } = charging(rights);
  expect(await scene.run()).toMatchObject({ state: "COMPLETED", output: "charged" });
  expect(ran).toEqual(["charge"]);
});

test("AUTH-32 a task that says authExempt runs without a grant, and so do the engine's own", async () => {
  const { scene } = charging(granted(), { authExempt: true });
  expect(await scene.run()).toMatchObject({ state: "COMPLETED" });

  const child = workflow({ name: "child" }, async () => "born");
  const builtIns = workflow({ name: "w" }, async () =>
    parallel([() => pause("p"), () => call(child), () => getConfig("c")]),
  );
  const services = { configs: async () => ({ c: 1 }) };
  const answer = (of: Scene) => {
    if (of.row().waits.length === 0) return false;
    of.engine.resume("e1", "answered");
    return true;
  };
  const other = new Scene([builtIns, child], { services, answer });
  other.engine.rights = granted();
  expect(await other.run()).toMatchObject({ output: ["answered", "born", 1] });
});

test("AUTH-35 EXE-40 retry, rollback and fallback do not follow a task that was not granted", async () => {
  const ran: string[] = [];
  const { scene } = charging(granted(), {
    retry: { maxAttempts: 3, delay: 0 },
    rollback: () => void ran.push("rollback"),
    fallback: () => ran.push("fallback"),
  });
  expect(await scene.run()).toMatchObject({ failure: { type: "TaskNotAuthorizedError" } });
  expect(scene.types().filter((type) => type.startsWith("TASK_"))).toEqual([
    "TASK_STARTED",
    "TASK_FAILED",
  ]);
  expect(ran).toEqual([]);
});

test("AUTH-35 code can catch the refusal and do something else", async () => {
  const forbidden = task({ name: "forbidden" }, async () => "no");
  const allowed = task({ name: "allowed" }, async () => "instead");
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      try {
        return await forbidden();
      } catch (error) {
        if (error instanceof TaskNotAuthorizedError) return allowed();
        throw error;
      }
    }),
  ]);
  scene.engine.rights = granted("allowed");
  expect(await scene.run()).toMatchObject({ output: "instead" });
});

test("AUTH-35 a task called by another one is checked for itself", async () => {
  const inner = task({ name: "inner" }, async () => 1);
  const outer = task({ name: "outer" }, async () => inner());
  const scene = new Scene([workflow({ name: "w" }, async () => outer())]);
  scene.engine.rights = granted("outer");
  expect(await scene.run()).toMatchObject({ failure: { type: "TaskNotAuthorizedError" } });
  expect(scene.story()).toContain("TASK_FAILED outer~1/inner~1");
});

test("AUTH-35 neither the author's schema nor the task cache is asked before the rights are", async () => {
  const asked: string[] = [];
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => {
        asked.push("schema");
        return { value };
      },
    },
  };
  const memory = memoryServices({ hash: new ManualClock().host.hash });
  const services = {
    lookUp: () => {
      asked.push("cache");
      return Promise.resolve('"kept"');
    },
    keep: memory.keep,
  };
  const cached = task({ name: "cached", input: schema, cache: true }, async () => "ran");
  const wf = workflow({ name: "w" }, async () => cached(1));
  const refused = new Scene([wf], { services });
  refused.engine.rights = granted();
  expect(await refused.run()).toMatchObject({ failure: { type: "TaskNotAuthorizedError" } });
  expect(asked).toEqual([]);

  const allowed = new Scene([wf], { services });
  allowed.engine.rights = granted("cached");
  expect(await allowed.run()).toMatchObject({ output: "kept" });
  expect(asked).toEqual(["schema", "cache"]);
});

test("AUTH-35 a task that the log answers is not checked again, one that it does not is", async () => {
  const first = task({ name: "first" }, async () => 1);
  const second = task({ name: "second" }, async () => 2);
  const wf = workflow({ name: "w" }, async () => {
    const a = await first();
    await pause("p");
    return [a, await second()];
  });
  const scene = new Scene([wf]);
  scene.engine.rights = granted("first", "second");
  await scene.start();
  scene.engine.rights = granted("second");
  scene.engine.resume("e1", null);
  expect(await scene.toEnd()).toMatchObject({ output: [1, 2] });

  const other = new Scene([wf]);
  other.engine.rights = granted("first", "second");
  await other.start();
  other.engine.rights = granted("first");
  other.engine.resume("e1", null);
  expect(await other.toEnd()).toMatchObject({ failure: { type: "TaskNotAuthorizedError" } });
});

test("AUTH-35 AUTH-36 rights that change count from the next task or attempt on; one that runs goes on", async () => {
  const ends: (() => void)[] = [];
  const slow = task(
    { name: "slow", retry: { maxAttempts: 2, delay: "1m" } },
    async ({ fails }: { fails: boolean }) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      if (fails) throw new Error("again");
      return "done";
    },
  );
  const quick = task({ name: "quick" }, async () => "quick");
  const wf = workflow({ name: "w" }, async (fails: boolean) => [
    await slow({ fails }),
    await quick(),
  ]);
  const scene = new Scene([wf]);
  scene.engine.rights = granted("*");
  await scene.start(false);
  scene.engine.copyOf("e1")?.setRights(granted("quick"));
  ends[0]?.();
  expect(await scene.toEnd()).toMatchObject({ output: ["done", "quick"] });

  const retried = new Scene([wf], { limits: { inline_wait: 3600 } });
  retried.engine.rights = granted("*");
  await retried.start(true);
  retried.engine.copyOf("e1")?.setRights(granted("quick"));
  ends[1]?.();
  expect(await retried.toEnd()).toMatchObject({
    failure: { type: "TaskNotAuthorizedError", attempts: 2 },
  });
  expect(ends).toHaveLength(2);
});

test("AUTH-36 while the principal cannot be used no task begins and none is refused: the execution says that it has stalled", async () => {
  const { scene, ran } = charging(HOLD);
  await scene.start();
  expect(scene.row().state).toBe("RUNNING");
  expect(scene.story()).not.toContain("TASK_FAILED charge~1");
  expect(scene.engine.stalled).toContain("e1");
  expect(ran).toEqual([]);

  scene.engine.copyOf("e1")?.setRights(granted("charge"));
  expect(await scene.toEnd()).toMatchObject({ state: "COMPLETED" });
  expect(ran).toEqual(["charge"]);
});

test("AUTH-36 what runs when the principal is taken away ends and is recorded, the next task waits", async () => {
  const ends: (() => void)[] = [];
  const slow = task({ name: "slow" }, async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return "slow";
  });
  const next = task({ name: "next", cache: true }, async () => "next");
  const scene = new Scene([workflow({ name: "w" }, async () => [await slow(), await next()])]);
  scene.engine.rights = granted("*");
  await scene.start();
  const copy = scene.engine.copyOf("e1");
  copy?.setRights(HOLD);
  await scene.settle();
  expect(scene.engine.stalled).toEqual([]);
  ends[0]?.();
  await scene.settle();
  expect(scene.story()).toContain("TASK_COMPLETED slow~1");
  expect(scene.engine.stalled).toContain("e1");

  // Another hold that ends does not let it go on, the return of the principal does.
  copy?.hold(true);
  copy?.hold(false);
  await scene.settle();
  expect(scene.story()).not.toContain("TASK_COMPLETED next~1");
  copy?.setRights(HOLD);
  copy?.setRights(granted("next"));
  expect(await scene.toEnd()).toMatchObject({ output: ["slow", "next"] });
});

test("AUTH-36 a cancel undoes what was done, although the principal cannot be used", async () => {
  const undone: string[] = [];
  const book = task(
    { name: "book", rollback: () => void undone.push("book") },
    async (_: unknown, { signal }) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
      });
    },
  );
  const scene = new Scene([
    workflow({ name: "w" }, async () => {
      await book();
    }),
  ]);
  scene.engine.rights = granted("*");
  await scene.start();
  scene.engine.copyOf("e1")?.setRights(HOLD);
  scene.engine.cancel("e1");
  expect(await scene.toEnd()).toMatchObject({ state: "CANCELLED" });
  expect(undone).toEqual(["book"]);
});

test("AUTH-36 a task that waits for the principal is given up by a cancel without having run", async () => {
  const { scene, ran } = charging(HOLD);
  await scene.start();
  scene.engine.cancel("e1");
  expect(await scene.toEnd()).toMatchObject({ state: "CANCELLED" });
  expect(ran).toEqual([]);
  expect(scene.story()).toContain("TASK_CANCELLED charge~1");
});

test("EXE-5 AUTH-39 a task asks for the token that is valid now, and gets null where there is none", async () => {
  let asked = 0;
  const ask = task({ name: "ask" }, async (_: unknown, { executionToken }) => [
    await executionToken(),
    await executionToken(),
  ]);
  const wf = workflow({ name: "w" }, async () => ask());
  const services = { executionToken: async () => `engine_et_${++asked}` };
  const scene = new Scene([wf], { services });
  expect(await scene.run()).toMatchObject({ output: ["engine_et_1", "engine_et_2"] });
  expect(await new Scene([wf]).run()).toMatchObject({ output: [null, null] });
});
