import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";

// Real processes start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** What people take out of globals when a module loads; it does not know the engine. */
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
const ENGINE = `import { pause, task, workflow } from "@engine/sdk";`;
const GLOBALS = `import { later, nap, now, random, say, uuid, wait } from "./taken.ts";`;
const FLOW = `
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
const IMPORT_FLOW = `import { taken } from "./flows.ts";`;
const MAIN = `
const executionId = process.argv[2];
const result = await taken.run(1, executionId ? { executionId } : {});
console.log(JSON.stringify(result));
`;

interface Result {
  readonly execution_id: string;
  readonly state: string;
  readonly output: unknown;
  readonly events: readonly {
    readonly type: string;
    readonly name?: string;
    readonly value: unknown;
  }[];
}

/** A user's program of several files, run by a process of its own each time. */
function program(files: Record<string, string>) {
  const cwd = mkdtempSync(join(tmpdir(), "engine-taken-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const installed = fileURLToPath(new URL("../../../node_modules", import.meta.url));
  symlinkSync(installed, join(cwd, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  mkdirSync(join(cwd, "home"));
  return async (args: readonly string[], node: readonly string[] = []) => {
    const command = ["--conditions=@engine/source", ...node, "main.mts", ...args];
    const env = { PATH: process.env["PATH"] };
    const ended = await promisify(execFile)(process.execPath, command, { cwd, env });
    return { ...ended, result: JSON.parse(ended.stdout) as Result };
  };
}

test.each<[string, Record<string, string>, readonly string[]]>([
  [
    "the workflow's file before @engine/local",
    {
      "flows.ts": `${ENGINE}\n${GLOBALS}\n${FLOW}`,
      "main.mts": `${IMPORT_FLOW}\nimport "@engine/local";\n${MAIN}`,
    },
    [],
  ],
  [
    "@engine/local first, and then the globals before @engine/sdk",
    {
      "flows.ts": `${GLOBALS}\n${ENGINE}\n${FLOW}`,
      "main.mts": `import "@engine/local";\n${IMPORT_FLOW}\n${MAIN}`,
    },
    [],
  ],
  [
    "the globals first of all, in a process that node --import prepared",
    {
      "flows.ts": `${GLOBALS}\n${ENGINE}\n${FLOW}`,
      "main.mts": `${IMPORT_FLOW}\nimport "@engine/local";\n${MAIN}`,
    },
    ["--import=@engine/sdk"],
  ],
])(
  "EXE-12 EXE-31 what a module took out of the globals is replay-safe: %s",
  async (_, files, node) => {
    const run = program({ "taken.ts": TAKEN, ...files });
    const paused = await run([], node);
    expect(paused.result.state).toBe("PAUSED");
    expect(paused.stderr).toContain("the body begins");

    // Another process replays everything before the pause.
    const ended = await run([paused.result.execution_id], node);
    expect(ended.result.state).toBe("COMPLETED");
    expect(ended.stderr).not.toContain("the body begins");
    const { events, output } = ended.result;
    const sleeps = events.filter(({ type, name }) => type === "TASK_STARTED" && name === "sleep");
    expect(sleeps).toHaveLength(3);
    const shown = events.find(({ type }) => type === "WORKFLOW_PAUSED");
    expect(shown?.value).toMatchObject({ output });
  },
);
