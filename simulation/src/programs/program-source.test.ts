import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { loadPrograms } from "../load-programs.ts";
import { BOUNDED_WORKFLOWS, COUNTED_WORKFLOWS } from "./counts.ts";
import { GUEST, GUEST_NAMESPACES, guestSource } from "./guest-source.ts";
import { HOOKED_WORKFLOWS } from "./hooked.ts";
import * as interpreter from "./interpreter.ts";
import { PROGRESS_MARK, TERMINAL } from "./program.ts";
import { PROGRAM_WORKFLOWS, programSource } from "./program-source.ts";
import { GUIDING_WORKFLOW, PLACED_WORKFLOWS } from "./wants.ts";

test("the source can be registered by itself: it imports the sdk and its routing once and nothing else", async () => {
  const source = await programSource(1);
  expect(source.match(/^import\b/gm)).toHaveLength(2);
  expect(source).toMatch(/^import \{.*\bworkflow\b.*\} from "@engine\/sdk";/);
  expect(source).toMatch(/^import \{.*\brequire\b.*\} from "@engine\/sdk\/routing";/m);
});

test("every file of the programs is in the source, behind those that it imports", async () => {
  const programs = await programSource(1);
  const guest = await guestSource({ namespace: "east", number: 1 });
  const folder = new URL("./author/", import.meta.url);
  for (const file of await readdir(folder)) {
    // The guest is registered by itself.
    const source = file === "guest.ts" ? guest : programs;
    const text = await readFile(new URL(file, folder), "utf8");
    const [, first = file] = /^export (?:async )?(?:function|const|class) (\w+)/m.exec(text) ?? [];
    expect(source, file).toMatch(new RegExp(`(function|const|class) ${first}\\b`));
    for (const [, of] of text.matchAll(/^import \{[^}]*\} from "\.\/([\w-]+)\.ts";/gm)) {
      const imported = await readFile(new URL(`${of}.ts`, folder), "utf8");
      const [, name = ""] =
        /^export (?:async )?(?:function|const|class) (\w+)/m.exec(imported) ?? [];
      const at = (what: string) => source.search(new RegExp(`(function|const|class) ${what}\\b`));
      expect(at(name), `${of} before ${file}`).toBeLessThan(at(first));
    }
  }
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

test("it can be registered, and has the workflows", async () => {
  const { versions } = await loadPrograms(1);
  const names = versions.flatMap(({ workflows }) =>
    workflows.map(({ extracted }) => extracted.name),
  );
  expect(names.sort()).toEqual(
    [
      ...[...PROGRAM_WORKFLOWS, ...PLACED_WORKFLOWS, GUIDING_WORKFLOW, ...COUNTED_WORKFLOWS],
      ...Object.values(BOUNDED_WORKFLOWS).flat(),
      ...HOOKED_WORKFLOWS,
    ].sort(),
  );
});

test("the workflows are those that have names here", () => {
  const { program, limitedProgram, heavyProgram } = interpreter;
  const names = [program, limitedProgram, heavyProgram].map(({ name }) => name);
  expect(names).toEqual(PROGRAM_WORKFLOWS);
  const { placedProgram, labelledProgram, hiddenProgram } = interpreter;
  const placed = [placedProgram, labelledProgram, hiddenProgram].map(({ name }) => name);
  expect(placed).toEqual(PLACED_WORKFLOWS);
  expect(interpreter.guidingProgram.name).toBe(GUIDING_WORKFLOW);
  const { keyedProgram, sharedProgram, jointProgram, strictProgram } = interpreter;
  expect(
    [keyedProgram, sharedProgram, jointProgram, strictProgram].map(({ name }) => name),
  ).toEqual(Object.values(BOUNDED_WORKFLOWS).flat());
  const { countedProgram, seatedProgram } = interpreter;
  expect([countedProgram, seatedProgram].map(({ name }) => name)).toEqual(COUNTED_WORKFLOWS);
});

test("a guest is another workflow in each namespace, and its texts say the same", async () => {
  for (const namespace of GUEST_NAMESPACES) {
    const [first, second] = await Promise.all(
      [1, 2].map((number) => guestSource({ namespace, number })),
    );
    expect(first).toContain(`{ name: "${GUEST}", namespace: "${namespace}" }`);
    expect(first?.match(/^import\b/gm)).toHaveLength(1);
    expect(second?.replace("const VERSION = 2;", "const VERSION = 1;")).toBe(first);
  }
});
