// biome-ignore-all lint/suspicious/noControlCharactersInRegex: none of them may be printed
import { execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

// Real processes and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const BIN = fileURLToPath(new URL("../../bin/engine.js", import.meta.url));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function engine(
  cwd: string,
  args: readonly string[],
  node: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const env = { PATH: process.env["PATH"], ...more };
  return new Promise((resolve) => {
    execFile(process.execPath, [...node, BIN, ...args], { cwd, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder(files);
  onTestFinished(() => folder.remove());
  return folder.path;
}

const FLOWS = `
import { call, pause, task, workflow } from "@engine/sdk";
import { z } from "zod";
import { suffix } from "./lib/suffix";
enum Mood { Good = "well" }
const greet = task({ name: "greet" }, async (name: string) => ({ text: "Hello, " + name + suffix, mood: Mood.Good, at: new Date(0) }));
export const hello = workflow({ name: "hello", input: z.string() }, async (name) => greet(name));
export const review = workflow({ name: "review", namespace: "shop" }, async () => {
  const answer = await pause<unknown>("approve", { output: 1 });
  return { answer };
});
const charge = task({ name: "charge", retry: { maxAttempts: 2, delay: "1ms" } }, async () => {
  throw new Error("card declined", { cause: new TypeError("HTTP 402") });
});
export const pay = workflow({ name: "pay" }, async () => charge());
export const claim = workflow({ name: "claim" }, async () => call(review));
export const offer = workflow({ name: "offer" }, async () => (await pause("accept", { after: "2d" })) ?? "lapsed");
export const steps = workflow({ name: "steps" }, async () => (process.env["NEW"] ? pause("b") : pause("a")));
`;
const SLOW = `
import { task, workflow } from "@engine/sdk";
const first = task({ name: "first" }, async () => void console.error("first runs"));
const second = task({ name: "second" }, async () => {
  console.error("second runs");
  if (process.env["HURRY"] === undefined) await new Promise((r) => setTimeout(r, 60_000));
  return "done";
});
export const slow = workflow({ name: "slow" }, async () => {
  await first();
  return second();
});
`;
const PROJECT = { "flows.ts": FLOWS, "lib/suffix.ts": 'export const suffix: string = "!";' };

test("EXE-95 exec prints the output as plain JSON; the engine and zod come with the command", async () => {
  const cwd = folderWith(PROJECT);
  const { code, out, err } = await engine(cwd, ["exec", "flows.ts", "hello", "World"]);
  expect(err).toBe("");
  expect(JSON.parse(out)).toEqual({
    text: "Hello, World!",
    mood: "well",
    at: "1970-01-01T00:00:00.000Z",
  });
  expect(code).toBe(0);
});

test("EXE-95 a paused exec exits 0 and stderr tells how to resume, which then works as printed", async () => {
  const cwd = folderWith(PROJECT);
  const paused = await engine(cwd, ["exec", "flows.ts", "shop/review"]);
  expect(paused).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringContaining('paused at "approve"'),
  });
  const [, command = ""] = /resume it with: npx engine (.*)/.exec(paused.err) ?? [];
  const args = command.replace("'<JSON>'", '{"ok":true}').split(" ");
  expect(await engine(cwd, args)).toEqual({
    code: 0,
    err: "",
    out: '{\n  "answer": {\n    "ok": true\n  }\n}\n',
  });
});

test("EXE-95 a run that a paused child keeps waiting exits 0 and tells how to go on, which works as printed", async () => {
  const cwd = folderWith(PROJECT);
  const waiting = await engine(cwd, ["exec", "flows.ts", "claim"]);
  expect(waiting).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringMatching(
      /^claim is running and waits for child shop\/review, execution \S+\n/,
    ),
  });
  const answer = /^answer child shop\/review with: npx engine (.*)$/m.exec(waiting.err)?.[1] ?? "";
  const answered = await engine(cwd, answer.replace("'<JSON>'", "true").split(" "));
  expect(answered).toMatchObject({ code: 0, err: "" });

  const go = /^then continue it with: npx engine (.*)$/m.exec(waiting.err)?.[1] ?? "";
  const done = await engine(cwd, go.split(" "));
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(done.out)).toEqual({ answer: true });
});

test("EXE-51 EXE-95 a pause with a wake says from when on it needs no answer", async () => {
  const cwd = folderWith(PROJECT);
  const { err } = await engine(cwd, ["exec", "flows.ts", "offer"]);
  expect(err).toMatch(
    /\nor, after \S+Z, continue it without an answer: npx engine exec flows\.ts offer --execution-id \S+\n$/,
  );
});

test("EXE-28 EXE-95 a divergence prints what was expected and found in columns that line up", async () => {
  const cwd = folderWith(PROJECT);
  const paused = await engine(cwd, ["exec", "flows.ts", "steps"]);
  const [, id = ""] = /--execution-id (\S+)/.exec(paused.err) ?? [];
  const again = ["exec", "flows.ts", "steps", "1", "--execution-id", id];
  const { code, err } = await engine(cwd, again, [], { NEW: "1" });
  expect(code).toBe(1);
  const column = (word: string) => new RegExp(`^ +${word} +`, "m").exec(err)?.[0].length;
  expect(err).toMatch(
    /^error: steps failed, execution \S+\n {2}NondeterminismError: replay diverged/,
  );
  expect(err).toMatch(
    /^ {4}expected {2}pause~1 \("a"\) .*\n {4}found {5}pause~1 \("b"\) +flows\.ts:\d/m,
  );
  expect(column("expected")).toBe(column("found"));
});

