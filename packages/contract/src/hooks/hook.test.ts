import { expect, test } from "vitest";
import type * as z from "zod";
import { issueMessage } from "../errors/issue-message.ts";
import { HookQuery, HookUpdate, NewHook } from "./hook.ts";

const hook = {
  name: "page-on-failure",
  selectors: ["execution:billing:*:failed"],
  workflow: "ops/page",
  principal: "ops-bot",
};

/** What is wrong with a value, as `<path>: <message>`; empty where it is right. */
function problems(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value, { reportInput: true });
  return (error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issueMessage(issue)}`);
}

test("HOOK-1 a hook that says nothing else is enabled and tries five times", () => {
  expect(NewHook.parse(hook)).toEqual({ ...hook, max_attempts: 5, enabled: true });
});

test("HOOK-1 a bare workflow is one of namespace default", () => {
  expect(NewHook.parse({ ...hook, workflow: "page" }).workflow).toBe("default/page");
  expect(HookUpdate.parse({ workflow: "page" }).workflow).toBe("default/page");
});

test.each(["a", "_", "9", "page-on-failure", "a_b-c", "x".repeat(128), "delivery"])(
  "HOOK-1 %s may name a hook",
  (name) => {
    expect(problems(NewHook, { ...hook, name })).toEqual([]);
  },
);

test.each(["", "-a", "A", "a.b", "a b", "a:b", "a/b", "ä", "x".repeat(129), "a\n"])(
  "HOOK-1 HOOK-38 %j may not name a hook, and why is said",
  (name) => {
    expect(problems(NewHook, { ...hook, name })[0]).toMatch(/^name: must be 1 to 128 small/);
  },
);

test("HOOK-1 no hook is called deliveries", () => {
  expect(problems(NewHook, { ...hook, name: "deliveries" })[0]).toMatch(/^name: deliveries is res/);
});

test("HOOK-1 a hook has 1 to 64 selectors of at most 512 characters, which are kept as they came", () => {
  const selectors = Array.from({ length: 64 }, (_, i) => `execution:a:b${i % 2}:*`);
  expect(NewHook.parse({ ...hook, selectors }).selectors).toEqual(selectors);
  expect(problems(NewHook, { ...hook, selectors: [] })[0]).toMatch(/^selectors: .*at least 1/);
  expect(problems(NewHook, { ...hook, selectors: [...selectors, "x"] })[0]).toMatch(/at most 64/);
  expect(problems(NewHook, { ...hook, selectors: ["x".repeat(512)] })).toEqual([]);
  expect(problems(NewHook, { ...hook, selectors: ["x".repeat(513)] })[0]).toMatch(/at most 512/);
});

test.each([
  ["workflow", "a/b/c", /<namespace>\/<name>/],
  ["workflow", "shop/", /<namespace>\/<name>/],
  ["principal", "", /1 to 256/],
  ["principal", "ops bot", /1 to 256/],
  ["principal", "x".repeat(257), /1 to 256/],
  ["max_attempts", 0, /at least 1/],
  ["max_attempts", 101, /at most 100/],
  ["max_attempts", 1.5, /int/],
  ["max_attempts", null, /number/],
  ["enabled", null, /boolean/],
  ["selectors", null, /array/],
  ["workflow", null, /string/],
  ["principal", null, /string/],
])("HOOK-38 %s is refused as %j, on create and on update", (field, value, message) => {
  const expected = [expect.stringMatching(message)];
  expect(problems(NewHook, { ...hook, [field]: value })).toEqual(expected);
  expect(problems(HookUpdate, { [field]: value })).toEqual(expected);
});

test("HOOK-1 HOOK-37 a hook only ever runs a workflow, and name and owner never change", () => {
  for (const field of ["action", "url", "owner_type", "owner_ref", "id", "revision"]) {
    expect(problems(NewHook, { ...hook, [field]: "x" })[0], field).toMatch(/[Uu]nrecognized/);
    expect(problems(HookUpdate, { [field]: "x" })[0], field).toMatch(/[Uu]nrecognized/);
  }
  expect(problems(HookUpdate, { name: "x" })[0]).toMatch(/[Uu]nrecognized/);
  expect(problems(HookUpdate, {})).toEqual([]);
});

test("HOOK-36 hooks are listed 200 at a time, at most 1,000", () => {
  expect(HookQuery.parse({})).toEqual({ limit: 200, offset: 0 });
  const query = { enabled_only: "true", owner_type: "agent", owner_ref: "helper", limit: "1000" };
  expect(HookQuery.parse(query)).toEqual({ ...query, enabled_only: true, limit: 1000, offset: 0 });
  expect(problems(HookQuery, { limit: "1001" })).toHaveLength(1);
  expect(problems(HookQuery, { limit: "0" })).toHaveLength(1);
  expect(problems(HookQuery, { owner_type: "me" })).toHaveLength(1);
  expect(problems(HookQuery, { page: "2" })).toHaveLength(1);
});
