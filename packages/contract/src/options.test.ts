import { expect, test } from "vitest";
import {
  checkTaskCopyOptions,
  checkTaskOptions,
  checkWorkflowOptions,
  isStaticOption,
  OPAQUE,
} from "./options.ts";

const schema = { "~standard": { version: 1, vendor: "test", validate: () => ({ value: 1 }) } };
const found = (issues: { rule: string; path: string }[]) =>
  issues.map(({ rule, path }) => `${rule} ${path}`);

test("EXE-4 every option in its range passes", () => {
  const shared = {
    name: "a",
    description: "",
    input: schema,
    output: schema,
    metadata: { a: [1] },
  };
  expect(checkWorkflowOptions({ ...shared, namespace: "n" })).toEqual([]);
  expect(
    checkTaskOptions({
      ...shared,
      retry: { maxAttempts: 1000, delay: 0, backoff: 1, maxDelay: "1d", retryIf: () => true },
      timeout: 30_000,
      fallback: () => 1,
      rollback: () => {},
    }),
  ).toEqual([]);
  expect(checkTaskOptions({ retry: undefined, timeout: undefined }, "named")).toEqual([]);
});

test("EXE-4 an unknown option names the nearest known one", () => {
  expect(checkWorkflowOptions({ name: "a", namspace: "n" })).toEqual([
    {
      path: "namspace",
      rule: "unknown_option",
      message:
        "workflow() has no option namspace; did you mean namespace? (it has name, description, input, output, metadata, namespace)",
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
  ["timeout", ["1 s", "s", -1, Number.NaN, Number.POSITIVE_INFINITY, {}, null]],
  ["metadata", [[], 1, null, { a: () => {} }, { a: 1n }, { a: undefined }, { a: [new Date()] }]],
  ["retry", [3, [], null]],
  ["retry.maxAttempts", [0, 1001, 1.5, "3"]],
  ["retry.delay", ["x", -1]],
  ["retry.maxDelay", ["x"]],
  ["retry.backoff", [0.9, Number.NaN, "2"]],
  ["retry.retryIf", [true]],
  ["fallback", [1]],
  ["rollback", [{}]],
])("EXE-4 option %s refuses what is out of range", (path, values) => {
  const [outer = "", inner] = path.split(".");
  for (const value of values) {
    const options = { name: "a", [outer]: inner === undefined ? value : { [inner]: value } };
    const issues = checkTaskOptions(options);
    expect(found(issues)).toEqual([`invalid_option ${path}`]);
    expect(issues[0]?.message).toMatch(/must be .*; got |cannot be named/);
  }
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
  expect(found(checkTaskCopyOptions({ name: "b", timeot: 5 }))).toEqual([
    "invalid_option name",
    "unknown_option timeot",
  ]);
});

test("EXE-62 values that were not evaluated pass, and only static options are evaluated", () => {
  expect(
    checkTaskOptions({ name: OPAQUE, retry: { delay: OPAQUE }, metadata: { a: OPAQUE } }),
  ).toEqual([]);
  const isStatic = (path: string) => isStaticOption("task", path.split("."));
  expect(["name", "retry", "retry.delay", "metadata.a.b"].filter(isStatic)).toHaveLength(4);
  expect(["input", "fallback", "retry.retryIf", "nme", "retry.x"].filter(isStatic)).toEqual([]);
});
