import type { Paint } from "./paint.ts";
import { lines } from "./table.ts";

/** A place in a source file and what is wrong there. */
export interface SourceProblem {
  readonly file: string;
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Registration's name for what is wrong; none for a file that is only imported. */
  readonly rule?: string;
  readonly message: string;
}

/** `file:line:column rule message` (EXE-95), then the line itself with a caret below the column. */
export function problemText(
  { file, line, column, rule, message }: SourceProblem,
  sourceLine: string | undefined,
  paint: Paint,
): string {
  const head = [
    `${file}:${line}:${column}`,
    ...(rule ? [paint("strong", rule)] : []),
    message,
  ].join(" ");
  if (sourceLine === undefined) return lines([head]);
  const gutter = `${String(line).padStart(5)} | `;
  // Tabs stay tabs, so that the caret stands where the terminal puts the column.
  const before = sourceLine.slice(0, column - 1).replace(/[^\t]/g, " ");
  return lines([
    head,
    paint("muted", gutter) + sourceLine,
    paint("muted", `${" ".repeat(gutter.length - 2)}| `) + before + paint("failed", "^"),
  ]);
}
