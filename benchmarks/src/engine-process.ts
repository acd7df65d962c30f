import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchProcess, type ProcessOptions, startProcess } from "./bench-process.ts";

/** The checkout this benchmark is part of. */
export const CHECKOUT: string = fileURLToPath(new URL("../..", import.meta.url));

interface EngineOptions extends ProcessOptions {
  /** Whose command it is; this one's unless given. */
  readonly checkout?: string;
}

/** One `engine …` command as users run it; from sources, like every other part of a checkout. */
export function engineProcess(
  args: readonly string[],
  { checkout = CHECKOUT, ...options }: EngineOptions,
): BenchProcess {
  const command = join(checkout, "packages/cli/bin/engine.js");
  return startProcess(`engine ${args.join(" ")}`, [command, ...args], options);
}
