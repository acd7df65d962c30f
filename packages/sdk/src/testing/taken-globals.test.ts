import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";

// Real processes start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

/** What people take out of globals when a module loads; it does not know the engine. */
const TAKEN = `
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
export const { random } = Math;
export const { now } = Date;
export const { setTimeout: later } = globalThis;
export const uuid = randomUUID;
export const wait = promisify(setTimeout);
export const nap = sleep;
`;
const ENGINE = `import { task, workflow } from "@engine/sdk";`;
const GLOBALS = `import { later, nap, now, random, uuid, wait } from "./taken.ts";`;
const FLOW = `
const note = task({ name: "note" }, async (text: string) => text);
export const taken = workflow({ name: "taken" }, async () => {
  const drawn = { random: random(), uuid: uuid(), now: now() };
  await wait(10);
  await note("between");
  await nap(10);
  await new Promise<void>((resolve) => void later(resolve, 10));
  return note(JSON.stringify(drawn));
});
`;
const IMPORT_FLOW = `import { taken } from "./flows.ts";`;
const IMPORT_TESTING = `import { testEngine } from "@engine/sdk/testing";`;
const TEST = `
const engine = testEngine({ skipTime: true, alwaysReplay: true });
const { state, output, failure } = await engine.run(taken);
const sleeps = engine.events("e1").filter(({ type, name }) => type === "TASK_STARTED" && name === "sleep");
console.log(JSON.stringify({ state, failure, sleeps: sleeps.length, now: JSON.parse(String(output))?.now }));
`;

test.each([
  [
    "the workflow's file before @engine/sdk/testing",
    `${IMPORT_FLOW}\n${IMPORT_TESTING}`,
    `${ENGINE}\n${GLOBALS}`,
  ],
  [
    "@engine/sdk/testing first, and then the globals before @engine/sdk",
    `${IMPORT_TESTING}\n${IMPORT_FLOW}`,
    `${GLOBALS}\n${ENGINE}`,
  ],
])(
  "EXE-31 in a test of a user, what a module took out of the globals is replay-safe: %s",
  async (_, imports, importsOfFlow) => {
    const cwd = mkdtempSync(join(tmpdir(), "engine-taken-"));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const installed = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
    symlinkSync(installed, join(cwd, "node_modules"));
    writeFileSync(join(cwd, "taken.ts"), TAKEN);
    writeFileSync(join(cwd, "flows.ts"), `${importsOfFlow}\n${FLOW}`);
    writeFileSync(join(cwd, "test.mts"), `${imports}\n${TEST}`);
    const command = ["--conditions=@engine/source", "test.mts"];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd });
    expect(JSON.parse(stdout)).toEqual({
      state: "COMPLETED",
      failure: null,
      sleeps: 3,
      now: Date.parse("2026-01-01T00:00:00Z"),
    });
  },
);
