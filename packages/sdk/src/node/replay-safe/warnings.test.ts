import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { runInThisContext } from "node:vm";
import { gzip, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { FakeBody } from "../testing/fake-body.ts";
import { installReplaySafeGlobals } from "./install.ts";
import { UNRECORDED_CALLS } from "./unrecorded-calls.ts";

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
const listed = UNRECORDED_CALLS.flatMap(({ of, holders, keys }) =>
  holders.flatMap((holder) =>
    keys.map((key) => ({ name: `${of ?? "globals"} ${key}`, holder, key })),
  ),
);
const natives = listed.map(({ holder, key }) => functionAt(holder, key));
installReplaySafeGlobals();

function functionAt(holder: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

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

const CLOCK = /use Date\.now\(\)/;
const RANDOM = /use crypto\.randomUUID\(\)/;
const TASK = /; move it into a task/;
const TIMER = /use setTimeout\(\)/;
const SYNC = /use its form with Sync at the end/;
const HASH = /use createHash\(\)/;
const node = (module: string) => `process.getBuiltinModule("node:${module}")`;
const nothing = "new Uint8Array(8)";

test.each<[string, string, RegExp]>([
  ["performance.now", "performance.now()", CLOCK],
  ["process.hrtime", "process.hrtime()", CLOCK],
  ["process.hrtime.bigint", "process.hrtime.bigint()", CLOCK],
  ["process.uptime", "process.uptime()", CLOCK],
  ["process.memoryUsage", "process.memoryUsage()", TASK],
  ["crypto.getRandomValues", "crypto.getRandomValues(new Uint8Array(2))", RANDOM],
  ["crypto.randomBytes", `${node("crypto")}.randomBytes(8)`, RANDOM],
  ["crypto.randomFill", `[${node("crypto")}.randomFill(${nothing}, () => {})]`, RANDOM],
  ["crypto.randomFillSync", `${node("crypto")}.randomFillSync(${nothing})`, RANDOM],
  ["crypto.randomInt", `[${node("crypto")}.randomInt(5)]`, RANDOM],
  ["crypto.generateKeyPairSync", `${node("crypto")}.generateKeyPairSync("ed25519")`, RANDOM],
  ["crypto.scrypt", `[${node("crypto")}.scrypt("a", "b", 8, { N: 2 }, () => {})]`, SYNC],
  ["crypto.pbkdf2", `[${node("crypto")}.pbkdf2("a", "b", 1, 8, "sha256", () => {})]`, SYNC],
  ["crypto.subtle.digest", `crypto.subtle.digest("SHA-256", ${nothing})`, HASH],
  ["crypto.subtle.generateKey", 'crypto.subtle.generateKey("Ed25519", true, ["sign"])', HASH],
  ["AbortSignal.timeout", "AbortSignal.timeout(1)", TIMER],
  ["setImmediate", "setImmediate(() => {})", TIMER],
  ["setImmediate", `${node("timers/promises")}.setImmediate()`, TIMER],
  ["scheduler.yield", `${node("timers/promises")}.scheduler.yield()`, TIMER],
  ["zlib.gzip", `[${node("zlib")}.gzip(${nothing}, () => {})]`, SYNC],
  ["new CompressionStream", 'new CompressionStream("gzip")', /use gzipSync\(\)/],
  ["new DecompressionStream", 'new DecompressionStream("gzip")', /use gzipSync\(\)/],
  ["WebAssembly.compile", `[WebAssembly.compile(${nothing}).catch(() => {})]`, /where the module/],
  ["fs.readFileSync", `${node("fs")}.readFileSync("/dev/null")`, TASK],
  ["fs.existsSync", `${node("fs")}.existsSync("/")`, TASK],
  ["fs.readFile", `[${node("fs")}.readFile("/dev/null", () => {})]`, TASK],
  ["fs.promises.readFile", `${node("fs")}.promises.readFile("/dev/null")`, TASK],
  ["os.hostname", `${node("os")}.hostname()`, TASK],
  ["child_process.execFileSync", `${node("child_process")}.execFileSync("true")`, TASK],
  [
    "http.get",
    `${node("http")}.get({ host: "127.0.0.1", port: 9, lookup: () => {} }).on("error", () => {}).destroy()`,
    TASK,
  ],
])("EXE-31 %s in a body works and warns with its line and a fix", (name, code, fix) => {
  const body = new FakeBody();
  const call = userCode(code);
  expect(body.inBody(call)).toBeTruthy();
  expect(body.warnings).toMatchObject([{ key: name }]);
  expect(body.warnings[0]?.message).toContain(`${name}() at order.ts:12:`);
  expect(body.warnings[0]?.message).toMatch(fix);
  body.inTask(call);
  call();
  expect(body.warnings).toHaveLength(1);
});

test("EXE-31 what only answers at another moment is told so", () => {
  const body = new FakeBody();
  body.inBody(userCode(`crypto.subtle.digest("SHA-256", ${nothing})`));
  expect(body.warnings[0]?.message).toMatchInlineSnapshot(
    `"crypto.subtle.digest() at order.ts:12:21 was called in a workflow body: no log holds when it answers, and a replay does not wait for it; use createHash() or createHmac() of node:crypto, which answer at once, or move it into a task, whose result is recorded and replayed"`,
  );
});

test.each([
  ["gzipSync", () => gzipSync("x")],
  ["createHash", userCode(`${node("crypto")}.createHash("sha256").update("x").digest("hex")`)],
  ["scryptSync", userCode(`${node("crypto")}.scryptSync("a", "b", 8, { N: 2 })`)],
  ["structuredClone", () => structuredClone({ a: 1 })],
  ["queueMicrotask", () => queueMicrotask(() => {})],
  ["nextTick", () => process.nextTick(() => {})],
  ["a locale's number", () => (5).toLocaleString("de")],
  ["a date in words", () => new Date(0).toLocaleString("de")],
  ["os.platform", userCode(`${node("os")}.platform()`)],
])("EXE-31 %s in a body replays as it was and gives no warning", (_, call) => {
  const body = new FakeBody();
  body.inBody(call);
  expect(body.warnings).toEqual([]);
});

test("EXE-31 a call by way of util.promisify is warned about, what Node's loader reads is not", async () => {
  const body = new FakeBody();
  const require = createRequire(import.meta.url);
  const data = require.resolve("../../../package.json");
  expect(body.inBody(() => require(data) as { name: string }).name).toBe("@engine/sdk");
  expect(body.warnings).toEqual([]);
  expect(await body.inBody(() => promisify(gzip)("x"))).toBeInstanceOf(Buffer);
  expect(body.inBody(() => readFileSync(data))).toBeInstanceOf(Buffer);
  expect(body.warnings).toMatchObject([{ key: "zlib.gzip" }, { key: "fs.readFileSync" }]);
});

test("EXE-31 in a schema what comes out differently is warned about, not what takes its time", async () => {
  const body = new FakeBody();
  await body.inSchema(async () => {
    randomBytes(1);
    setImmediate(() => {});
    await crypto.subtle.digest("SHA-1", new Uint8Array(1));
  });
  expect(body.warnings).toEqual([
    {
      key: "crypto.randomBytes",
      message: expect.stringContaining(
        "was called in the input schema of task pay: it is not recorded",
      ),
    },
  ]);
});

test("EXE-31 every call of the list that this Node has is replaced by a function that looks like it", () => {
  const missing: string[] = [];
  for (const [i, { name, holder, key }] of listed.entries()) {
    const native = natives[i];
    const now = functionAt(holder, key);
    if (typeof native !== "function" || typeof now !== "function") {
      missing.push(name);
      continue;
    }
    expect(now, name).not.toBe(native);
    expect([now.name, now.length], name).toEqual([native.name, native.length]);
    expect(Reflect.ownKeys(now), name).toEqual(expect.arrayContaining(Reflect.ownKeys(native)));
  }
  // Forms that are not there; on an older Node also what it does not know yet.
  expect(missing).toEqual(
    expect.arrayContaining(["fs createReadStreamSync", "fs.promises exists"]),
  );
});

test("EXE-31 a class that is replaced is still the class, also to what extends it", () => {
  const body = new FakeBody();
  class Zipped extends CompressionStream {
    readonly label = "zipped";
  }
  const [plain, own] = body.inBody(
    () => [new CompressionStream("gzip"), new Zipped("gzip")] as const,
  );
  expect(plain).toBeInstanceOf(CompressionStream);
  expect(plain.constructor).toBe(CompressionStream);
  expect(own).toBeInstanceOf(Zipped);
  expect([own.label, CompressionStream.name]).toEqual(["zipped", "CompressionStream"]);
  expect(body.warnings).toMatchObject([{ key: "new CompressionStream" }]);
});
