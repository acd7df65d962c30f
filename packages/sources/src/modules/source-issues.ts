import type { SourceIssue } from "@engine/contract";
import type { Place } from "./source-module.ts";

/** The name a source without a file has in records and issues (short form of EXE-59). */
export const SOURCE_FILE = "workflow.ts";

const MAX_EXPRESSION = 200;

/** A finding before it is known to which workflow it belongs. */
export interface Finding {
  rule: SourceIssue["rule"];
  message: string;
  place: Place;
  /** Below the workflow or task, such as `retry.delay`; empty for all of it. */
  path: string;
}

export interface Subject {
  workflow: string | null;
  /** The place in the record, such as `workflows[0].tasks[1]`. */
  path: string;
}

export function sourceIssue(finding: Finding, subject: Subject): SourceIssue {
  const { module, node } = finding.place;
  const text = module.source.slice(node.start, node.end);
  return {
    workflow: subject.workflow,
    path: [subject.path, finding.path].filter((part) => part !== "").join("."),
    rule: finding.rule,
    message: finding.message,
    file: module.path,
    ...module.position(node.start),
    expression: shorten(text),
  };
}

/** An issue of a file: of its beginning, unless `more` says where it is. */
export function fileIssue({
  rule,
  message,
  file,
  ...more
}: Pick<SourceIssue, "rule" | "message" | "file"> & Partial<SourceIssue>): SourceIssue {
  const whole = { line: 1, column: 1, expression: "" };
  return { workflow: null, path: "files", rule, message, file, ...whole, ...more };
}

/** Cuts a text to the length an issue may show, never through a surrogate pair. */
export function shorten(text: string): string {
  if (text.length <= MAX_EXPRESSION) return text;
  return `${text.slice(0, MAX_EXPRESSION - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** By file as sent, then by place; what was found twice is said once. */
export function inOrder(issues: readonly SourceIssue[], files: readonly string[]): SourceIssue[] {
  const seen = new Set<string>();
  const places = new Map(files.map((file, index) => [file, index]));
  const placeOf = ({ file }: SourceIssue) => places.get(file) ?? -1;
  return issues
    .toSorted((a, b) => placeOf(a) - placeOf(b) || a.line - b.line || a.column - b.column)
    .filter(({ file, line, column, rule, message }) => {
      const key = JSON.stringify([file, line, column, rule, message]);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}
