import { expect, test } from "vitest";
import { OPAQUE } from "./option-checks.ts";
import {
  checkTaskCopyOptions,
  checkTaskOptions,
  checkWorkflowOptions,
  isStaticOption,
} from "./options.ts";

const schema = { "~standard": { version: 1, vendor: "test", validate: () => ({ value: 1 }) } };
const storage = { type: "vault", store: async () => 1, retrieve: async () => 1 };
const found = (issues: { rule: string; path: string }[]) =>
  issues.map(({ rule, path }) => `${rule} ${path}`);

test("EXE-4 every option in its range passes", () => {
  const shared = {
    name: "a",
    description: "",
    input: schema,
    output: schema,
    metadata: { a: [1] },
    secrets: ["STRIPE_KEY", "a@b.c"],
    configs: [],
    outputStorage: storage,
  };
  expect(
    checkWorkflowOptions({ ...shared, namespace: "n", timeout: "2d", durability: "transient" }),
  ).toEqual([]);
  expect(
    checkTaskOptions({
      ...shared,
      retry: { maxAttempts: 1000, delay: 0, backoff: 1, maxDelay: "1d", retryIf: () => true },
      timeout: 30_000,
      fallback: () => 1,
      rollback: () => {},
      cache: { ttl: 1, key: () => "k", version: "2" },
      sensitive: false,
      authExempt: true,
      risk: "external",
    }),
  ).toEqual([]);
  for (const cache of [true, false, {}]) expect(checkTaskOptions({ name: "a", cache })).toEqual([]);
  for (const outputStorage of ["engine", "inline"]) {
    expect(checkTaskOptions({ name: "a", outputStorage })).toEqual([]);
  }
  expect(checkTaskOptions({ retry: undefined, timeout: undefined }, "named")).toEqual([]);
});

test("RUN-2 a memory limit needs a process to hold, whose runner is one of the known ones", () => {
  const runnerOptions = { memoryMb: 256 };
  expect(checkWorkflowOptions({ name: "a", runner: "process", runnerOptions })).toEqual([]);
  expect(checkWorkflowOptions({ name: "a", runner: "thread" })).toEqual([]);
  for (const [runner, got] of [
    [undefined, "no runner"],
    ["thread", 'runner: "thread"'],
  ]) {
    expect(checkWorkflowOptions({ name: "a", runner, runnerOptions })).toEqual([
      {
        path: "runnerOptions.memoryMb",
        rule: "invalid_option",
        message: `option runnerOptions.memoryMb of workflow() needs runner: "process", since other runners share their memory; got ${got}`,
      },
    ]);
  }
  const wrong = { name: "a", runner: "process", runnerOptions: { memoryMb: "1GB", heap: 1 } };
  expect(found(checkWorkflowOptions(wrong))).toEqual([
    "invalid_option runnerOptions.memoryMb",
    "unknown_option runnerOptions.heap",
  ]);
  expect(found(checkWorkflowOptions({ name: "a", runner: "docker" }))).toEqual([
    "invalid_option runner",
  ]);
});

test("RES-1 a workflow may request resources, in numbers or text with a unit, and packages", () => {
  const requests = {
    cpu: 0.5,
    memory: "16GiB",
    disk: 1_000_000_000,
    gpu: 2,
    packages: ["sharp", "@scope/thing@^1.2", "typescript@>=5 <7 || 8.x"],
  };
  expect(checkWorkflowOptions({ name: "a", requests })).toEqual([]);
  expect(checkWorkflowOptions({ name: "a", requests: {} })).toEqual([]);
  const some = { cpu: OPAQUE, memory: OPAQUE, packages: [OPAQUE, "sharp"] };
  expect(checkWorkflowOptions({ name: "a", requests: some })).toEqual([]);
});

test.each([
  ["requests", [4, "16GiB", [], null]],
  ["requests.cpu", [0, -1, "4", Number.NaN, Number.POSITIVE_INFINITY, null, [1]]],
  ["requests.memory", ["16", "16gib", "16 gigs", "1PB", "-1GB", "1e3MB", -1, 1.5, true, null]],
  ["requests.disk", ["", "GiB", "1GB1", {}]],
  ["requests.gpu", [0, 1.5, "1", -1, null]],
  ["requests.packages", ["sharp", [""], ["sharp@"], ["a b"], ["sharp@latest"], [1], ["../x"], {}]],
  ["requests.ram", ["16GiB", 1]],
])("RES-1 anything else in %s of a workflow is an invalid option", (path, values) => {
  const [, inner] = path.split(".");
  for (const value of values) {
    const requests = inner === undefined ? value : { [inner]: value };
    expect(found(checkWorkflowOptions({ name: "a", requests }))).toEqual([
      `invalid_option ${path}`,
    ]);
  }
});

