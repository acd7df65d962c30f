/** What a schedule's row becomes by what people ask for (EXE-72, EXE-75). Pure; `now` is given. */
import {
  EngineError,
  type NewSchedule,
  type ScheduleChanges,
  type SchedulePatch,
  type ScheduleRow,
} from "@engine/contract";
import { nextFire } from "@engine/sources";

/** @param fields Their `spec` has been checked. */
export function createdSchedule(
  fields: NewSchedule,
  { id, now }: { readonly id: string; readonly now: number },
): ScheduleRow {
  return newRow({ ...fields, source: "api" }, { id, now });
}

export function newRow(
  fields: NewSchedule & Pick<ScheduleRow, "source">,
  { id, now }: { readonly id: string; readonly now: number },
): ScheduleRow {
  const next_run_at = nextFire({ spec: fields.spec, created_at: now }, now);
  return {
    ...fields,
    id,
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
    ([field, value]) => value !== undefined && !isEqual(value, row[field as keyof ScheduleRow]),
  );
  if (given.length === 0) return undefined;
  const patch: SchedulePatch = { ...Object.fromEntries(given), updated_at: now };
  return patch.spec ? { ...patch, ...replanned({ ...row, spec: patch.spec }, now) } : patch;
}

/** One that has ended begins again; paused and disabled ones wait for a resume. */
function replanned(row: ScheduleRow, now: number): SchedulePatch {
  if (row.status === "paused" || row.status === "disabled") return {};
  return planned(row, now);
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

/** Goes on from now: what would have been started meanwhile is not caught up. */
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

/** Of JSON values, whatever the order of their keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, sortKeys) === JSON.stringify(b, sortKeys);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
