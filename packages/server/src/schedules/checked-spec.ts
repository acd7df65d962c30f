import { EngineError, type InputIssue, type ScheduleSpec } from "@engine/contract";
import { normalized, specProblems } from "@engine/sources";

/**
 * The spec with its instants written as reads show them.
 *
 * @param path Of the spec in the request, such as `body.spec`.
 * @throws EngineError `invalid_schedule` for one that can never fire (EXE-74).
 */
export function checkedSpec(
  spec: ScheduleSpec,
  { now, path }: { readonly now: number; readonly path: string },
): ScheduleSpec {
  const issues = specProblems(spec, now).map(({ field, message }) => ({
    path: `${path}.${field}`,
    message,
  }));
  if (issues.length > 0) throw invalidSchedule(issues);
  return normalized(spec);
}

function invalidSchedule(issues: readonly InputIssue[]): EngineError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return new EngineError("invalid_schedule", `${first?.path}: ${first?.message}${more}`, {
    details: { issues },
  });
}
