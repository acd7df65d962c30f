import type { SourceIssue } from "@engine/contract";
import type { ParseResult } from "oxc-parser";
import { lineColumns } from "./line-column.ts";
import { tooDeepAt } from "./nesting.ts";
import { shorten } from "./source-issues.ts";
import { parseModule } from "./source-module.ts";

/** Parses one file, or says where it cannot be read. */
export function readSource(
  path: string,
  source: string,
): { parsed: ParseResult; issues: [] } | { parsed: undefined; issues: SourceIssue[] } {
  const deep = tooDeepAt(source);
  if (deep !== undefined) {
    return { parsed: undefined, issues: [syntaxError(path, source, deep, TOO_DEEP)] };
  }
  const parsed = parseModule(path, source);
  const errors = parsed.errors.filter(({ severity }) => severity === "Error");
  if (errors.length === 0) return { parsed, issues: [] };
  const issues = errors.map(({ message, labels, helpMessage }) => {
    const text = helpMessage === null ? message : `${message} (${helpMessage})`;
    // Of two places (declared here, declared again there) the later is the mistake.
    return syntaxError(path, source, labels.at(-1)?.start ?? 0, text);
  });
  return { parsed: undefined, issues };
}

const TOO_DEEP = "the code is nested too deeply to be read: split the expression or statement";

export function syntaxError(
  file: string,
  source: string,
  offset: number,
  message: string,
): SourceIssue {
  const at = Math.min(offset, source.length);
  const line = /^[^\n\r]*/.exec(source.slice(at, at + 1_000))?.[0] ?? "";
  return {
    workflow: null,
    path: "files",
    rule: "syntax_error",
    message,
    file,
    ...lineColumns(source)(at),
    expression: shorten(line.trim()),
  };
}