test("EXE-95 an interrupted exec exits 1 and tells how to continue, which runs nothing recorded again", async () => {
  const cwd = folderWith({ "slow.ts": SLOW });
  const env = { PATH: process.env["PATH"] };
  const running = spawn(process.execPath, [BIN, "exec", "slow.ts", "slow"], { cwd, env });
  let err = "";
  const closed = new Promise<number | null>((resolve) => running.on("close", resolve));
  running.stderr.on("data", (chunk) => {
    err += chunk;
    if (String(err).includes("second runs") && !running.killed) running.kill("SIGINT");
  });
  expect(await closed).toBe(1);
  const [, id = ""] =
    /continue it with: npx engine exec slow.ts slow --execution-id (\S+)/.exec(err) ?? [];
  expect(id).not.toBe("");

  const again = await engine(cwd, ["exec", "slow.ts", "slow", "--execution-id", id], [], {
    HURRY: "1",
  });
  expect(again).toMatchObject({ code: 0, out: '"done"\n' });
  expect(again.err).not.toContain("first runs");
});

test("EXE-95 a failed exec exits 1 with type, message and causes on stderr", async () => {
  const cwd = folderWith(PROJECT);
  const { code, out, err } = await engine(cwd, ["exec", "flows.ts", "pay"]);
  expect(err.replace(/[0-9a-f-]{36}/, "ID").replace(/:\d+:\d+/g, ":N")).toBe(
    "error: pay failed, execution ID\n  Error: card declined\n  in flows.ts:N\n  caused by TypeError: HTTP 402\n  in flows.ts:N\n  in call charge~1, after 2 attempts\n",
  );
  expect(out).toBe("");
  expect(code).toBe(1);
});

test("EXE-95 --inspect prints everything about the run, its log included", async () => {
  const cwd = folderWith(PROJECT);
  const { out } = await engine(cwd, ["exec", "flows.ts", "hello", "World", "--inspect"]);
  expect(JSON.parse(out)).toMatchObject({
    state: "COMPLETED",
    version: null,
    events: [
      { type: "WORKFLOW_CREATED" },
      {},
      {},
      {},
      { value: { at: "1970-01-01T00:00:00.000Z" } },
      {},
    ],
  });
});

test.each([
  ["a syntax error", "export const a = ;", /^flows\.ts:1:18 Unexpected ";"$/m],
  ["a missing file", '\nimport "./gone";', /^flows\.ts:2:8 \.\/gone does not exist$/m],
  [
    "a missing package",
    'import x from "left-pad";\nx();',
    /^flows\.ts:1:15 package left-pad is not installed$/m,
  ],
  [
    "a missing export",
    'import { flow } from "@engine/sdk";\nflow();',
    /^flows\.ts:1:22 @engine\/sdk has no export named flow$/m,
  ],
  [
    "a throw",
    "interface A { a: 1 }\n\nthrow new RangeError('boom');",
    /^flows\.ts:3:7 RangeError: boom$/m,
  ],
])(
  "a file with %s does not load: file, line, column and the line itself",
  async (_, source, expected) => {
    const { code, err } = await engine(folderWith({ "flows.ts": source }), [
      "exec",
      "flows.ts",
      "a",
    ]);
    expect(err).toMatch(/^error: flows\.ts does not load$/m);
    expect(err).toMatch(expected);
    expect(err).not.toContain("    at ");
    expect(code).toBe(1);
  },
);

test("a workflow that the file does not export is answered with those it does", async () => {
  const { code, err } = await engine(folderWith(PROJECT), ["exec", "flows.ts", "helo"]);
  expect(err).toMatch(/^error: flows\.ts exports no workflow named "helo"; did you mean "hello"\?/);
  expect(code).toBe(1);
});

test("an older Node gets one clear line and exit code 1", async () => {
  const old =
    'for (const [k, v] of [["versions", { node: "20.20.2" }], ["version", "v20.20.2"]]) Object.defineProperty(process, k, { value: v })';
  const { code, out, err } = await engine(
    folderWith({}),
    ["--help"],
    ["--import", `data:text/javascript,${encodeURIComponent(old)}`],
  );
  expect(err).toMatch(
    /^error: engine needs Node 22\.18 or newer; this is v20\.20\.2 \(.*\)\. Run it as `npx engine …`.*\n$/,
  );
  expect(out).toBe("");
  expect(code).toBe(1);
});

test("what a local run tells reaches the terminal as text, and its output is the same JSON", async () => {
  const evil = JSON.stringify("\u001b[31mred\u202e\u009b2J\r\nerror: forged");
  const cwd = folderWith({
    "evil.ts": `
import { workflow } from "@engine/sdk";
export const echo = workflow({ name: "echo" }, async (text: string) => text);
export const fail = workflow({ name: "fail" }, async (text: string) => { throw new Error(text); });
`,
  });
  const echoed = await engine(cwd, ["exec", "evil.ts", "echo", evil]);
  expect(echoed.out).not.toMatch(/[\u001b\u202e\u009b\r]/);
  expect(echoed.out).toBe('"\\u001b[31mred\\u202e\\u009b2J\\r\\nerror: forged"\n');
  expect(JSON.parse(echoed.out)).toBe(JSON.parse(evil));
  const failed = await engine(cwd, ["exec", "evil.ts", "fail", evil]);
  expect(failed.err).not.toMatch(/[\u001b\u202e\u009b\r]|^error: forged/m);
  expect(failed.err).toMatch(/Error: \\u001b\[31mred\\u202e\\u009b2J\n {2}error: forged\n/);
});
