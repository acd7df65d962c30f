import { expect, expectTypeOf, test } from "vitest";
import { type StandardSchema, type Task, task, type Workflow, workflow } from "./index.ts";

const Order: StandardSchema<{ id: string }, { id: string; at: Date }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => ({ value: { ...(value as { id: string }), at: new Date(0) } }),
  },
};

test("EXE-1 types of input and output are inferred end to end", () => {
  const length = task({ name: "length" }, async (text: string) => text.length);
  expectTypeOf(length).toEqualTypeOf<Task<string, number>>();
  const wf = workflow({ name: "w" }, async (text: string) => ({ n: await length(text) }));
  expectTypeOf(wf).toEqualTypeOf<Workflow<string, { n: number }>>();
  const none = task(async function tick() {
    return 1;
  });
  expectTypeOf(none).parameter(0).toEqualTypeOf<undefined>();
});

test("EXE-4 a schema gives the caller its input type and the function its output type", () => {
  const ship = task({ name: "ship", input: Order }, async (order) => {
    expectTypeOf(order).toEqualTypeOf<{ id: string; at: Date }>();
    return order.at;
  });
  expectTypeOf(ship).parameter(0).toEqualTypeOf<{ id: string }>();
  expectTypeOf(ship).returns.resolves.toEqualTypeOf<Date>();
});

test("EXE-2 a workflow has its name, namespace, qualified name and options", () => {
  const wf = workflow({ name: "checkout", namespace: "shop" }, async () => 1);
  expect(wf).toMatchObject({ name: "checkout", namespace: "shop", qualifiedName: "shop/checkout" });
  expect(workflow(async function plain() {}).qualifiedName).toBe("default/plain");
});

test("EXE-2 with() is a copy with those options replaced, under the same name", () => {
  const first = task({ name: "a", timeout: "1s", retry: { maxAttempts: 2 } }, async () => 1);
  const copy = first.with({ timeout: "5s" });
  expect(copy.name).toBe("a");
  expect(copy.options).toMatchObject({ timeout: "5s", retry: { maxAttempts: 2 } });
  expect(first.options.timeout).toBe("1s");
  expect(() => first.with({ name: "b" } as never)).toThrow(/keeps the name/);
});

test.each([
  ["an unknown option names the nearest", { name: "a", timout: "1s" }, /did you mean timeout/],
  ["a wrong duration", { name: "a", timeout: "1 second" }, /timeout.*duration/],
  ["a negative duration", { name: "a", timeout: -1 }, /timeout/],
  ["an unknown retry option", { name: "a", retry: { attempts: 2 } }, /retry.*no option attempts/],
  ["too few attempts", { name: "a", retry: { maxAttempts: 0 } }, /1 to 1000/],
  ["a name with a slash", { name: "a/b" }, /must be a name/],
  ["the name of a built-in", { name: "parallel" }, /taken by built-in/],
  ["a rollback that is no function", { name: "a", rollback: "undo" }, /rollback.*function/],
])("EXE-4 a task refuses %s", (_, options, message) => {
  expect(() => task(options as never, async () => 1)).toThrow(message);
  expect(() => task(options as never, async () => 1)).toThrow(
    expect.objectContaining({ code: "invalid_definition" }),
  );
});

test("EXE-4 an anonymous function without a name is refused", () => {
  expect(() => task(async () => 1)).toThrow(/needs a name/);
  expect(() => workflow(async () => 1)).toThrow(/needs a name/);
});

test("EXE-12 run without a local host names the import that brings one", async () => {
  const wf = workflow({ name: "w" }, async () => 1);
  await expect(wf.run()).rejects.toMatchObject({
    code: "no_local_host",
    message: expect.stringContaining('import "@engine/local"'),
  });
});
