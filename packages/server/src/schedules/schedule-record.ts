/** Rows of schedules as reads return them (EXE-72, EXE-77). */
import {
  type ExecutionRow,
  formatInstant,
  type Schedule,
  type ScheduleRow,
  type ScheduleRun,
} from "@engine/contract";
import { nextFires } from "@engine/sources";
import { NOBODY } from "../executions/principal-refs.ts";
import { instant, toSummary } from "../executions/record.ts";

const UPCOMING = 5;

export function toSchedule(row: ScheduleRow): Schedule {
  const { routing_input, routing_sealed, held, catch_up_to, revision, ...shown } = row;
  return {
    ...shown,
    routing_input_set: routing_sealed !== null || Object.keys(routing_input).length > 0,
    next_run_at: instant(row.next_run_at),
    upcoming: upcoming(row).map(formatInstant),
    last_run_at: instant(row.last_run_at),
    last_skipped_at: instant(row.last_skipped_at),
    created_at: formatInstant(row.created_at),
    updated_at: formatInstant(row.updated_at),
  };
}

export function toScheduleRun(row: ExecutionRow): ScheduleRun {
  const { execution_id, state, started_at, finished_at, error } = toSummary(row, NOBODY);
  const scheduled_for = instant(row.scheduled_for);
  return { execution_id, state, scheduled_for, started_at, finished_at, error };
}

function upcoming(row: ScheduleRow): readonly number[] {
  if (row.next_run_at === null) return [];
  const others = nextFires(row, { after: row.next_run_at, limit: UPCOMING - 1 });
  return [row.next_run_at, ...others];
}
