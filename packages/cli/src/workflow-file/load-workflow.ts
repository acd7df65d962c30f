import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DEFAULT_NAMESPACE, nearest } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import { installReplaySafeGlobals, isWorkflow } from "@engine/sdk/node";
import { Reported, reportError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { loadProblem } from "./load-problem.ts";
import { installSourceHooks } from "./source-hooks.ts";

/** Imports a workflow file into this process and finds the workflow that it exports by that name. */
export async function loadWorkflow(file: string, name: string, io: CliIo): Promise<AnyWorkflow> {
  const path = resolve(io.cwd, file);
  if (!existsSync(path)) throw new Error(`${file} does not exist (looked for ${path})`);
  installSourceHooks();
  // What the file takes out of the globals as it loads has to be replay-safe already.
  installReplaySafeGlobals();
  const exported = await importFile(path, io);
  const workflows = Object.values(exported).filter(isWorkflow);

  const qualified = name.includes("/") ? name : undefined;
  const found = workflows.filter((w) =>
    qualified ? w.qualifiedName === qualified : w.name === name,
  );
  const [workflow] = found;
  if (!workflow) throw new Error(noSuchWorkflow(file, name, workflows));
  const inDefault = found.find((w) => w.namespace === DEFAULT_NAMESPACE);
  if (new Set(found.map((w) => w.qualifiedName)).size > 1 && !inDefault) {
    const names = found.map((w) => w.qualifiedName).join(", ");
    throw new Error(`${file} has several workflows named ${name}; name one of: ${names}`);
  }
  return inDefault ?? workflow;
}

async function importFile(path: string, io: CliIo): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    reportError(io, `${relative(io.cwd, path) || path} does not load`);
    io.err.write(loadProblem(error, path, io));
    throw new Reported();
  }
}

function noSuchWorkflow(file: string, name: string, workflows: readonly AnyWorkflow[]): string {
  if (workflows.length === 0) {
    return `${file} exports no workflow; write \`export const ${name} = workflow({ name: "${name}" }, …)\``;
  }
  const names = workflows.map((w) =>
    w.namespace === DEFAULT_NAMESPACE ? w.name : w.qualifiedName,
  );
  const near = nearest(name, names);
  const hint = near ? `; did you mean "${near}"?` : "";
  return `${file} exports no workflow named "${name}"${hint} (it exports: ${names.join(", ")})`;
}
