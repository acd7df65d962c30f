import { randomBytes } from "node:crypto";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";

const requested: unknown[] = [];
const timers: unknown[] = [];
globalThis.fetch = async (address) => {
  requested.push(address);
  // A connection pool has timers of its own.
  const timer = setTimeout(() => {}, 1);
  timers.push(timer.constructor.name);
  clearTimeout(timer);
  return new Response("answer");
};
installReplaySafeGlobals();

/** Code of a user's file, whose first line is line 12. */
function userCode<T>(code: string): () => T {
  return runInThisContext(`() => ${code}`, { filename: "/app/flows/order.ts", lineOffset: 11 });
}

test("EXE-31 fetch in a body goes through with one warning that names its line and the fix", async () => {
  const body = new FakeBody();
  const load = userCode<Promise<Response>>("fetch('http://shop.test/')");
  requested.length = 0;
  const read = async () => {
    const response = await load();
    return [await response.text(), Date.now()];
  };
  expect(await body.inBody(read)).toEqual(["answer", body.now]);
  expect(await body.inBody(read)).toEqual(["answer", body.now]);
  expect(requested).toEqual(["http://shop.test/", "http://shop.test/"]);
  expect(body.warnings).toEqual([{ key: "fetch", message: expect.any(String) }]);
  expect(body.warnings[0]?.message).toMatchInlineSnapshot(
    `"fetch() at order.ts:12:7 was called in a workflow body: it is not recorded, so it may come out differently when the body is replayed; move it into a task, whose result is recorded and replayed"`,
  );
});

test("EXE-31 the timers of a connection that fetch opens are not sleeps of the execution", async () => {
  const body = new FakeBody();
  timers.length = 0;
  await body.inBody(() => fetch("http://shop.test/"));
  expect(timers).toEqual(["Timeout"]);
  expect(body.timers).toEqual([]);
});

test("EXE-31 each execution is warned by itself, tasks and code outside are not", async () => {
  const [one, other] = [new FakeBody(), new FakeBody()];
  const load = () => fetch("http://shop.test/");
  await Promise.all([one.inBody(load), other.inBody(load), one.inTask(load), load()]);
  expect([one.warnings.length, other.warnings.length]).toEqual([1, 1]);
  const third = new FakeBody();
  await third.inTask(load);
  expect(third.warnings).toEqual([]);
});

test.each<[string, () => unknown, RegExp]>([
  ["performance.now", userCode("performance.now()"), /use Date\.now\(\)/],
  [
    "crypto.getRandomValues",
    userCode("crypto.getRandomValues(new Uint8Array(2))"),
    /use crypto\.randomUUID\(\)/,
  ],
  ["AbortSignal.timeout", userCode("AbortSignal.timeout(1)"), /use setTimeout\(\)/],
  ["setImmediate", userCode("setImmediate(() => {})"), /use setTimeout\(\)/],
])("EXE-31 %s in a body works and warns with its line and a fix", (name, call, fix) => {
  const body = new FakeBody();
  expect(body.inBody(call)).toBeTruthy();
  expect(body.warnings).toMatchObject([{ key: name }]);
  expect(body.warnings[0]?.message).toContain(`${name}() at order.ts:12:`);
  expect(body.warnings[0]?.message).toMatch(fix);
  body.inTask(call);
  call();
  expect(body.warnings).toHaveLength(1);
});

test("EXE-31 random bytes of node:crypto in a body are real and warned about", () => {
  const body = new FakeBody();
  expect(body.inBody(() => randomBytes(8))).toHaveLength(8);
  expect(body.warnings).toMatchObject([{ key: "crypto.randomBytes" }]);
  expect(randomBytes.name).toBe("randomBytes");
});
