import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";

/** Reads a file that was named on the command line, which a refusal calls `typed`. */
export function readTextFile(io: CliIo, path: string, typed: string): string {
  try {
    return readFileSync(resolve(io.cwd, path), "utf8");
  } catch (error) {
    throw new UsageError(`${typed}: the file cannot be read (${reasonOf(error)})`);
  }
}

/** Writes the file that `--out` names. */
export function writeOutFile(io: CliIo, out: string, text: string): void {
  try {
    writeFileSync(resolve(io.cwd, out), text);
  } catch (error) {
    throw new UsageError(`--out ${out}: the file cannot be written (${reasonOf(error)})`);
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
