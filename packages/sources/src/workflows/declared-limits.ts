import type { SourceIssue } from "@engine/contract";
import { limitsOf } from "@engine/contract";
import { type Subject, sourceIssue } from "../modules/source-issues.ts";
import type { Place } from "../modules/source-module.ts";

/** A limit of operators that a workflow names, and what is said of it where nobody has set one. */
export interface DeclaredLimit {
  readonly name: string;
  readonly warning: SourceIssue;
}

/** @param at Where the option is written, or what it belongs to. */
export function declaredLimits(limits: unknown, at: Place, subject: Subject): DeclaredLimit[] {
  const names = limitsOf(limits).flatMap((one) => (one.kind === "limit" ? [one.name] : []));
  return [...new Set(names)].map((name) => {
    const message = `there is no limit ${name} yet: executions wait until one is set, by npx engine limit set ${name}`;
    const finding = { rule: "limit_undefined", message, place: at, path: "limits" } as const;
    return { name, warning: sourceIssue(finding, subject) };
  });
}
