import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const execute = promisify(execFile);
const mains = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".main.ts"));

/** Rejects, with what the program printed, when it exits with anything but 0. */
async function runProgram(path: string, ...args: string[]): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "engine-example-"));
  try {
    await execute(process.execPath, ["--conditions=@engine/source", path, ...args], {
      env: { ...process.env, ENGINE_HOME: home },
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

// What the programs assert: EXE-12 and EXE-13 in hello, EXE-25 in retry-fallback-rollback, EXE-26 in
// parallel-and-map, EXE-47 in pipeline, EXE-14 in pause-and-resume, EXE-20 and EXE-27 in sales-report,
// EXE-31, EXE-50 and EXE-51 in approval-reminder, EXE-9 and EXE-42 in order-fulfilment, EXE-53 in payments,
// EXE-54 to EXE-56 in parent-child, EXE-49a in caching, RES-1 and RES-4 in thumbnails.
test.each(mains)("%s runs and finds its own result right", async (name) => {
  await expect(runProgram(join(import.meta.dirname, name))).resolves.toBeUndefined();
});

test("every example has a program that runs it", () => {
  const workflows = readdirSync(import.meta.dirname).filter((name) => /^[a-z-]+\.ts$/.test(name));
  expect(mains).toEqual(workflows.map((name) => name.replace(/\.ts$/, ".main.ts")));
});

test("the committed sales data is what its script writes", async () => {
  const script = join(import.meta.dirname, "../data/generate-sales.ts");
  await expect(runProgram(script, "--check")).resolves.toBeUndefined();
});
