import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createClient } from "@engine/client";
import type { ExecutionSummary } from "@engine/contract";
import { expect, onTestFinished, test, vi } from "vitest";
import { replayOnThread } from "../dev/replay-check.ts";
import { startDev } from "../started-dev.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { bundleWorkflow } from "../workflow-file/bundle-workflow.ts";

// Real processes and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const BIN = fileURLToPath(new URL("../../bin/engine.js", import.meta.url));

/** What people take out of globals when a module loads. Nothing here loads the engine first. */
const TAKEN = `
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
export const { random } = Math;
export const { now } = Date;
export const { error: say } = console;
export const { setTimeout: later } = globalThis;
export const uuid = randomUUID;
export const wait = promisify(setTimeout);
export const nap = sleep;
`;
const FLOWS = `
import { later, nap, now, random, say, uuid, wait } from "./taken.ts";
import { pause, task, workflow } from "@engine/sdk";
const note = task({ name: "note" }, async (text: string) => text);
export const taken = workflow({ name: "taken" }, async () => {
  say("the body begins");
  const drawn = { random: random(), uuid: uuid(), now: now() };
  await wait(1);
  await note("between");
  await nap(1);
  await new Promise<void>((resolve) => void later(resolve, 1));
  await pause("go", { output: drawn });
  return drawn;
});
`;
const FILES = { "taken.ts": TAKEN, "flows.ts": FLOWS };
const NEVER = new Promise<void>(() => {});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A process of the command itself. */
function engine(
  args: readonly string[],
  at: { readonly cwd: string; readonly url?: string },
): Promise<Ended> {
  const server = at.url === undefined ? {} : { ENGINE_SERVER_URL: at.url };
  return new Promise((resolve) => {
    const options = { cwd: at.cwd, env: { PATH: process.env["PATH"], ...server } };
    execFile(process.execPath, [BIN, ...args], options, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

interface Inspected {
  readonly output: unknown;
  readonly state: string;
  readonly events: readonly {
    readonly type: string;
    readonly name?: string;
    readonly value: unknown;
  }[];
}

test("EXE-31 EXE-95 exec: what a module took out of the globals as it loaded is replay-safe in a body", async () => {
  const folder = temporaryFolder(FILES);
  onTestFinished(() => folder.remove());
  const exec = async (...args: string[]) => {
    const command = ["exec", "flows.ts", "taken", "--inspect", ...args];
    const ended = await engine(command, { cwd: folder.path });
    return { ...ended, run: JSON.parse(ended.out) as Inspected };
  };
  const paused = await exec();
  expect(paused.err).toContain("the body begins");
  const [, id = ""] = /--execution-id (\S+)/.exec(paused.err) ?? [];
  const shown = paused.run.events.find(({ type }) => type === "WORKFLOW_PAUSED");

  // Another process replays everything before the pause.
  const ended = await exec("1", "--execution-id", id);
  expect(ended.err).toBe("");
  expect(ended.run.state).toBe("COMPLETED");
  const sleeps = ended.run.events.filter(
    ({ type, name }) => type === "TASK_STARTED" && name === "sleep",
  );
  expect(sleeps).toHaveLength(3);
  expect(shown?.value).toMatchObject({ output: ended.run.output });
});

test("EXE-31 EXE-95 workflow replay: it is replay-safe there too, in the server's code and in a file's", async () => {
  await using dev = await startDev(FILES);
  await dev.engine("workflow", "run", "taken", "--mode", "sync");
  const replay = (...args: string[]) => engine(["workflow", "replay", "taken", ...args], dev);
  const ok = { code: 0, err: "", out: expect.stringContaining("1 execution replayed: 1 ok") };
  expect(await replay()).toEqual(ok);
  expect(await replay("--file", "flows.ts")).toEqual(ok);
});

test("EXE-31 EXE-95 dev: a check of live executions on new code has replay-safe globals", async () => {
  await using dev = await startDev(FILES);
  await dev.engine("workflow", "run", "taken", "--mode", "sync");
  const client = createClient({ baseUrl: dev.url });
  const { items } = await client.executions.list({ query: {} });
  const executions: readonly ExecutionSummary[] = items;
  expect(executions).toHaveLength(1);
  const { bundle } = await bundleWorkflow(`${dev.cwd}/flows.ts`, []);
  const task = { baseUrl: dev.url, workflow: "default/taken", executions };
  const { replayed, failed } = await replayOnThread(bundle?.bundle ?? "", task, NEVER);
  expect(failed).toBeUndefined();
  expect(replayed).toMatchObject([{ result: "ok" }]);
});
