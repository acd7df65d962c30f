import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../io/captured-io.ts";
import { readInput } from "./input.ts";

test.each([
  ['{"id":"o1","cents":900}', { id: "o1", cents: 900 }],
  ['"World"', "World"],
  ["World", "World"],
  ["3", 3],
  ["null", null],
  ["", ""],
])("EXE-95 INPUT %s is JSON if it parses as JSON, else text", async (argument, expected) => {
  expect(await readInput(argument, capturedIo())).toEqual(expected);
});

test("EXE-95 @file is the content of a file, without the newline that ends it", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "engine-input-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, "order.json"), '{"id":"o1"}\n');
  writeFileSync(join(cwd, "name.txt"), "World\n");
  expect(await readInput("@order.json", capturedIo({ cwd }))).toEqual({ id: "o1" });
  expect(await readInput("@name.txt", capturedIo({ cwd }))).toBe("World");
  await expect(readInput("@gone.json", capturedIo({ cwd }))).rejects.toThrow(/gone\.json.*ENOENT/);
});

test("EXE-95 - is standard input", async () => {
  const io = capturedIo({ readStdin: async () => "[1,2]\n" });
  expect(await readInput("-", io)).toEqual([1, 2]);
});

test("an INPUT that looks like JSON but is none stays text, and the user is told", async () => {
  const io = capturedIo();
  expect(await readInput("{id: 1}", io)).toBe("{id: 1}");
  expect(io.complained()).toMatch(/^note: INPUT is sent as text, because it is not JSON/);
});
