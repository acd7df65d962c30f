// vitest finds this package for files outside the workspace only once it has read it itself.
import "@engine/sdk";
import { rmSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { type StartedDev, startDev } from "../../started-dev.ts";

// A server and a worker start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A workflow of two calls and a pause; `second` names the call in the middle. */
const orders = (second: string) => `
import { pause, task, workflow } from "@engine/sdk";
import { text } from "./lib/text";
import { hush } from "hush";
const reserve = task({ name: "reserve" }, async (n: number) => text("reserved", n));
const ${second} = task({ name: "${second}" }, async (n: number) => text("${second}d", n));
export const order = workflow({ name: "order", namespace: "shop" }, async (n: number) => {
  await reserve(hush(n));
  await ${second}(n);
  if (n > 99) await pause("review");
  return n;
});
export const idle = workflow({ name: "idle" }, async () => 1);
`;
const FILES = {
  "flows.ts": orders("charge"),
  "node_modules/hush/package.json": '{"type":"module","main":"index.js"}',
  "node_modules/hush/index.js": "export const hush = (n) => n;\n",
  "lib/text.ts":
    "export enum Word { And = ' ' }\nexport const text = (what: string, n: number) => what + Word.And + n;\n",
};

/** One execution that has ended and one that waits; their ids, the newest first. */
async function recorded({ engine }: StartedDev): Promise<string[]> {
  const ids: string[] = [];
  for (const input of ["1", "100"]) {
    const run = ["workflow", "run", "shop/order", input, "--mode", "sync", "--format", "json"];
    ids.unshift(JSON.parse((await engine(...run)).out).execution_id);
  }
  return ids;
}

test("EXE-95 replay says that unchanged code goes on with every execution of the server", async () => {
  await using dev = await startDev(FILES);
  const [waiting, done] = await recorded(dev);
  // Without --file it is the newest registered version that is tried, wherever its file has gone.
  rmSync(`${dev.cwd}/flows.ts`);
  expect(await dev.engine("workflow", "replay", "shop/order")).toEqual({
    code: 0,
    err: "",
    out: `✓ ok             ${waiting}   v1 paused
✓ ok             ${done}   v1 completed
2 executions replayed: 2 ok
`,
  });
  const limited = ["workflow", "replay", "shop/order", "--limit", "1", "--format", "json"];
  expect(JSON.parse((await dev.engine(...limited)).out)).toEqual([
    {
      execution_id: waiting,
      namespace: "shop",
      workflow: "order",
      version: 1,
      state: "PAUSED",
      result: "ok",
    },
  ]);
});

test("EXE-28 EXE-95 replay exits 1 and shows position, expected, found and the line of a divergence", async () => {
  await using dev = await startDev(FILES);
  const [waiting] = await recorded(dev);
  writeFileSync(`${dev.cwd}/next.ts`, orders("invoice"));
  const on = ["workflow", "replay", "shop/order", "--file", "next.ts"];
  const all = await dev.engine(...on);
  expect(all).toMatchObject({ code: 1, err: "error: 2 of 2 diverged\n" });
  expect(all.out).toMatch(
    new RegExp(
      `^✗ diverged       ${waiting}   v1 paused\n    replay diverged at position 1: .*\n      expected  charge~1 .*\n      found     invoice~1 +next\\.ts:9:`,
    ),
  );
  expect(all.out).toMatch(/\n2 executions replayed: 2 diverged\n$/);

  const paused = await dev.engine(...on, "--state", "paused", "--format", "json");
  expect(JSON.parse(paused.out)).toMatchObject([
    {
      execution_id: waiting,
      result: "diverged",
      failure: { details: { position: 1, found: { name: "invoice" } } },
    },
  ]);
});

test("EXE-88 EXE-95 replay reads exported histories without a server; a masked value is unverifiable", async () => {
  await using dev = await startDev(FILES);
  const [waiting = "", done = ""] = await recorded(dev);
  const { engine, cwd } = dev;
  await engine("execution", "export", waiting, "--out", "waiting.json");
  const { out: history } = await engine("execution", "export", done);
  writeFileSync(`${cwd}/masked.json`, history.replace("reserved 1", "[REDACTED:sensitive]"));
  await dev.stop();

  const on = ["--history", "waiting.json", "masked.json", "--file", "flows.ts"];
  expect(await engine("workflow", "replay", ...on)).toEqual({
    code: 0,
    err: "",
    out: `✓ ok             ${waiting}   v1 paused
? unverifiable   ${done}   v1 completed
    a value that the code may read was masked
2 executions replayed: 1 ok, 1 unverifiable
`,
  });
});

test("EXE-95 at a terminal replay counts on stderr, on a line that it takes away again", async () => {
  await using dev = await startDev(FILES);
  await recorded(dev);
  const shown: string[] = [];
  const user = capturedIo({ cwd: dev.cwd, env: { ENGINE_SERVER_URL: dev.url } });
  const err = { write: (text: string) => void shown.push(text), isTTY: true, columns: 80 };
  expect(await runCli(["workflow", "replay", "shop/order"], { ...user, err })).toBe(0);
  const line = (text: string) => `\u001b[2K\u001b[1G${text}`;
  expect(shown).toEqual([line("replaying 1 of 2"), line("replaying 2 of 2"), line("")]);
});

test("EXE-95 replay of nothing, or of what is no history, says so", async () => {
  await using dev = await startDev({
    ...FILES,
    "broken.json": "{",
    "other.json": '{"format":2}',
  });
  const { engine } = dev;
  expect(await engine("workflow", "replay", "idle")).toEqual({
    code: 0,
    out: "No executions of idle match; there is nothing to replay.\n",
    err: "",
  });
  for (const [args, code, err] of [
    [[], 2, /^error: name either a workflow or files with --history\n$/],
    [["idle", "--history", "a.json"], 2, /name either a workflow or files/],
    [["--history", "a.json"], 2, /add --file <file>/],
    [["--history", "a.json", "--limit", "3"], 2, /cannot be used with/],
    [["--history", "a.json", "--file", "flows.ts"], 2, /a\.json: the file cannot be read \(ENOENT/],
    [["--history", "broken.json", "--file", "flows.ts"], 2, /broken\.json is no JSON/],
    [
      ["--history", "other.json", "--file", "flows.ts"],
      2,
      /other\.json is no history of an execution \(format: .*engine execution export/,
    ],
    [["nobody"], 1, /no workflow default\/nobody/],
  ] as const) {
    const refused = await engine("workflow", "replay", ...args);
    expect(refused).toMatchObject({ code, out: "", err: expect.stringMatching(err) });
  }
});
