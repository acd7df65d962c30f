import { readFile } from "node:fs/promises";

/** The workflows that `programSource` has, all of them interpreters. */
export const PROGRAM_WORKFLOWS = ["program", "limited_program", "heavy_program"] as const;

/** Files of `author/`, each behind what it imports. */
const FILES = [
  ...["result-of", "digest", "spoil", "surroundings", "slow-schema", "traced"],
  ...["steps", "pass", "interpret", "workflows", "placed", "counted", "bounded", "hooked"],
];
const OF_THIS_FOLDER = /^import [^;]*? from "\.[^"]*";\n/gm;
const OF_THE_SDK = /^import (type )?\{([^}]*)\} from "(@engine\/sdk(?:\/routing)?)";\n/gm;

/** The text to register: of each number a version of its own, which says so to the port. */
export async function programSource(version: number): Promise<string> {
  const text = await authorText(FILES);
  const numbered = text.replace("const VERSION = 1;", `const VERSION = ${version};`);
  if (version !== 1 && numbered === text) throw new Error("the programs have lost their VERSION");
  return numbered;
}

/** Some files of `author/` as one, each behind what it imports. */
export async function authorText(names: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    names.map((name) => readFile(new URL(`./author/${name}.ts`, import.meta.url), "utf8")),
  );
  return joined(texts);
}

/** Modules as one: what they import of each other is there, what they import of the sdk they import once. */
function joined(texts: readonly string[]): string {
  const imported = new Map<string, Set<string>>();
  const bodies = texts.map((text) =>
    text
      .replaceAll(OF_THIS_FOLDER, "")
      .replaceAll(OF_THE_SDK, (_, type = "", list: string, module: string) => {
        const names = imported.get(module) ?? new Set();
        imported.set(module, names);
        for (const name of namesOf(list)) names.add(`${type}${name}`);
        return "";
      }),
  );
  const imports = [...imported].map(
    ([module, names]) => `import { ${[...names].sort().join(", ")} } from "${module}";\n`,
  );
  return `${imports.join("")}${bodies.join("\n")}`;
}

function namesOf(list: string): readonly string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