test("RES-1 a wrong request is told with what is allowed", () => {
  const message = (requests: object) => checkWorkflowOptions({ name: "a", requests })[0]?.message;
  expect(message({ memory: "16 gigs" })).toBe(
    'option requests.memory of workflow() must be bytes, or a number with B, KB, MB, GB, TB or KiB, MiB, GiB, TiB such as "16GiB"; got "16 gigs"',
  );
  expect(message({ memry: 1 })).toBe(
    "option requests of workflow() has no option memry; did you mean memory? (it has cpu, memory, gpu, disk, packages)",
  );
  expect(message({ packages: ["sharp", "sharp@latest"] })).toMatch(
    /sharp@\^0\.33", without "sharp@latest" at \[1\]; got an array$/,
  );
});

test("RES-4 a task may request cores, memory and devices, and nothing else", () => {
  const requests = { cpu: 2, memory: "1.5GiB", gpu: 1 };
  expect(checkTaskOptions({ name: "a", requests })).toEqual([]);
  expect(checkTaskCopyOptions({ requests })).toEqual([]);
  const wrong = { cpu: 0, memory: "much", gpu: 0.5, disk: 1, packages: [] };
  expect(found(checkTaskOptions({ name: "a", requests: wrong }))).toEqual([
    "invalid_option requests.cpu",
    "invalid_option requests.memory",
    "invalid_option requests.gpu",
    "invalid_option requests.disk",
    "invalid_option requests.packages",
  ]);
});

test("EXE-4 an unknown option names the nearest known one", () => {
  expect(checkWorkflowOptions({ name: "a", namspace: "n" })).toEqual([
    {
      path: "namspace",
      rule: "unknown_option",
      message:
        "workflow() has no option namspace; did you mean namespace? (it has name, description, input, output, metadata, secrets, configs, outputStorage, namespace, timeout, durability, runner, runnerOptions, requests, schedule, hooks, affinity, routing, limits, priority, fairness)",
    },
  ]);
  expect(found(checkTaskOptions({ name: "a", namespace: "b", retry: { attempts: 1 } }))).toEqual([
    "unknown_option namespace",
    "unknown_option retry.attempts",
  ]);
  expect(found(checkTaskOptions({ name: "a", constructor: 1, toString: 1 }))).toEqual([
    "unknown_option constructor",
    "unknown_option toString",
  ]);
});

test.each([
  ["name", ["", "-a", "a b", "ü", "a".repeat(129), 5, null]],
  ["description", [5, null]],
  ["input", [{}, "x", () => {}, null]],
  ["output", [{}]],
  ["timeout", [0, "0s", "1 s", "s", -1, Number.NaN, Number.POSITIVE_INFINITY, {}, null]],
  ["metadata", [[], 1, null, { a: () => {} }, { a: 1n }, { a: undefined }, { a: [new Date()] }]],
  ["retry", [3, [], null]],
  ["retry.maxAttempts", [0, 1001, 1.5, "3"]],
  ["retry.delay", ["x", -1]],
  ["retry.maxDelay", ["x", 0, "0ms"]],
  ["retry.backoff", [0.9, Number.NaN, "2"]],
  ["retry.retryIf", [true]],
  ["fallback", [1]],
  ["rollback", [{}]],
  ["cache", ["1h", 1, null, []]],
  ["cache.ttl", [0, "0s", -1, "x"]],
  ["cache.key", ["id"]],
  ["cache.version", [2]],
  ["secrets", ["A", { 0: "A" }, [1], ["A", ""], ["a b"], ["-a"], ["a".repeat(129)], null]],
  ["configs", ["A", ["a/b"]]],
  [
    "outputStorage",
    ["file", true, null, {}, { ...storage, retrieve: 1 }, { ...storage, type: "" }],
  ],
  ["sensitive", ["yes", 1, null]],
  ["authExempt", [0]],
  ["risk", ["high", true]],
])("EXE-4 option %s refuses what is out of range", (path, values) => {
  const [outer = "", inner] = path.split(".");
  for (const value of values) {
    const options = { name: "a", [outer]: inner === undefined ? value : { [inner]: value } };
    const issues = checkTaskOptions(options);
    expect(found(issues)).toEqual([`invalid_option ${path}`]);
    expect(issues[0]?.message).toMatch(/must be .*; got |cannot be named/);
  }
});

test.each([
  ["timeout", [0, "0ms", "x", -1, {}]],
  ["durability", ["temporary", true, null]],
])("EXE-4 option %s of a workflow refuses what is out of range", (path, values) => {
  for (const value of values) {
    const issues = checkWorkflowOptions({ name: "a", [path]: value });
    expect(found(issues)).toEqual([`invalid_option ${path}`]);
    expect(issues[0]?.message).toContain(`option ${path} of workflow() must be `);
  }
});

