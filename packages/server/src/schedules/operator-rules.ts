/** What a schedule's row becomes by what people ask for (EXE-72, EXE-75). Pure; `now` is given. */
import { isDeepStrictEqual } from "node:util";
import {
  EngineError,
  type NewSchedule,
  type ScheduleChanges,
  type SchedulePatch,
  type ScheduleRow,
  type ScheduleSpec,
} from "@engine/contract";
import { nextFire, normalized, specProblems } from "@engine/sources";

/**
 * The spec with its instants written as reads show them.
 *
 * @throws EngineError `invalid_schedule` for a spec that can never fire (EXE-74).
 */
export function checkedSpec(spec: ScheduleSpec, now: number): ScheduleSpec {
  const issues = specProblems(spec, now).map(({ field, message }) => ({
    path: `body.spec.${field}`,
    message,
  }));
  const [first] = issues;
  if (!first) return normalized(spec);
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const message = `${first.path}: ${first.message}${more}`;
  throw new EngineError("invalid_schedule", message, { details: { issues } });
}

/** @param fields Their `spec` has been checked. */
export function newSchedule(
  fields: NewSchedule & Pick<ScheduleRow, "source">,
  { id, now }: { readonly id: string; readonly now: number },
): ScheduleRow {
  const next_run_at = nextFire({ spec: fields.spec, created_at: now }, now);
  return {
    ...fields,
    id,
    routing_sealed: null,
    status: next_run_at === null ? "completed" : "active",
    next_run_at,
    held: null,
    catch_up_to: null,
    last_run_at: null,
    last_execution_id: null,
    run_count: 0,
    failure_count: 0,
    consecutive_failures: 0,
    skip_count: 0,
    last_skipped_at: null,
    last_error: null,
    created_at: now,
    updated_at: now,
    revision: 1,
  };
}

/** Undefined when every value is as it was (AUTH-46). */
export function changedSchedule(
  row: ScheduleRow,
  changes: ScheduleChanges,
  now: number,
): SchedulePatch | undefined {
  const given = Object.entries(changes).filter(
    ([field, value]) =>
      value !== undefined && !isDeepStrictEqual(value, row[field as keyof ScheduleRow]),
  );
  if (given.length === 0) return undefined;
  const patch: SchedulePatch = { ...Object.fromEntries(given), updated_at: now };
  // With another spec a completed schedule begins again; a paused or disabled one waits for a resume.
  const isAtRest = row.status === "paused" || row.status === "disabled";
  if (!patch.spec || isAtRest) return patch;
  return { ...patch, ...planned({ ...row, spec: patch.spec }, now) };
}

/**
 * Whether a change makes executions start as an account that nobody has asked for before: another
 * account, version, input or time (AUTH-46). What is sent as it was changes nothing.
 */
export function startsAnew(row: ScheduleRow, changes: ScheduleChanges): boolean {
  const { run_as, version, input, routing_input } = changes;
  const spec = changes.spec && normalized(changes.spec);
  const given = Object.entries({ run_as, version, input, routing_input, spec });
  return given.some(
    ([field, value]) =>
      value !== undefined && !isDeepStrictEqual(value, row[field as keyof ScheduleRow]),
  );
}

export function pausedSchedule(row: ScheduleRow, now: number): SchedulePatch | undefined {
  if (row.status === "paused") return undefined;
  if (row.status !== "active") {
    throw new EngineError(
      "conflict",
      `schedule ${row.name} is ${row.status}: only an active one can be paused`,
      { details: { status: row.status } },
    );
  }
  const isHeld = row.held?.retry_at === null;
  return {
    status: "paused",
    next_run_at: null,
    held: null,
    catch_up_to: null,
    updated_at: now,
    ...(isHeld && { skip_count: row.skip_count + 1, last_skipped_at: now }),
  };
}

/** Goes on from now: starts that would have been due meanwhile are not caught up. */
export function resumedSchedule(row: ScheduleRow, now: number): SchedulePatch | undefined {
  if (row.status === "active") return undefined;
  const patch = planned(row, now);
  if (row.status === "completed" && patch.status === "completed") {
    throw new EngineError(
      "conflict",
      `schedule ${row.name} has no instant left: change its spec, or trigger it`,
      { details: { status: row.status } },
    );
  }
  return { ...patch, consecutive_failures: 0, last_error: null, updated_at: now };
}

function planned(row: ScheduleRow, now: number): SchedulePatch {
  const next_run_at = nextFire(row, now);
  return {
    status: next_run_at === null ? "completed" : "active",
    next_run_at,
    held: null,
    catch_up_to: null,
  };
}
