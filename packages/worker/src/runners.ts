import { mkdir, realpath } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type Config, EngineError } from "@engine/contract";
import { InlineRunner } from "./inline-runner.ts";
import type { Runner, RunnerEvents } from "./runner.ts";
import { ThreadRunner } from "./thread-runner.ts";

const MOST_THREADS = 4;

/** Where bundles lie. Made and resolved now: Node names a loaded module by its real path. */
export async function modulesFolder(home: string): Promise<string> {
  const folder = join(home, "modules");
  await mkdir(folder, { recursive: true });
  return realpath(folder);
}

export interface RunnerKind {
  readonly size: number;
  create(events: RunnerEvents): Runner;
}

/** The runners that a configuration asks for (RUN-1). */
export function runnersOf(
  { runners, default_runner, threads }: Config["workers"],
  folder: string,
): RunnerKind {
  if (!runners.includes(default_runner)) {
    throw invalid(`default_runner must be one of runners (${runners.join(", ")})`, default_runner);
  }
  if (runners.includes("process")) {
    throw invalid("runners can be thread and inline in this version", "process");
  }
  const address = pathToFileURL(folder + sep).href;
  if (default_runner === "inline") {
    return { size: 1, create: (events) => new InlineRunner(address, events) };
  }
  return {
    size: threads || Math.min(MOST_THREADS, availableParallelism()),
    create: (events) => new ThreadRunner(address, events),
  };
}

function invalid(rule: string, got: string): EngineError {
  return new EngineError("invalid_input", `engine.workers: ${rule}; got "${got}"`);
}
