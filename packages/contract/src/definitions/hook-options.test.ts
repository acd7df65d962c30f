import { expect, test } from "vitest";
import { HOOK_NAME_PATTERN } from "../hooks/hook-name.ts";
import { toyDigest } from "../hooks/testing/toy-digest.ts";
import { declaredHooks } from "./hook-options.ts";
import { OPAQUE } from "./option-checks.ts";
import { checkWorkflowOptions } from "./options.ts";

const owner = { namespace: "shop", name: "checkout" };
const target = { workflow: "ops/page", principal: "ops-bot" };

function issuesOf(hooks: unknown, options: object = owner) {
  return checkWorkflowOptions({ ...options, hooks });
}

/** What is said of a workflow with one hook like this. */
function issuesWith(hook: object) {
  return issuesOf([{ on: "failed", ...target, ...hook }]);
}

function declared(...hooks: readonly object[]) {
  expect(issuesOf(hooks)).toEqual([]);
  return declaredHooks(hooks, owner, toyDigest);
}

test("HOOK-47 a short selector is one of the workflow that declares it, wildcards included", () => {
  const selectors = (on: unknown) => declared({ on, ...target })[0]?.selectors;
  expect(selectors("failed")).toEqual(["execution:shop:checkout:failed"]);
  expect(selectors(["refund:awaiting_approval", "*", "*:*", "a.b:*"])).toEqual([
    "task:shop:checkout:refund:awaiting_approval",
    "execution:shop:checkout:*",
    "task:shop:checkout:*:*",
    "task:shop:checkout:a.b:*",
  ]);
  const whole = ["task:shop:checkout:*", "execution:shop:checkout:paused", "paused"];
  expect(selectors(whole)).toEqual(whole.slice(0, 2));
});

test("HOOK-47 what is left out has a default, and a bare target is one of namespace default", () => {
  const hook = { on: "failed", workflow: "page", principal: "ops-bot" };
  expect(declared({ ...hook, name: "a" }, { ...hook, name: "b", maxAttempts: 100 })).toEqual([
    {
      name: "a",
      selectors: ["execution:shop:checkout:failed"],
      ...{ workflow: "default/page", principal: "ops-bot", max_attempts: 5 },
    },
    expect.objectContaining({ name: "b", max_attempts: 100 }),
  ]);
});

test.each<[wrong: object, path: string, says: RegExp]>([
  [{ on: undefined }, "hooks[0].on", /a selector, or a list of 1 to 64 .*; got nothing/],
  [{ on: [] }, "hooks[0].on", /list of 1 to 64 .*; got an array/],
  [{ on: Array(65).fill("failed") }, "hooks[0].on", /list of 1 to 64/],
  [{ on: 7 }, "hooks[0].on", /a selector, or a list .*; got 7/],
  [{ on: ["failed", null] }, "hooks[0].on", /a selector, or a list/],
  [{ workflow: undefined }, "hooks[0].workflow", /<namespace>\/<name> .*; got nothing/],
  [{ workflow: "a/b/c" }, "hooks[0].workflow", /<namespace>\/<name> .*; got "a\/b\/c"/],
  [{ principal: undefined }, "hooks[0].principal", /service account .*; got nothing/],
  [{ principal: null }, "hooks[0].principal", /service account .*; got null/],
  [{ principal: "a b" }, "hooks[0].principal", /letters, digits/],
  [{ name: "Page" }, "hooks[0].name", /small letters, .*; got "Page"/],
  [{ name: "deliveries" }, "hooks[0].name", /not deliveries/],
  [{ maxAttempts: 0 }, "hooks[0].maxAttempts", /a whole number from 1 to 100; got 0/],
  [{ maxAttempts: 101 }, "hooks[0].maxAttempts", /from 1 to 100/],
  [{ maxAttempts: "5" }, "hooks[0].maxAttempts", /from 1 to 100/],
])("HOOK-47 %j is no hook", (wrong, path, says) => {
  expect(issuesWith(wrong)).toEqual([
    { path, rule: "invalid_option", message: expect.stringMatching(says) },
  ]);
});

