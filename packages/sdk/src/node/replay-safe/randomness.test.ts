import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";
import { realClock } from "./real.ts";

const earlyUuid = globalThis.crypto.randomUUID.bind(globalThis.crypto);
installReplaySafeGlobals();
const body = new FakeBody();

/** What a first pass and its replay get. */
function twice<T>(within: (read: () => T) => T, read: () => T): [T, T] {
  body.reseed();
  const first = within(read);
  body.reseed();
  return [first, within(read)];
}

test.each<[string, () => unknown]>([
  ["Math.random()", () => [Math.random(), Math.random()]],
  ["crypto.randomUUID()", () => [crypto.randomUUID(), crypto.randomUUID()]],
  ["randomUUID() of node:crypto", () => [randomUUID(), randomUUID()]],
])("EXE-31 %s is the same on a replay of a body, elsewhere it is really random", (_, read) => {
  const [first, replayed] = twice((run) => body.inBody(run), read);
  expect(replayed).toEqual(first);
  const [one, other] = first as [unknown, unknown];
  expect(other).not.toBe(one);
  for (const within of [(run: typeof read) => body.inTask(run), (run: typeof read) => run()]) {
    const [a, b] = twice(within, read);
    expect(b).not.toEqual(a);
  }
});

test("EXE-31 a body's UUIDs are of version 4 and differ", () => {
  const uuids = body.inBody(() => Array.from({ length: 500 }, () => crypto.randomUUID()));
  for (const uuid of uuids) {
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect(new Set(uuids).size).toBe(500);
});

test("EXE-31 the UUIDs that a sequence of random numbers gives never change", () => {
  body.reseed();
  expect(body.inBody(() => crypto.randomUUID())).toMatchInlineSnapshot(
    `"3c88596c-5e88-45db-8116-017eb4733ac5"`,
  );
});

test("EXE-31 the replacements look like the functions they replace", () => {
  expect([Math.random.name, Math.random.length]).toEqual(["random", 0]);
  expect([randomUUID.name, randomUUID.length]).toEqual(["randomUUID", 1]);
  expect(() => randomUUID("no" as never)).toThrow(TypeError);
  expect(earlyUuid()).toMatch(/^[0-9a-f-]{36}$/);
});

test("EXE-31 the engine's own randomness is real, also in a body", () => {
  const draw = () => [realClock.random(), realClock.randomUUID()];
  const [first, again] = twice((run) => body.inBody(run), draw);
  expect(again[0]).not.toBe(first[0]);
  expect(again[1]).not.toBe(first[1]);
});
