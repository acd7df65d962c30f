import { EngineError, type OptionIssue } from "@engine/contract";

/** Refuses a definition with every wrong option at once (EXE-4). */
export function refuseInvalid(what: string, issues: readonly OptionIssue[]): void {
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw new EngineError("invalid_definition", `${what}: ${first.message}${more}`, {
    details: { issues },
  });
}
