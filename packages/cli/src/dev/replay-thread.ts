/** The program of the thread on which `engine dev` replays live executions on new code. */
import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { createClient } from "@engine/client";
import type { AnyWorkflow } from "@engine/sdk";
import { installReplaySafeGlobals, installSourceStacks, isWorkflow } from "@engine/sdk/node";
import { resolveBundleImports } from "@engine/worker/bundle-imports";
import { replayRecorded } from "../replay/replayed.ts";
import type { CheckMessage, CheckTask } from "./replay-check.ts";

const { baseUrl, token, file, workflow, executions } = workerData as CheckTask;

function post(message: CheckMessage): void {
  parentPort?.postMessage(message);
}

async function load(): Promise<AnyWorkflow> {
  // Modules are known by where they really lie.
  const { href } = pathToFileURL(realpathSync(file));
  resolveBundleImports(new URL("./", href).href);
  installSourceStacks();
  // What the code takes out of the globals as it loads has to be replay-safe already.
  installReplaySafeGlobals();
  const module: Record<string, unknown> = await import(href).catch((error) => {
    throw new Error(`its code does not load: ${textOf(error)}`);
  });
  const found = Object.values(module)
    .filter((value) => isWorkflow(value))
    .find(({ qualifiedName }) => qualifiedName === workflow);
  if (!found) throw new Error(`its code exports no workflow ${workflow}`);
  return found;
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

async function check(): Promise<void> {
  const code = await load();
  const client = createClient({ baseUrl, ...(token && { token, warn: () => undefined }) });
  for (const execution of executions) {
    post({ kind: "replayed", replayed: await replayRecorded(client, code, execution) });
  }
}

// A promise that a body leaves alone is its own matter, also when it ran.
process.on("unhandledRejection", () => {});
try {
  await check();
} catch (error) {
  post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
}
post({ kind: "done" });
