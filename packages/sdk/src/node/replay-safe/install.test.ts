import { expect, test, vi } from "vitest";
import { nodeHost } from "../host.ts";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";
import { realClock } from "./real.ts";

test("EXE-31 a second call and a second copy of the package replace nothing anew, both work", async () => {
  installReplaySafeGlobals();
  const { Date: first, setTimeout: timeout, fetch: request } = globalThis;
  installReplaySafeGlobals();

  vi.resetModules();
  const copy = await import("./install.ts");
  const { FakeBody: OtherBody } = await import("../testing/fake-body.ts");
  const { realClock: otherClock } = await import("./real.ts");
  expect(copy.installReplaySafeGlobals).not.toBe(installReplaySafeGlobals);
  copy.installReplaySafeGlobals();
  copy.installReplaySafeGlobals();

  expect([Date, setTimeout, fetch]).toEqual([first, timeout, request]);
  expect(otherClock).toBe(realClock);
  const [mine, others] = [new FakeBody(), new OtherBody()];
  others.now++;
  expect(mine.inBody(() => Date.now())).toBe(mine.now);
  expect(others.inBody(() => Date.now())).toBe(others.now);
  expect(others.inTask(() => Date.now())).toBeGreaterThan(others.now);
  others.inBody(() => setTimeout(() => {}, 5));
  expect(others.timers).toMatchObject([{ ms: 5 }]);
});

test("EXE-31 a body of an older copy, which has no world, sees the real one", () => {
  installReplaySafeGlobals();
  const scope = { runtime: {}, inTask: false };
  const before = realClock.now();
  expect(nodeHost().runInScope(scope, () => Date.now())).toBeGreaterThanOrEqual(before);
});
