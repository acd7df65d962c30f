import { expect, test } from "vitest";
import { isBuiltInCall, isName, nearest, parseWorkflowName } from "./name.ts";

test("EXE-8 names begin with a letter, digit or _, and have at most 128 characters", () => {
  for (const name of ["a", "_", "9", "hello_world", "a.b-c", "A", "x".repeat(128)]) {
    expect(isName(name), name).toBe(true);
  }
  for (const name of ["", "-a", ".a", "a b", "a/b", "ä", "a\n", "x".repeat(129), "a~1"]) {
    expect(isName(name), JSON.stringify(name)).toBe(false);
  }
});

test("EXE-8 the names of built-in calls are taken", () => {
  expect(isBuiltInCall("pause")).toBe(true);
  expect(isBuiltInCall("get_config")).toBe(true);
  expect(isBuiltInCall("progress")).toBe(false);
});

test("EXE-8 a workflow is named by its namespace and name, or by a name of namespace default", () => {
  expect(parseWorkflowName("checkout")).toEqual({ namespace: "default", name: "checkout" });
  expect(parseWorkflowName("shop/checkout")).toEqual({ namespace: "shop", name: "checkout" });
  for (const text of ["", "/", "shop/", "/checkout", "a/b/c", "shop/che ckout", "shop//checkout"]) {
    expect(parseWorkflowName(text), JSON.stringify(text)).toBeUndefined();
  }
});

test("a mistyped word is answered with the known one that is nearest, if any is near", () => {
  const known = ["timeout", "retry", "fallback", "maxAttempts"];
  expect(nearest("timeOut", known)).toBe("timeout");
  expect(nearest("retrys", known)).toBe("retry");
  expect(nearest("max_attempts", known)).toBe("maxAttempts");
  expect(nearest("colour", known)).toBeUndefined();
  expect(nearest("x", [])).toBeUndefined();
});
