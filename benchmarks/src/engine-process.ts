import { fileURLToPath } from "node:url";
import { BenchProcess, type ProcessOptions } from "./bench-process.ts";

/** The command as users run it; from sources, like every other part of a checkout. */
const ENGINE = fileURLToPath(new URL("../../packages/cli/bin/engine.js", import.meta.url));

/** One `engine …` command. */
export function engineProcess(args: readonly string[], options: ProcessOptions): BenchProcess {
  return new BenchProcess(`engine ${args.join(" ")}`, [ENGINE, ...args], options);
}
