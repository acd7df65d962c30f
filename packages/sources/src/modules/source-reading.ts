import type { SourceIssue } from "@engine/contract";
import type { ParseResult } from "oxc-parser";
import { type LineColumn, lineColumns } from "./line-column.ts";
import { tooDeepAt } from "./nesting.ts";
import { fileIssue, shorten } from "./source-issues.ts";
import { parseModule } from "./source-module.ts";

export type SourceRead =
  | { readonly parsed: ParseResult; readonly issues: [] }
  | { readonly parsed: undefined; readonly issues: SourceIssue[] };

export type ReadSource = (path: string, source: string) => SourceRead;

/** Parses one file, or says where it cannot be read. */
export const readSource: ReadSource = (path, source) => {
  const deep = tooDeepAt(source);
  if (deep !== undefined) {
    return { parsed: undefined, issues: [syntaxError(path, source, deep, TOO_DEEP)] };
  }
  const parsed = parseModule(path, source);
  const errors = parsed.errors.filter(({ severity }) => severity === "Error");
  if (errors.length === 0) return { parsed, issues: [] };
  const position = lineColumns(source);
  const issues = errors.map(({ message, labels, helpMessage }) => {
    const text = helpMessage === null ? message : `${message} (${helpMessage})`;
    // Of two places (declared here, declared again there) the later is the mistake.
    return syntaxError(path, source, labels.at(-1)?.start ?? 0, text, position);
  });
  return { parsed: undefined, issues };
};

const TOO_DEEP = "the code is nested too deeply to be read: split the expression or statement";

export function syntaxError(
  file: string,
  source: string,
  offset: number,
  message: string,
  position: (offset: number) => LineColumn = lineColumns(source),
): SourceIssue {
  const at = Math.min(offset, source.length);
  const line = /^[^\n\r]*/.exec(source.slice(at, at + 1_000))?.[0] ?? "";
  const expression = shorten(line.trim());
  return fileIssue({ rule: "syntax_error", message, file, ...position(at), expression });
}
