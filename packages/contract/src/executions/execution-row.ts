import type { ResourceRequests, TaskRequests } from "../definitions/resource-requests.ts";
import type { Runner } from "../definitions/runner.ts";
import type { Failure } from "../errors/failure.ts";
import type { HookLineage } from "../hooks/lineage.ts";
import type { HiddenPlacement, Placement, ResolvedLimit, TurnShare } from "../routing/needs.ts";
import { isClaimable } from "../rules/transition.ts";
import type { Encoded } from "../values/value.ts";
import type { State, Wait } from "./execution.ts";
import type { KeptSignals } from "./kept-signals.ts";

/** An open wait of an execution: kept on its row, so that ending it need not read the log. */
export interface OpenWait {
  readonly kind: Wait["kind"];
  readonly task_call_id: string;
  /** The name of a pause or signal, the workflow of a child, else the call's name. */
  readonly name: string;
  /** What the pause shows to the person or program that resumes it. */
  readonly output: Encoded;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When the engine ends it by itself, milliseconds since 1970. */
  readonly until?: number;
  /** The id of a child; for a pause, of the execution whose end ends the pause. */
  readonly execution_id?: string;
}

/** A pause of another execution that waits for the end of this one (EXE-51). */
export interface Watcher {
  readonly execution_id: string;
  readonly task_call_id: string;
}

/** Why an execution is being cancelled: `cause` of WORKFLOW_CANCELLING. */
export type CancelCause = "request" | "parent" | "sibling" | "timeout";

/** A cancel of an execution: kept when it has ended by it, so that its record can say why. */
export interface Cancelling {
  readonly cause: CancelCause;
  /** When it ends even if no worker has unwound it, milliseconds since 1970. */
  readonly by: number;
  /** As the request for the cancel gave it. */
  readonly reason?: string;
}

/** What a worker must have for an execution, and which one is preferred; fixed at creation (DSP-2). */
export interface Requirements extends Placement {
  /** The only worker that may have it (`X-Engine-Require-Worker`). */
  readonly worker?: string;
  /** The worker to ask when the last one cannot have it (`X-Engine-Preferred-Worker`). */
  readonly prefers?: string;
  readonly runner?: Runner;
  /** The most its process may take, in MiB. */
  readonly memory_mb?: number;
  /** What it reserves of a worker for as long as one has it (RES-2). */
  readonly requests?: ResourceRequests;
  /** What a worker must have in all, for the largest request of its tasks (RES-4). */
  readonly totals?: TaskRequests;
  /** Terms that read routing input; nobody is shown them. */
  readonly hidden?: HiddenPlacement;
  /** What every claim of it counts first (FLW-8); at least one. */
  readonly limits?: readonly ResolvedLimit[];
  /** With whom it takes turns; absent: those that declare nothing take one together. */
  readonly fairness?: TurnShare;
}

/**
 * Why a worker lost an execution that it had. `unready`: the worker could not begin it, for reasons
 * of its own. `forgotten`: the worker asked for work and no longer had the execution.
 */
export type LossReason = "session_lost" | "runner_lost" | "stuck" | "unready" | "forgotten";

/** One time that a worker lost an execution before anything new was recorded (LIV-5). */
export interface Loss {
  readonly worker: string;
  readonly generation: number;
  readonly at: number;
  readonly reason: LossReason;
  /** The loss alone says nothing of the execution: others were there too, or it was not to blame. */
  readonly uncounted?: true;
}

/** What an execution is created with and keeps. */
interface ExecutionOrigin {
  readonly execution_id: string;
  readonly namespace: string;
  readonly workflow: string;
  /** Null for a local run, which no server dispatches. */
  readonly version: number | null;
  /** Hash of the bundle it is pinned to; null for a local run. */
  readonly module_hash: string | null;
  readonly input: Encoded;
  /** Longest it may take from its start to its end. */
  readonly timeout_ms: number | null;
  /** Of the generator behind `Math.random` in its body; a fork inherits it (EXE-31). */
  readonly seed: string;
  /** Only WORKFLOW_… events are recorded (EXE-58). */
  readonly transient: boolean;
  readonly requirements: Requirements | null;
  /** How long it may wait for a worker each time; null = for ever (DSP-8). */
  readonly park_ttl_ms: number | null;
  /** Read by matching alone and shown to nobody: sealed, or its JSON where there is no key (RIN-3). */
  readonly routing_input: string | null;
  /** At most one execution has it: an idempotency key, or a schedule's instant (EXE-84, EXE-75). */
  readonly unique_key: string | null;
  /** Of what was asked with the unique key: another request under the same key is refused. */
  readonly request_hash: string | null;
  /** Name of the schedule that started it, and the instant that was due. */
  readonly schedule: string | null;
  readonly scheduled_for: number | null;
  readonly priority: number;
  readonly parent_id: string | null;
  readonly parent_call_id: string | null;
  /** A child that outlives its parent's cancellation (EXE-56). */
  readonly detached: boolean;
  /** Ancestors by `call`. */
  readonly depth: number;
  readonly forked_from: { readonly execution_id: string; readonly seq: number } | null;
  /** The hook behind it, which decides the hop of its deliveries; null: none (HOOK-33). */
  readonly hook: HookLineage | null;
  /** Id of the principal that started it; null with authorization off (AUTH-34). */
  readonly started_by: string | null;
  readonly created_at: number;
}

