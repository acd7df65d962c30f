import { fileURLToPath } from "node:url";
import { type BenchProcess, type ProcessOptions, startProcess } from "./bench-process.ts";

/** The command as users run it; from sources, like every other part of a checkout. */
const ENGINE = fileURLToPath(new URL("../../packages/cli/bin/engine.js", import.meta.url));

/** One `engine …` command. */
export function engineProcess(args: readonly string[], options: ProcessOptions): BenchProcess {
  return startProcess(`engine ${args.join(" ")}`, [ENGINE, ...args], options);
}
