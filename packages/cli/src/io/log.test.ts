// biome-ignore-all lint/suspicious/noControlCharactersInRegex: none of them may be printed
import { expect, test } from "vitest";
import { capturedIo } from "./captured-io.ts";
import { harmlessIo } from "./harmless-io.ts";
import { createLog } from "./log.ts";

const EVIL = "\u001b[31mred\u202e\u009b2J\n[12:00:00.000] ERROR: forged";

async function logged(columns?: number): Promise<string> {
  const io = capturedIo(columns === undefined ? {} : { columns });
  const log = await createLog("info", harmlessIo(io));
  const err = Object.assign(new Error(EVIL), {
    stack: "Error: boom\n    at flows.ts:1:2\u001b[2J",
  });
  log.error({ worker: EVIL, [EVIL]: [EVIL], err }, `it failed: ${EVIL}`);
  return io.complained();
}

test("a log that a person watches has the colours of the engine and none of what data says", async () => {
  const text = await logged(80);
  expect(text).toContain("\u001b[31mERROR\u001b[39m");
  expect(text.replaceAll(/\u001b\[\d+m(?!red)/g, "")).not.toMatch(/[\u001b\u202e\u009b\r]/);
  expect(text).not.toMatch(/\u001b\[31mred|^\[12:00:00\.000\]/m);
  expect(text).toContain(
    "it failed: \\u001b[31mred\\u202e\\u009b2J\\n[12:00:00.000] ERROR: forged",
  );
  // A stack is read line by line.
  expect(text).toMatch(/boom\n +at flows\.ts:1:2\\u001b\[2J/);
});

test("a log that a program reads is the same JSON, a line for each record", async () => {
  const text = await logged();
  expect(text).not.toMatch(/[\u001b\u202e\u009b\r]/);
  expect(text.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(text)).toMatchObject({
    msg: `it failed: ${EVIL}`,
    worker: EVIL,
    [EVIL]: [EVIL],
  });
});
