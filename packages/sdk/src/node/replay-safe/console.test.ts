// biome-ignore-all lint/suspicious/noConsole: what is tested
import { expect, test } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";

const printed: unknown[] = [];
const methods = ["log", "info", "warn", "error", "debug", "dir", "table", "trace"] as const;
for (const method of methods) {
  globalThis.console[method] = (...args: unknown[]) => void printed.push([method, ...args]);
}
const { Console, log } = globalThis.console;
installReplaySafeGlobals();

test.each(methods)("EXE-31 console.%s of a body prints on the first pass only", (method) => {
  const body = new FakeBody();
  const print = (from: string) => globalThis.console[method](from);
  const run = () => {
    printed.length = 0;
    body.inBody(() => print("body"));
    body.inTask(() => print("task"));
    print("outside");
    return [...printed];
  };
  const elsewhere = [
    [method, "task"],
    [method, "outside"],
  ];
  expect(run()).toEqual([[method, "body"], ...elsewhere]);
  body.isReplaying = true;
  expect(run()).toEqual(elsewhere);
  body.isReplaying = false;
  expect(run()).toEqual([[method, "body"], ...elsewhere]);
});

test("EXE-31 what makes a console is left alone", () => {
  expect(globalThis.console.Console).toBe(Console);
  expect(globalThis.console.log.name).toBe(log.name);
});