test("EXE-4 options of later releases, and those of the other kind of definition, are unknown", () => {
  expect(found(checkWorkflowOptions({ name: "a", cache: true, sensitive: true }))).toEqual([
    "unknown_option cache",
    "unknown_option sensitive",
  ]);
  expect(found(checkTaskOptions({ name: "a", durability: "durable", schedule: {} }))).toEqual([
    "unknown_option durability",
    "unknown_option schedule",
  ]);
});

test("EXE-4 a wrong value is told with what is allowed", () => {
  const message = (options: object) => checkTaskOptions({ name: "a", ...options })[0]?.message;
  expect(message({ retry: { maxAttempt: 3 } })).toBe(
    "option retry of task() has no option maxAttempt; did you mean maxAttempts? (it has maxAttempts, delay, backoff, maxDelay, retryIf)",
  );
  expect(message({ cache: { tll: "1h" } })).toBe(
    "option cache of task() has no option tll; did you mean ttl? (it has ttl, key, version)",
  );
  expect(message({ timeout: 0 })).toBe(
    'option timeout of task() must be a duration above 0: milliseconds, or a number with ms, s, m, h or d such as "1.5s"; got 0',
  );
  expect(message({ risk: "high" })).toBe(
    'option risk of task() must be one of "read", "write", "exec", "external"; got "high"',
  );
  expect(message({ secrets: ["A", "a b"] })).toMatch(/, without "a b" at \[1\]; got an array$/);
  expect(message({ outputStorage: { ...storage, type: "s3" } })).toBe(
    "option outputStorage of task() must be a storage of another type: s3 is the engine's own; got an object",
  );
});

test("EXE-4 cache and sensitive are refused together, of a task and of its copies, and both are named", () => {
  const together = /^options cache and sensitive of task\(\) exclude each other/;
  for (const cache of [true, {}, { ttl: "1h" }]) {
    const [issue, ...more] = checkTaskOptions({ name: "a", cache, sensitive: true });
    expect(issue).toMatchObject({ path: "cache", rule: "invalid_option" });
    expect(issue?.message).toMatch(together);
    expect(more).toEqual([]);
  }
  expect(checkTaskOptions({ name: "a", cache: false, sensitive: true })).toEqual([]);
  expect(checkTaskOptions({ name: "a", cache: true, sensitive: false })).toEqual([]);

  const sensitive = { name: "a", sensitive: true };
  expect(found(checkTaskCopyOptions({ cache: true }, sensitive))).toEqual(["invalid_option cache"]);
  expect(checkTaskCopyOptions({ cache: true, sensitive: false }, sensitive)).toEqual([]);
});

test("EXE-4 metadata says where the value is that JSON cannot hold", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const messages = [{ a: { b: [1, () => {}] } }, circle].map(
    (metadata) => checkTaskOptions({ name: "a", metadata })[0]?.message,
  );
  expect(messages[0]).toContain("without a function at a.b[1]");
  expect(messages[1]).toContain("without a circle at self");
});

test("EXE-4 a definition without a name, of itself or its function, is refused", () => {
  expect(found(checkWorkflowOptions({}))).toEqual(["missing_name "]);
  expect(found(checkTaskOptions({}, ""))).toEqual(["missing_name "]);
  expect(checkTaskOptions({}, "pay")).toEqual([]);
  expect(found(checkTaskOptions({}, "$pay"))).toEqual(["invalid_option name"]);
});

test("EXE-8 a task cannot have the name of a built-in call", () => {
  for (const options of [checkTaskOptions({ name: "sleep" }), checkTaskOptions({}, "sleep")]) {
    expect(options).toMatchObject([
      { path: "name", rule: "invalid_option", message: expect.stringContaining("get_config") },
    ]);
  }
  expect(checkWorkflowOptions({ name: "sleep" })).toEqual([]);
});

test("EXE-2 a copy of a task needs no name and may not bring one", () => {
  expect(checkTaskCopyOptions({ timeout: 5 })).toEqual([]);
  expect(found(checkTaskCopyOptions({ timeout: 0 }))).toEqual(["invalid_option timeout"]);
  expect(found(checkTaskCopyOptions({ name: "b", timeot: 5 }))).toEqual([
    "invalid_option name",
    "unknown_option timeot",
  ]);
});

test("EXE-62 values that were not evaluated pass, and only static options are evaluated", () => {
  expect(
    checkTaskOptions({
      name: OPAQUE,
      retry: { delay: OPAQUE },
      metadata: { a: OPAQUE },
      secrets: ["A", OPAQUE],
      cache: OPAQUE,
      sensitive: true,
    }),
  ).toEqual([]);
  const isStatic = (path: string) => isStaticOption("task", path.split("."));
  expect(
    ["name", "retry", "retry.delay", "metadata.a.b", "cache.ttl"].filter(isStatic),
  ).toHaveLength(5);
  expect(
    ["input", "fallback", "retry.retryIf", "nme", "retry.x", "cache.key", "outputStorage"].filter(
      isStatic,
    ),
  ).toEqual([]);
});
