import type { ExecutionPatch, ExecutionRow } from "../executions/execution-row.ts";
import type { SignalStep } from "../executions/kept-signals.ts";
import type { NewExecution } from "../executions/new-execution.ts";
import type { NewEvent } from "../log/event.ts";

/** What a decision wants written, all in one transaction. */
export interface Change {
  /** Events to write; the first becomes `head + 1`. */
  readonly events: readonly NewEvent[];
  readonly patch: ExecutionPatch;
  /** What becomes of its kept signals; `patch.signals` says how many are left. */
  readonly signals?: readonly SignalStep[];
  /** What follows for other executions, in order, after the change itself. */
  readonly effects?: readonly Effect[];
}

/** What a change of one execution does to others in the same transaction; effects may have effects. */
export type Effect =
  | { readonly kind: "create"; readonly fresh: NewExecution }
  /** `decide` gets undefined when there is no such execution; only its effects count then. */
  | {
      readonly kind: "change";
      readonly execution_id: string;
      readonly decide: (row: ExecutionRow | undefined) => Change | undefined;
    }
  /** Every execution with that parent, oldest first. */
  | {
      readonly kind: "children";
      readonly parent_id: string;
      readonly decide: (row: ExecutionRow) => Change | undefined;
    };

/** A decision that writes something. */
export interface Append extends Change {
  readonly kind: "append";
}
