import { expect, test } from "vitest";
import * as interpreter from "./interpreter.ts";
import { PROGRESS_MARK, TERMINAL } from "./program.ts";
import { PROGRAM_WORKFLOWS, programSource } from "./program-source.ts";

test("the source can be registered by itself: of its folder it imports types only", async () => {
  const source = await programSource(1);
  const imports = source.match(/^import (?!type).* from "\..*$/gm);
  expect(imports).toBeNull();
});

test("what the source repeats of its folder is the same there", async () => {
  const source = await programSource(1);
  expect(source).toContain(`const PROGRESS_MARK = "${PROGRESS_MARK}"`);
  expect(source).toContain(`const TERMINAL = ${TERMINAL};`);
});

test("every version says which it is, and is otherwise the same", async () => {
  const [first, second] = [await programSource(1), await programSource(2)];
  expect(second).toContain("const VERSION = 2;");
  expect(second.replace("const VERSION = 2;", "const VERSION = 1;")).toBe(first);
});

test("the workflows are those that have names here", () => {
  const { program, limitedProgram, heavyProgram } = interpreter;
  const names = [program, limitedProgram, heavyProgram].map(({ name }) => name);
  expect(names).toEqual(PROGRAM_WORKFLOWS);
});