/** How far an execution has come. */
interface ExecutionCourse {
  /** An operator's label. */
  readonly name: string | null;
  readonly state: State;
  /** The workflow's output once COMPLETED, else null. */
  readonly output: Encoded;
  readonly failure: Failure | null;
  /** Worker that owns it now; null while it is queued, parked, paused or ended. */
  readonly worker: string | null;
  /** Id of the owner's session (for a local run, of its process). Null = unowned. */
  readonly session: string | null;
  /** Owner before the present one: preferred on resume, and still allowed to repeat itself. */
  readonly last_worker: string | null;
  readonly last_session: string | null;
  /** Grows by one with every assignment and fences every earlier owner. */
  readonly generation: number;
  /** `seq` of the newest event. */
  readonly head: number;
  /** `time` of the newest event. */
  readonly last_time: number;
  /** A WORKFLOW_RESUMING has not been followed by a WORKFLOW_RESUMED yet. */
  readonly resuming: boolean;
  readonly waits: readonly OpenWait[];
  readonly signals: KeptSignals;
  readonly watchers: readonly Watcher[];
  /** The earliest instant at which the engine has to do something about it; null = never. */
  readonly wake_at: number | null;
  readonly cancelling: Cancelling | null;
  /** Losses since the last task outcome, oldest first. */
  readonly losses: readonly Loss[];
  /** Generation under which a task outcome was recorded last; 0 = none was. */
  readonly outcome_generation: number;
  /** No worker gets it before: its `start_at`, or the delay after a loss. */
  readonly not_before: number | null;
  /** When its present wait for a worker is over. */
  readonly park_by: number | null;
  /** When it last became runnable; orders the queue. */
  readonly queued_at: number;
  /** Id of the principal whose rights apply to it (AUTH-34); null: nobody's. */
  readonly run_as: string | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly updated_at: number;
}

/**
 * An execution as every store keeps it. Instants are milliseconds since 1970. The row is what
 * decides: ownership, generation and head are read and written in the transaction of each change.
 */
export interface ExecutionRow extends ExecutionOrigin, ExecutionCourse {}

/** The columns a change may write: fewer than 32, so that a set of them is the bits of a number. */
export const PATCHABLE = [
  "state",
  "output",
  "failure",
  "worker",
  "session",
  "last_worker",
  "last_session",
  "generation",
  "head",
  "last_time",
  "resuming",
  "waits",
  "signals",
  "watchers",
  "wake_at",
  "cancelling",
  "queued_at",
  "name",
  "losses",
  "outcome_generation",
  "not_before",
  "park_by",
  "run_as",
  "started_at",
  "finished_at",
  "updated_at",
] as const satisfies readonly (keyof ExecutionRow)[];

/** What a change of an execution writes. */
export type ExecutionPatch = Partial<Pick<ExecutionRow, (typeof PATCHABLE)[number]>>;

/** Whether an execution waits for a worker: none has it, its state can be claimed, its time has come. */
export function isQueued(
  row: Pick<ExecutionRow, "state" | "session" | "version" | "not_before">,
): boolean {
  const { session, version, state, not_before } = row;
  return session === null && version !== null && not_before === null && isClaimable(state);
}

/** Whether an execution that no worker has waits for the outcome of a call (rows 4 and 5). */
export function isParked(row: Pick<ExecutionRow, "state" | "session">): boolean {
  return row.session === null && (row.state === "PAUSED" || row.state === "RUNNING");
}

/** Rows with an input that is read later. Every change asks: what a property is takes longer to find out. */
const LAZY = new WeakSet<ExecutionRow>();

/** Gives a row an input that is loaded when somebody looks at it: most changes ignore large ones. */
export function withLazyInput(row: ExecutionRow, load: () => ExecutionRow["input"]): ExecutionRow {
  let read: { readonly input: ExecutionRow["input"] } | undefined;
  const get = () => {
    read ??= { input: load() };
    return read.input;
  };
  LAZY.add(row);
  return Object.defineProperty(row, "input", { get, enumerable: true, configurable: true });
}

/** Whether a store reads the row's input only when it is looked at. */
export function hasLazyInput(row: ExecutionRow): boolean {
  return LAZY.has(row);
}

/** The row with a patch applied. An input that a store reads only when looked at stays unread. */
export function patched(row: ExecutionRow, patch: ExecutionPatch): ExecutionRow {
  if (!hasLazyInput(row)) return Object.assign({ ...row }, patch);
  // A spread would look at the input; descriptors hand the unread one on.
  const copy: ExecutionRow = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(row));
  LAZY.add(copy);
  return Object.assign(copy, patch);
}
