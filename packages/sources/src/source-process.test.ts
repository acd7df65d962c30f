import { EngineError, type Registration } from "@engine/contract";
import { expect, test, vi } from "vitest";
import { readRegistration } from "./registration-reading.ts";
import { readInProcess, type SourceLimits, sourceReader } from "./source-process.ts";

// Sources are read here that take seconds, on a machine that may do other things.
vi.setConfig({ testTimeout: 60_000 });

const SDK = `import { workflow } from "@engine/sdk";\n`;

function manyWorkflows(count: number): string {
  const one = (_: unknown, i: number) =>
    `export const w${i} = workflow({ name: "w${i}" }, async (input: { id: string }) => input.id);\n`;
  return SDK + Array.from({ length: count }, one).join("");
}

/** Files with their bundle, so that nothing but the reading itself could wait for anything. */
function files(source: string): Registration {
  return { entry: "a.ts", files: [{ path: "a.ts", source }], bundle: "export {}" };
}

/** What a body would be that the engine itself has no rule against. */
const SLOW = files(manyWorkflows(20_000));
const limits: SourceLimits = { memoryMb: 1_024, limitMs: 30_000, waiting: 1_000_000_000 };

test("the server's loop turns while sources are read", async () => {
  let turns = 0;
  let isRead = false;
  const turn = () => {
    turns++;
    if (!isRead) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  const { workflows, issues } = await readInProcess(files(manyWorkflows(2_000)));
  isRead = true;
  expect(issues).toEqual([]);
  expect(workflows).toHaveLength(2_000);
  expect(turns).toBeGreaterThan(20);
});

test("EXE-59 what that process reads is what the files say, in both forms", async () => {
  for (const registration of [
    files(manyWorkflows(3)),
    { source: manyWorkflows(3) },
    { source: `${SDK}export const a = ;` },
    { entry: "b.ts", files: [{ path: "a.ts", source: "" }], bundle: "x" },
  ]) {
    expect(await readInProcess(registration)).toEqual(await readRegistration(registration));
  }
});

test("EXE-64 files that take longer than the server gives are refused, and the next are read", async () => {
  const read = sourceReader({ ...limits, limitMs: 300 });
  const { issues, workflows } = await read(SLOW);
  expect(workflows).toEqual([]);
  expect(issues).toEqual([
    expect.objectContaining({
      rule: "too_intricate",
      file: "a.ts",
      message: expect.stringContaining("more than the 0.3 s that the server gives"),
    }),
  ]);
  expect((await sourceReader(limits)(files(manyWorkflows(1)))).workflows).toHaveLength(1);
});

test("EXE-64 files that take more memory than the server gives are refused", async () => {
  const { issues } = await sourceReader({ ...limits, memoryMb: 48 })(SLOW);
  expect(issues).toEqual([
    expect.objectContaining({
      rule: "too_intricate",
      message: expect.stringContaining("48 MiB of memory"),
    }),
  ]);
});

test("sources beyond what may wait are told to come again", async () => {
  const read = sourceReader({ ...limits, waiting: 100 });
  const first = read(files(manyWorkflows(1)));
  await expect(read(files(manyWorkflows(1)))).rejects.toThrow(EngineError);
  await expect(read(files(manyWorkflows(1)))).rejects.toThrow(/in a moment/);
  expect((await first).workflows).toHaveLength(1);
  expect((await read(files(manyWorkflows(1)))).workflows).toHaveLength(1);
});

test("a file as deep as the engine reads is no danger to the process", async () => {
  const depth = 250;
  const nested = `${"(".repeat(depth)}1${")".repeat(depth)}`;
  const chained = Array.from({ length: 1_900 }, () => "1").join("+");
  const { issues, workflows } = await readInProcess({
    source: `${SDK}const a = ${nested}; const b = ${chained};
      export const w = workflow({ name: "w" }, async () => a + b);`,
  });
  expect(issues).toEqual([]);
  expect(workflows).toHaveLength(1);
});
