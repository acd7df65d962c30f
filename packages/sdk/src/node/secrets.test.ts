import { expect, test } from "vitest";
import {
  ConfigMissingError,
  getConfig,
  SecretMissingError,
  type TaskContext,
  task,
  workflow,
} from "../index.ts";
import { memoryServices } from "../testing/memory-services.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { Scene } from "./testing/scene.ts";

const { hash } = new ManualClock().host;
const services = memoryServices({
  hash,
  secrets: { STRIPE_KEY: "sk_1", SHARED: "all", OTHER: "not asked for" },
  configs: { region: "eu", limits: { max: 3 } },
});

test("EXE-5 a task gets the secrets and configs it declares, and those of its workflow, no others", async () => {
  let seen: Pick<TaskContext, "secrets" | "configs"> | undefined;
  const look = task(
    { name: "look", secrets: ["STRIPE_KEY"], configs: ["region"] },
    async (_, { secrets, configs }) => {
      seen = { secrets, configs };
    },
  );
  const wf = workflow({ name: "w", secrets: ["SHARED"], configs: ["limits"] }, async () => look());
  await new Scene([wf], { services }).run();
  expect(seen).toEqual({
    secrets: { SHARED: "all", STRIPE_KEY: "sk_1" },
    configs: { limits: { max: 3 }, region: "eu" },
  });
  expect(Object.isFrozen(seen?.secrets)).toBe(true);
});

test("EXE-5 they are read at each attempt", async () => {
  const asked: string[] = [];
  const rotating = {
    ...services,
    secrets: async (of: string, names: readonly string[]) => {
      asked.push(`${of} ${names.join()}`);
      return { STRIPE_KEY: `sk_${asked.length}` };
    },
  };
  const seen: unknown[] = [];
  const flaky = task(
    { name: "flaky", secrets: ["STRIPE_KEY"], retry: { maxAttempts: 2, delay: 0 } },
    async (_, { attempt, secrets }) => {
      seen.push(secrets["STRIPE_KEY"]);
      if (attempt === 1) throw new Error("again");
    },
  );
  await new Scene([workflow({ name: "w" }, async () => flaky())], { services: rotating }).run();
  expect(seen).toEqual(["sk_1", "sk_2"]);
  expect(asked).toEqual(["flaky STRIPE_KEY", "flaky STRIPE_KEY"]);
});

test.each([
  [
    "secret",
    { secrets: ["MISSING"] },
    SecretMissingError,
    "secret_missing",
    "task t needs secret MISSING, which does not exist",
  ],
  [
    "config",
    { configs: ["missing"] },
    ConfigMissingError,
    "config_missing",
    "task t needs config missing, which is not set",
  ],
])(
  "EXE-40 a missing %s fails the call before its body, without retry, rollback or fallback",
  async (_, of, Class, code, message) => {
    const ran: string[] = [];
    const t = task(
      {
        name: "t",
        ...of,
        retry: { maxAttempts: 3, delay: 0 },
        rollback: () => void ran.push("rollback"),
        fallback: () => void ran.push("fallback"),
      },
      async () => void ran.push("body"),
    );
    let caught: unknown;
    const wf = workflow({ name: "w" }, async () =>
      t().catch((error: unknown) => {
        caught = error;
      }),
    );
    const scene = new Scene([wf], { services });
    await scene.run();
    expect(ran).toEqual([]);
    expect(caught).toBeInstanceOf(Class);
    expect(caught).toMatchObject({
      message,
      failure: { code, retryable: false, task_call_id: "t~1" },
    });
    expect(scene.story().slice(3, 5)).toEqual(["TASK_STARTED t~1", "TASK_FAILED t~1"]);
  },
);

test("EXE-5 a rollback after a cancel has the secrets too", async () => {
  let seen: unknown;
  const t = task(
    {
      name: "t",
      secrets: ["STRIPE_KEY"],
      rollback: (_: undefined, { secrets }) => {
        seen = secrets;
      },
    },
    () => new Promise(() => {}),
  );
  const scene = new Scene([workflow({ name: "w" }, async () => t())], { services });
  await scene.start();
  await scene.crash();
  scene.engine.cancel("e1");
  await scene.toEnd();
  expect(seen).toEqual({ STRIPE_KEY: "sk_1" });
});

test("I21 no secret reaches the log by itself", async () => {
  const t = task(
    { name: "t", secrets: ["STRIPE_KEY"] },
    async (_, { secrets }) => String(secrets["STRIPE_KEY"]).length,
  );
  const scene = new Scene([workflow({ name: "w" }, async () => t())], { services });
  await scene.run();
  expect(JSON.stringify(scene.log())).not.toContain("sk_1");
});

test("EXE-7 getConfig is recorded: a replay sees what the first run saw", async () => {
  const values = ["eu", "us"];
  const changing = { ...services, configs: async () => ({ region: values.shift() }) };
  const t = task({ name: "t" }, () => new Promise(() => {}));
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    seen.push(await getConfig("region"));
    await t();
  });
  const scene = new Scene([wf], { services: changing });
  await scene.start();
  await scene.crash();
  expect(seen).toEqual(["eu", "eu"]);
  expect(scene.log().find(({ type }) => type === "TASK_STARTED")).toMatchObject({
    name: "get_config",
    kind: "get_config",
    value: { key: "region" },
  });
});

test("EXE-7 getConfig of what is not set rejects with ConfigMissingError; it needs a key", async () => {
  const seen: unknown[] = [];
  const wf = workflow({ name: "w" }, async () => {
    await getConfig("missing").catch((error: unknown) => seen.push(error));
    await getConfig("").catch((error: unknown) => seen.push(error));
  });
  await new Scene([wf], { services }).run();
  expect(seen[0]).toBeInstanceOf(ConfigMissingError);
  expect(seen[1]).toMatchObject({ message: "getConfig() takes the key of a config" });
});
