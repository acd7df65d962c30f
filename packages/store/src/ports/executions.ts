import type {
  Change,
  Claimant,
  Event,
  ExecutionRow,
  FindKept,
  LimitDenial,
  NewExecution,
  ResolvedLimit,
  State,
} from "@engine/contract";
import type { Visible } from "../visible.ts";
import type { Kinds, Page } from "./port.ts";

/**
 * Looks at an execution inside the transaction and says what to write; undefined writes nothing.
 * Must be pure and quick, and so must the decisions of its effects: they may run again when a
 * commit is retried, and what an earlier run made of it counts for nothing. {@link Changed} says what
 * was written. If one of them throws, this change is refused with all its effects, and the
 * others of the same commit are left alone.
 *
 * @param recorded The log above `options.above`, empty unless that was given.
 * @param findKept Signals of the execution that nobody has taken, as they are in the transaction.
 */
export type Decide = (
  row: ExecutionRow,
  recorded: readonly Event[],
  findKept: FindKept,
) => Change | undefined;

/** What is durable now. */
export interface Changed {
  /** The row after the change. A large `input` may be read only when it is first looked at. */
  readonly row: ExecutionRow;
  /** The events that were written for it, numbered. Empty when the decision wrote nothing. */
  readonly events: readonly Event[];
  /** True when nothing was written: the decision wanted nothing, or the guard did not hold. */
  readonly unchanged?: true;
  /** The store's clock at the commit, milliseconds since 1970. */
  readonly recorded_at: number;
  /**
   * The other executions that the effects changed or created, in the order in which they did it
   * first. Their own `others` are empty.
   */
  readonly others: readonly Changed[];
  /** True when nothing was created because another execution has the unique key: `row` is that one. */
  readonly existing?: true;
  /**
   * True when nothing was created because the delivery that it was to settle is not as it was judged
   * (HOOK-26): `row` is the one that would have been, and is not stored.
   */
  readonly undelivered?: true;
  /** Why a claim was left out: another execution would have had to end first, or time to pass (FLW-8). */
  readonly limited?: LimitDenial;
}

/**
 * What must hold of a session in the transaction of a change, else nothing is written (DSP-3). The
 * server that holds the session's stream knows its epoch; one that takes the stream over begins a new one.
 */
export interface SessionGuard {
  readonly session: string;
  readonly epoch: number;
  /** Also that the worker is to get work: its desired state is `active`. */
  readonly active?: boolean;
  /**
   * Revision of its worker's metadata and grants that a claim was judged by; absent where none of them
   * was read (WMD-2).
   */
  readonly attributes?: number;
}

export interface ChangeOptions {
  /** The decision also sees the log above this `seq`. */
  readonly above?: number | undefined;
  readonly guard?: SessionGuard | undefined;
  /**
   * Of the execution that is to be claimed, where they are known: what they count is locked before the
   * row. They are looked at in the row in any case.
   */
  readonly limits?: readonly ResolvedLimit[] | undefined;
}

/** Who gets an execution with the commit that creates it, if the session is still as thought. */
export interface GuardedClaimant extends Claimant {
  /** Of its session; without it nothing is looked at, which is how a local run claims. */
  readonly epoch?: number;
  /** As {@link SessionGuard} has it. */
  readonly attributes?: number;
}

export interface ExecutionFilter {
  readonly namespace?: string | undefined;
  readonly workflow?: string | undefined;
  /** Only of workflows that may be seen. */
  readonly visible?: Visible | undefined;
  /** Any of these; an empty list is no filter. */
  readonly states?: readonly State[] | undefined;
  readonly version?: number | undefined;
  /** Beginning of the operator's label, any case. */
  readonly label?: string | undefined;
  readonly parent_id?: string | undefined;
  /** Started by the schedule of this name. */
  readonly schedule?: string | undefined;
  readonly created_after?: number | undefined;
  readonly created_before?: number | undefined;
  readonly finished_after?: number | undefined;
  readonly finished_before?: number | undefined;
  /** Keyset paging: those behind this id in the order asked for; `total` counts all the same. */
  readonly behind?: string | undefined;
  /** True: only executions without a parent. */
  readonly root?: boolean | undefined;
  readonly order: "created_desc" | "created_asc";
  readonly limit: number;
  readonly offset: number;
}

/** Executions: how they begin, what happens to them, and which there are. */
export interface ExecutionPort {
  /**
   * Writes WORKFLOW_CREATED, what a fork copies behind it and, with a claimant, WORKFLOW_CLAIMED in
   * the same commit, with all effects; a claimant whose session is not as thought is passed over.
   * With a unique key that an execution has already, it writes nothing and answers that one. A claim
   * that a limit has no place for is left out, `limited` says why; where the limit refuses what would
   * wait, nothing is created. Rejects `conflict` when an id is taken, `concurrency_limited` for the latter.
   *
   * One with a delivery settles that in the same commit. Where the delivery is not as it was judged, it
   * writes nothing, `undelivered` says so; where its id is taken, the delivery is settled on that
   * execution, which is the answer (HOOK-30).
   */
  create(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed>;
  /**
   * Writes what `decide` says, and in the same commit its effects and theirs, breadth first. Rejects
   * `not_found` when there is no such execution, or with what a decision threw. While the guard does
   * not hold, nothing is decided and nothing written. A claim that a limit has no place for writes
   * nothing either: `limited` says why.
   */
  change(execution_id: string, decide: Decide, options?: ChangeOptions): Promise<Changed>;
  find(execution_id: string): Promise<ExecutionRow | undefined>;
  /** The execution that has a unique key. */
  findByKey(unique_key: string): Promise<ExecutionRow | undefined>;
  /** Rows come without `input` and `output` (both null): lists must not load large values. */
  list(filter: ExecutionFilter): Promise<Page<ExecutionRow>>;
  /**
   * Runs of a schedule that have not ended, the newest first, without `input` and `output`. Costs what
   * it answers, however many have ended.
   */
  listOpenRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]>;
}

export const EXECUTIONS: Kinds<ExecutionPort> = {
  create: "commit",
  change: "commit",
  find: "read",
  findByKey: "read",
  list: "read",
  listOpenRuns: "read",
};
