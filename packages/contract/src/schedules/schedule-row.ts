import type { RoutingInput } from "../routing/routing-input.ts";
import type { Schedule } from "./schedule.ts";

/** A start whose instant the plan has passed, but which could not be made yet. */
export interface HeldStart {
  /** The instant that was due. */
  readonly instant: number;
  /** When a start that failed is tried again; null: once the executions before it have ended. */
  readonly retry_at: number | null;
}

/** Instants of a schedule, which its row has as numbers. */
type Instants = "next_run_at" | "last_run_at" | "last_skipped_at" | "created_at" | "updated_at";

/** Routing values under a key of their own, which is wrapped with one of the ring (SEC-2). */
export interface SealedRouting {
  readonly key_id: string;
  readonly wrapped: string;
  readonly body: string;
}

/** A schedule as every store keeps it. Instants are milliseconds since 1970. */
export interface ScheduleRow
  extends Readonly<Omit<Schedule, Instants | "upcoming" | "routing_input_set">> {
  /** Empty where it is sealed: it stands here only while there is no key to seal it with (RIN-3). */
  readonly routing_input: RoutingInput;
  readonly routing_sealed: SealedRouting | null;
  /** The next instant of its plan, also when it has passed without a server; null unless active. */
  readonly next_run_at: number | null;
  readonly held: HeldStart | null;
  /** Catching up with `all`: the last missed instant that is still made up for. */
  readonly catch_up_to: number | null;
  readonly last_run_at: number | null;
  readonly last_skipped_at: number | null;
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
