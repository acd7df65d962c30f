import type { Json } from "../values/value.ts";
import type { ScheduleSource, ScheduleStatus } from "./schedule.ts";
import type { CatchUp, Overlap, ScheduleSpec } from "./schedule-spec.ts";

/** A start whose instant the plan has passed, but which could not be made yet. */
export interface HeldStart {
  /** The instant that was due. */
  readonly instant: number;
  /** When a start that failed is tried again; null: once the executions before it have ended. */
  readonly retry_at: number | null;
}

/** A schedule as every store keeps it. Instants are milliseconds since 1970. */
export interface ScheduleRow {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly workflow: string;
  /** Null: the latest at each fire. */
  readonly version: number | null;
  readonly description: string | null;
  readonly spec: ScheduleSpec;
  readonly overlap: Overlap;
  readonly catch_up: CatchUp;
  readonly input: Json;
  readonly routing_input: Readonly<Record<string, Json>>;
  readonly run_as: string | null;
  readonly status: ScheduleStatus;
  readonly source: ScheduleSource;
  /** The next instant of its plan, also when it has passed without a server; null unless active. */
  readonly next_run_at: number | null;
  readonly held: HeldStart | null;
  /** Catching up with `all`: the last missed instant that is still made up for. */
  readonly catch_up_to: number | null;
  readonly last_run_at: number | null;
  readonly last_execution_id: string | null;
  readonly run_count: number;
  readonly failure_count: number;
  readonly consecutive_failures: number;
  readonly skip_count: number;
  readonly last_skipped_at: number | null;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** Grows by one with every change. */
  readonly revision: number;
}

/** What a change of a schedule may write; the store counts its revisions. */
export type SchedulePatch = Partial<
  Omit<ScheduleRow, "id" | "name" | "namespace" | "workflow" | "source" | "created_at" | "revision">
>;

/** The earliest instant at which the engine has to look at it; null = never. */
export function scheduleDueAt({
  status,
  next_run_at,
  held,
}: Pick<ScheduleRow, "status" | "next_run_at" | "held">): number | null {
  if (status !== "active") return null;
  // A plan that catches up stands still while the start of its instant is tried again.
  if (held && held.retry_at !== null && held.instant === next_run_at) return held.retry_at;
  const instants = [next_run_at, held && (held.retry_at ?? held.instant)];
  const due = instants.filter((instant) => instant !== null);
  return due.length === 0 ? null : Math.min(...due);
}
