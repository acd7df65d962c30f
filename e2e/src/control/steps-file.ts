import { readFile } from "node:fs/promises";
import type { Engine } from "../harness/engine.ts";

/**
 * Source of a workflow with three steps in a row, each of which writes its name to a file. A test
 * replaces the second one to make another version.
 */
export function stepsSource(second: string): string {
  return `import { appendFileSync } from "node:fs";
import { task, workflow } from "@engine/sdk";

const did = (name: string, file: string) => {
  appendFileSync(file, name + "\\n");
  return name;
};
const gather = task({ name: "gather" }, (file: string) => did("gather", file));
const ${second} = task({ name: "${second}" }, (file: string) => did("${second}", file));
const publish = task({ name: "publish" }, (file: string) => did("publish", file));

export const steps = workflow({ name: "steps" }, async (file: string) => {
  const done = [await gather(file)];
  done.push(await ${second}(file));
  return [...done, await publish(file)];
});
`;
}
/** Line and column of the second call in that source. */
export const SECOND_CALL = "14:19";

/** Registers the steps with this second one. */
export async function registerSteps(engine: Engine, second: string): Promise<void> {
  const path = await engine.home.write("steps.ts", stepsSource(second));
  const { code, stderr } = await engine.cli("workflow", "register", path);
  if (code !== 0) throw new Error(`the steps were not registered: ${stderr}`);
}

export async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, "utf8")).trimEnd().split("\n");
}
