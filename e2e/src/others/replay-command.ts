import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { History } from "@engine/contract";
import type { Stage } from "./stage.ts";

interface Told {
  readonly execution_id: string;
  readonly result: "ok" | "diverged" | "unverifiable";
  readonly failure?: { readonly message: string };
}

/**
 * Has the command that people use say which of the histories diverge; by execution. It cannot say it
 * of those whose values are kept elsewhere. A text says why it told nothing.
 */
export async function divergedByCommand(
  { engine }: Stage,
  programs: string,
  histories: readonly History[],
): Promise<ReadonlyMap<string, string> | string> {
  const folder = engine.home.file("histories");
  await mkdir(folder);
  const files = histories.map(({ execution }) => join(folder, `${execution.execution_id}.json`));
  await Promise.all(files.map((file, i) => writeFile(file, JSON.stringify(histories[i]))));
  const on = ["--history", ...files, "--file", programs, "--format", "json"];
  const { stdout, stderr } = await engine.cli("workflow", "replay", ...on);
  const told = parsed(stdout);
  if (!told) return `it told nothing: ${stdout.slice(0, 500)}\n${stderr}`;
  const diverged = told.filter(({ result }) => result === "diverged");
  return new Map(
    diverged.map(({ execution_id, failure }) => [execution_id, String(failure?.message)]),
  );
}

function parsed(text: string): readonly Told[] | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
