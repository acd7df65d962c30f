import { relative } from "node:path";
import type { CliIo } from "../io/cli-io.ts";
import { painter } from "../render/paint.ts";
import { problemText } from "../render/source-problem.ts";
import type { RegisterOutcome } from "./register-file.ts";
import { sourceLine } from "./source-text.ts";

/** Prints what is wrong with a file on stderr, each with the line it is in. */
export function reportProblems(io: CliIo, { problems }: Pick<RegisterOutcome, "problems">): void {
  const paint = painter(io.err, io.env);
  for (const problem of problems) {
    const shown = { ...problem, file: relative(io.cwd, problem.file) };
    io.err.write(problemText(shown, sourceLine(problem.file, problem.line), paint));
  }
}
