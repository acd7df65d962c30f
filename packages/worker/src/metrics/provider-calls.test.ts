import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { until } from "../testing/until.ts";
import { ProviderCalls } from "./provider-calls.ts";

/** Calls of a provider that is this code, on a real thread, under a clock of the test's. */
function callsOf(code: string, { name = "collect", file = "metrics.ts" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "engine-metrics-"));
  const path = join(folder, file);
  writeFileSync(path, code);
  const time = new ManualTime();
  const life = new AbortController();
  onTestFinished(() => {
    life.abort();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { MARK: "seen" };
  const provider = { path, name };
  const options = { provider, env, setTimer: time.setTimer, life: life.signal };
  const rewrite = (text: string) => writeFileSync(path, text);
  return { calls: new ProviderCalls(options), time, path, rewrite };
}

/** Whether a promise has settled by now. */
function watched<T>(promise: Promise<T>): { readonly value: T | undefined } {
  const box: { value: T | undefined } = { value: undefined };
  void promise.then((value) => {
    box.value = value;
  });
  return box;
}

test.each([
  [
    "metrics.ts",
    "let n: number = 0; export const collect = (): Record<string, number> => ({ n: ++n });",
  ],
  ["metrics.mjs", "let n = 0; export async function collect() { return { n: ++n }; }"],
  ["metrics.js", "let n = 0; exports.collect = () => Promise.resolve({ n: ++n });"],
])(
  "WMD-5 %s is loaded once, and its export gives a record or a promise of one",
  async (file, code) => {
    const { calls } = callsOf(code, { file });
    await calls.open();
    expect(await calls.collect()).toEqual({ kind: "values", entries: [["n", 1]], beyond: 0 });
    expect(await calls.collect()).toMatchObject({ entries: [["n", 2]] });
  },
);

test("WMD-5 without a name it is the default export", async () => {
  const { calls } = callsOf("export default () => ({ n: 1 });", { name: "default" });
  await calls.open();
  expect(await calls.collect()).toMatchObject({ entries: [["n", 1]] });
});

test("WMD-5 AUTH-55 its thread has the environment of a runner thread", async () => {
  const { calls } = callsOf(
    'export const collect = () => ({ seen: process.env["MARK"] === "seen" ? 1 : 0, own: Object.keys(process.env).length });',
  );
  await calls.open();
  expect(await calls.collect()).toMatchObject({
    entries: [
      ["seen", 1],
      ["own", 1],
    ],
  });
});

test.each<[string, string, RegExp]>([
  ["throws", 'throw new Error("no queue")', /^Error: no queue$/],
  ["rejects", 'return Promise.reject(new TypeError("no queue"))', /^TypeError: no queue$/],
  ["gives nothing", "", /expected a record of numbers; got undefined/],
  ["gives null", "return null", /got null/],
  ["gives a number", "return 7", /got number/],
  ["gives a list", "return [1, 2]", /got a list/],
  ["gives a Map", "return new Map([['a', 1]])", /got a list/],
])("WMD-5 a provider that %s has failed, and is called again", async (_, body, why) => {
  const { calls } = callsOf(`let n = 0; export const collect = () => {
    if (n++ > 0) return { n };
    ${body};
  };`);
  await calls.open();
  expect(await calls.collect()).toEqual({ kind: "failed", why: expect.stringMatching(why) });
  expect(await calls.collect()).toMatchObject({ kind: "values", entries: [["n", 2]] });
});

test("WMD-5 what is no number is told by its kind, and never keeps the others back", async () => {
  const { calls } = callsOf(
    "export const collect = () => ({ f() {}, s: 'x'.repeat(1e6), o: {}, u: undefined, n: 1 });",
  );
  await calls.open();
  expect(await calls.collect()).toMatchObject({
    entries: [
      ["f", {}],
      ["s", ""],
      ["o", {}],
      ["u", undefined],
      ["n", 1],
    ],
  });
});

test("WMD-5 of a huge record so much is taken that what is dropped can be named", async () => {
  const { calls } = callsOf(
    "export const collect = () => Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => ['k'.repeat(1_000) + i, i]));",
  );
  await calls.open();
  const collected = await calls.collect();
  if (collected.kind === "failed") throw new Error(collected.why);
  expect([collected.entries.length, collected.beyond]).toEqual([256, 9_744]);
  expect(collected.entries[0]?.[0]).toHaveLength(100);
});

test.each([
  ["blocks its thread", "for (;;);"],
  ["never settles", "return new Promise(() => {});"],
])(
  "WMD-5 a provider that %s is given up after 5 s, and called anew on a fresh thread",
  async (_, body) => {
    const { calls, time, rewrite } = callsOf(`export const collect = () => { ${body} };`);
    await calls.open();
    const first = watched(calls.collect());
    await time.advance(4_999);
    expect(first.value).toBeUndefined();
    await time.advance(1);
    await until(() => first.value !== undefined);
    expect(first.value).toEqual({ kind: "failed", why: "it took longer than 5 s" });

    rewrite("export const collect = () => ({ well: 1 });");
    let again = await calls.collect();
    // The thread that was ended may take a moment to be gone.
    while (again.kind === "failed" && again.why.includes("earlier call")) {
      await new Promise(setImmediate);
      again = await calls.collect();
    }
    expect(again).toMatchObject({ kind: "values", entries: [["well", 1]] });
  },
);

test.each([
  ["ends its thread", "process.exit(3);", /thread ended with code 3/],
  [
    "lets an error escape",
    'setTimeout(() => { throw new Error("late"); }); return new Promise(() => {});',
    /^Error: late$/,
  ],
  [
    "fills its memory",
    "const all = []; for (;;) all.push(new Array(1e5).fill(all.length));",
    /memory/,
  ],
])("WMD-5 a provider that %s harms nothing else, and gets a fresh thread", async (_, body, why) => {
  const { calls, rewrite } = callsOf(`export const collect = () => { ${body} };`);
  await calls.open();
  expect(await calls.collect()).toEqual({ kind: "failed", why: expect.stringMatching(why) });

  rewrite("export const collect = () => ({ well: 1 });");
  let again = await calls.collect();
  while (again.kind === "failed") {
    await new Promise(setImmediate);
    again = await calls.collect();
  }
  expect(again).toMatchObject({ kind: "values", entries: [["well", 1]] });
});

test.each<[string, string, RegExp]>([
  ["has an error at its top", 'throw new Error("no database");', /Error: no database/],
  ["is no code", "export const = ;", /SyntaxError/],
  [
    "lacks the export",
    "export const other = () => ({});",
    /export "collect" to be a function; got undefined \(it exports: other\)/,
  ],
  ["exports something else by that name", "export const collect = 7;", /got number/],
  ["ends its thread", "process.exit(3);", /thread ended with code 3/],
])("WMD-5 a module that %s cannot be opened, and says so with the key", async (_, code, why) => {
  const { calls, path } = callsOf(code);
  const opening = calls.open();
  await expect(opening).rejects.toMatchObject({ code: "invalid_input" });
  await expect(opening).rejects.toThrow(why);
  await expect(opening).rejects.toThrow(`engine.workers.metrics_provider: ${path}`);
});

test("WMD-5 a module that never loads is given up", async () => {
  const { calls, time } = callsOf(
    "await new Promise((done) => setTimeout(done, 1e9)); export const collect = () => ({});",
  );
  const opening = expect(calls.open()).rejects.toThrow("did not load within 30 s");
  await time.advance(30_000);
  await opening;
});
