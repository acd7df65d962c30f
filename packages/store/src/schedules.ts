import {
  EngineError,
  type SchedulePatch,
  type ScheduleRow,
  type ScheduleSource,
  type ScheduleStatus,
  scheduleDueAt,
  type WorkflowRecord,
} from "@engine/contract";
import type { Visible } from "./visible.ts";

export interface ScheduleFilter {
  readonly namespace?: string | undefined;
  readonly workflow?: string | undefined;
  /** Only of workflows that may be seen. */
  readonly visible?: Visible | undefined;
  /** Any of these; an empty list is none of them. */
  readonly names?: readonly string[] | undefined;
  readonly status?: ScheduleStatus | undefined;
  readonly source?: ScheduleSource | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A place in the order in which schedules are due. */
export interface DueSchedule {
  readonly name: string;
  readonly due_at: number;
}

export interface DueSchedulePage {
  /** The latest instant to be listed. */
  readonly until: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: DueSchedule | undefined;
}

/**
 * Looks at a schedule inside the transaction and says what to write; undefined writes nothing. Must
 * be pure: it may run again.
 */
export type DecideSchedule = (row: ScheduleRow) => SchedulePatch | undefined;

/** What becomes of a schedule, if there is one: another row, none (null), or nothing is written. */
export type PutSchedule = (row: ScheduleRow | undefined) => ScheduleRow | null | undefined;

/** The schedules a registration declares, saved with its versions (EXE-66). */
export interface DeclaredSchedules {
  readonly name: string;
  readonly put: PutSchedule;
}

/** What becomes of each schedule of a workflow when versions of it are deleted (EXE-70). */
export type PutAfterDeletion = (
  row: ScheduleRow,
  left: {
    /** The latest version that lives; undefined when none does. */
    readonly current: WorkflowRecord | undefined;
    readonly deleted: readonly number[];
  },
) => ReturnType<PutSchedule>;

/** The part of a store that keeps schedules (EXE-72). */
export interface ScheduleStore {
  /** Rejects `schedule_exists` when the name is taken. */
  createSchedule(row: ScheduleRow): Promise<ScheduleRow>;
  findSchedule(name: string): Promise<ScheduleRow | undefined>;
  /** By name. */
  listSchedules(
    filter: ScheduleFilter,
  ): Promise<{ readonly items: readonly ScheduleRow[]; readonly total: number }>;
  /**
   * Writes what `decide` says and counts a revision. Answers the row as it is then; undefined when
   * there is none. Rejects with what the decision threw.
   */
  changeSchedule(name: string, decide: DecideSchedule): Promise<ScheduleRow | undefined>;
  /** False when there is none. */
  deleteSchedule(name: string): Promise<boolean>;
  /** Those the engine has to look at, by `scheduleDueAt` and name. */
  listDueSchedules(page: DueSchedulePage): Promise<readonly ScheduleRow[]>;
  /** The first instant behind `after` at which one is due; null when none is. */
  nextScheduleAt(after: number): Promise<number | null>;
}

/** A row as the tables hold it: whole as JSON, besides what it is found by. */
export interface StoredSchedule {
  readonly name: string;
  readonly namespace: string;
  readonly workflow: string;
  readonly status: string;
  readonly source: string;
  readonly due_at: number | null;
  readonly record: string;
}

export const SCHEDULE_COLUMNS: readonly (keyof StoredSchedule)[] = [
  "name",
  "namespace",
  "workflow",
  "status",
  "source",
  "due_at",
  "record",
];

export function storedSchedule(row: ScheduleRow): StoredSchedule {
  const { name, namespace, workflow, status, source } = row;
  const record = JSON.stringify(row);
  return { name, namespace, workflow, status, source, due_at: scheduleDueAt(row), record };
}

export function readSchedule({ record }: Pick<StoredSchedule, "record">): ScheduleRow {
  return JSON.parse(record) as ScheduleRow;
}

export function patchedSchedule(row: ScheduleRow, patch: SchedulePatch): ScheduleRow {
  return { ...row, ...patch, revision: row.revision + 1 };
}

export function scheduleExists(name: string): EngineError {
  return new EngineError("schedule_exists", `there is a schedule ${name} already`);
}
