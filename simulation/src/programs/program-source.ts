import { readFile } from "node:fs/promises";

/** The workflows that `programSource` has, all of them interpreters. */
export const PROGRAM_WORKFLOWS = ["program", "limited_program", "heavy_program"] as const;

/** The text to register: of each number a version of its own, which says so to the port. */
export async function programSource(version: number): Promise<string> {
  const text = await readFile(new URL("./interpreter.ts", import.meta.url), "utf8");
  const numbered = text.replace("const VERSION = 1;", `const VERSION = ${version};`);
  if (version !== 1 && numbered === text) throw new Error("interpreter.ts has lost its VERSION");
  return numbered;
}