test.each([
  ["max_attempts", /did you mean maxAttempts\? \(it has on, workflow, principal, name, maxAtt/],
  ["url", /hooks\[0\] of workflow\(\) has no option url/],
  ["enabled", /no option enabled/],
])("HOOK-47 a hook has no option %s", (key, message) => {
  expect(issuesWith({ [key]: 1 })).toEqual([
    { path: `hooks[0].${key}`, rule: "unknown_option", message: expect.stringMatching(message) },
  ]);
});

test.each([
  ["started", /selector "started" can never fire: did you mean running\?/],
  ["", /a segment is a whole name or exactly \*/],
  ["FAILED", /did you mean failed/],
  ["charge:done", /no such word|did you mean/],
  ["charge:progress", /never persisted/],
  ["a b:failed", /a segment is a whole name/],
  ["shop:checkout:failed", /begins with execution: or task:/],
  ["task:failed", /must be 5 segments/],
  ["execution:shop:checkout", /must be 4 segments/],
])("HOOK-9 HOOK-48 a hook on %j can never fire", (on, message) => {
  const one = { rule: "invalid_selector", message: expect.stringMatching(message) };
  expect(issuesWith({ on })).toEqual([{ path: "hooks[0].on", ...one }]);
  expect(issuesWith({ on: ["failed", on] })).toEqual([{ path: "hooks[0].on[1]", ...one }]);
});

test.each([
  "execution:*",
  "task:*",
  "execution:shop:*",
  "execution:shop:*:failed",
  "task:shop:b:*",
])("HOOK-47 %s is of other workflows too, and refused", (on) => {
  expect(issuesWith({ on })).toEqual([
    {
      path: "hooks[0].on",
      rule: "invalid_option",
      message: expect.stringMatching(/begin with (execution|task):shop:checkout:/),
    },
  ]);
});

test("HOOK-47 hooks are a list of objects", () => {
  expect(issuesOf({ on: "failed" })).toMatchObject([
    { path: "hooks", message: "option hooks of workflow() must be a list of hooks; got an object" },
  ]);
  expect(issuesOf(["failed", null]).map(({ path }) => path)).toEqual(["hooks[0]", "hooks[1]"]);
  expect(issuesOf([])).toEqual([]);
});

test("HOOK-48 what could not be read is no mistake beside the one that says so", () => {
  expect(issuesOf([OPAQUE, { on: [OPAQUE], workflow: OPAQUE, principal: "a" }])).toEqual([]);
  const [issue] = issuesOf([{ on: "started", ...target }], { name: OPAQUE });
  expect(issue?.rule).toBe("invalid_selector");
  expect(issuesOf([{ on: "task:a:b:c:failed", ...target }], { name: OPAQUE })).toEqual([]);
});

test("HOOK-49 a hook without a name has one that follows from what it listens to, runs, and as whom", () => {
  const nameOf = (hook: object) =>
    declared({ on: ["failed", "paused"], ...target, ...hook })[0]?.name;
  const name = nameOf({});
  expect(name).toMatch(/^wf-shop-checkout-[0-9a-f]{12}$/);
  expect(nameOf({ on: ["paused", "execution:shop:checkout:failed"], maxAttempts: 9 })).toBe(name);
  const others = [{ on: "failed" }, { workflow: "page" }, { principal: "bot" }].map(nameOf);
  expect(new Set([name, ...others]).size).toBe(4);
});

test("HOOK-49 the name of a workflow is made one of a hook, and cut where that is too long", () => {
  const long = { namespace: "A.b", name: `W${"x".repeat(127)}` };
  const [hook] = declaredHooks([{ on: "failed", ...target }], long, toyDigest);
  expect(hook?.name).toMatch(/^wf-a-b-wx+-[0-9a-f]{12}$/);
  expect(hook?.name).toHaveLength(128);
  expect(hook?.name).toMatch(HOOK_NAME_PATTERN);
});

test("HOOK-49 equal declarations are one, in whichever order their selectors are", () => {
  const hook = { on: ["failed", "paused"], ...target };
  const same = { ...hook, on: ["paused", "failed"], maxAttempts: 5 };
  expect(declared(hook, same)).toHaveLength(1);
  const named = declared({ ...hook, name: "a" }, { ...same, name: "a" }, { ...same, name: "b" });
  expect(named.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("HOOK-49 two different hooks of one name are refused", () => {
  const hook = { on: "failed", ...target };
  expect(issuesOf([{ ...hook, name: "a" }, hook, { ...hook, name: "a", on: "paused" }])).toEqual([
    {
      path: "hooks[2].name",
      rule: "invalid_option",
      message: expect.stringMatching(/is named a as hooks\[0\], which is another one; rename one/),
    },
  ]);
  expect(issuesOf([hook, { ...hook, maxAttempts: 9 }])).toEqual([
    {
      path: "hooks[1]",
      rule: "invalid_option",
      message: expect.stringMatching(/differs from hooks\[0\] in its tries only/),
    },
  ]);
});
