import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";

/** Writes the file that `--out` names. */
export function writeOutFile(io: CliIo, out: string, text: string): void {
  try {
    writeFileSync(resolve(io.cwd, out), text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--out ${out}: the file cannot be written (${code ?? String(error)})`);
  }
}
