import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { CliIo } from "../io/cli-io.ts";
import { painter } from "../render/paint.ts";
import { problemText, type SourceProblem } from "../render/source-problem.ts";
import type { RegisterOutcome } from "./register-file.ts";

/** Prints what is wrong with a file on stderr, each with the line it is in. */
export function reportProblems(io: CliIo, { problems }: Pick<RegisterOutcome, "problems">): void {
  const paint = painter(io.err, io.env);
  for (const problem of problems) {
    const shown = { ...problem, file: relative(io.cwd, problem.file) };
    io.err.write(problemText(shown, sourceLine(problem), paint));
  }
}

function sourceLine({ file, line }: SourceProblem): string | undefined {
  try {
    return readFileSync(file, "utf8").split(/\r?\n/)[line - 1];
  } catch {
    return undefined;
  }
}
