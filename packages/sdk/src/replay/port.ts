/**
 * The two sides of an execution's replay core. {@link Host} is what it needs of the world it runs
 * in (Node, a test); {@link ExecutionPort} is what it needs of the keeper of the log (a worker, a local
 * run). The core itself is pure: it knows no Node, no network, no clock of its own.
 */
import type {
  CacheKey,
  Config,
  Encoded,
  Event,
  ExecutionLimits,
  Failure,
  ProgressItem,
  State,
  StoredReference,
  TaskRequests,
  Wait,
} from "@engine/contract";

/** What the core needs of the world it runs in; `@engine/sdk/node` has the one on Node. */
export interface Host {
  /** Runs `body` with `scope` as the current one, across awaits, like AsyncLocalStorage. */
  runInScope<T>(scope: unknown, body: () => T): T;
  /** Calls back once every microtask queued so far, and those they queue, have run. */
  drain(then: () => void): void;
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns a function that cancels the timer. */
  setTimer(then: () => void, ms: number): () => void;
  random(): number;
  uuid(): string;
  /** SHA-256 as hexadecimal text. */
  hash(text: string): string;
  /** The line of the user's code that is calling, as `file:line:column`; undefined when unknown. */
  callSite(): string | undefined;
  /** Where an error was made; undefined when no line of its stack is the author's or a package's. */
  traceOf(error: Error): Trace | undefined;
  createAbort(): { readonly signal: AbortSignal; abort(reason: unknown): void };
  /** For the worker's own log, never the execution's: warnings and swallowed details. */
  log(level: "debug" | "warn" | "error", message: string, details?: Record<string, unknown>): void;
  /** For the same log: code of the author's failed. */
  failed(message: string, details: Record<string, unknown>): void;
}

/** Where an error was made, in words that say nothing of the machine. */
export interface Trace {
  /** The first line of the author's own code, as `file:line:column`; undefined when there is none. */
  readonly at: string | undefined;
  /** The lines that led there, innermost first, without the error's message. */
  readonly stack: readonly string[];
}

/** A call as a divergence names it. */
export interface CallRef {
  readonly task_call_id: string;
  readonly name: string;
  /** What tells it from a call of the same name: a pause's name, a child's workflow. */
  readonly label: string | null;
}

/** What the execution adds to its log in one go. */
export interface Delta {
  readonly base_seq: number;
  readonly state: State;
  /** A JSON array of `NewEvent`s, as text: it is written into the request as it is. */
  readonly events: string;
  /** RUNNING with this = parked without an open pause. */
  readonly waiting?: readonly Wait[];
  /** Routing inputs of `call`s that begin here, by `task_call_id`, as JSON text; in no event. */
  readonly routing_inputs?: string;
}

/** The answer to a delta, of the keeper of the log. */
export type CheckpointReply =
  | { readonly kind: "accepted"; readonly seq: number }
  /** The log grew meanwhile: `events` follow `acknowledged`; the core merges and decides anew. */
  | { readonly kind: "conflict"; readonly acknowledged: number; readonly events: readonly Event[] }
  /** Another worker owns the execution now: the copy ends and writes nothing more. */
  | { readonly kind: "stale" };

/**
 * Services that tasks need beside the log. Every method retries network trouble by itself; a
 * rejection is final and fails the call that asked.
 */
export interface TaskServices {
  /** The stored text of a cached output; undefined = no hit (EXE-49a). */
  lookUp(key: CacheKey): Promise<string | undefined>;
  keep(key: CacheKey, text: string, ttl_ms: number): Promise<void>;
  /**
   * Keeps a value's stored text outside the log; equal text gives an equal reference (EXE-49).
   *
   * @param hidden Encrypted: no reader gets it (SEC-9).
   */
  saveValue(text: string, hidden?: boolean): Promise<StoredReference>;
  /** Rejects EngineError `not_found` when the value is gone. */
  loadValue(reference: StoredReference): Promise<string>;
  /** The declared secrets of a task by name; those that do not exist are absent. */
  secrets(task: string, names: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  /** Configs by name; null asks on behalf of the workflow's own code. */
  configs(
    task: string | null,
    names: readonly string[],
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * A token that acts as the principal the execution runs as, valid now; null with authorization off.
   * Where it is absent, as in a local run, there is none (EXE-5).
   */
  executionToken?(): Promise<string | null>;
}

/** Resources of a worker for the functions of tasks that request some (RES-4). */
export interface Budget {
  /**
   * Resolves once there is room for the function of a call, which then has it. Requests are served in
   * the order in which they come. Rejects when there will never be as much.
   */
  reserve(task_call_id: string, requests: TaskRequests): Promise<void>;
  /** Gives the function of a call its room again at once, whether there is some left or not. */
  retake(task_call_id: string, requests: TaskRequests): void;
  /** Ends what a call has or waits for; of a call without either nothing happens. */
  release(task_call_id: string): void;
}

/** Local sockets of the place where task code runs (WMD-3). */
export interface LocalServices {
  /** Paths by name. */
  readonly offered: Readonly<Record<string, string>>;
  /** Names that task code may use now. */
  readonly granted: readonly string[];
}

/** What the principal that an execution runs as may do in it now. */
export interface TaskRights {
  /** Names of the tasks that it may run; `*` among them: all. */
  readonly task_grants: readonly string[];
  /** It cannot be used: no task begins, and none is refused for its sake (AUTH-36). */
  readonly hold: boolean;
}

/** Limits of an engine that is server and worker in one: a local run, the test engine. */
export type EmbeddedLimits = ExecutionLimits &
  Pick<
    Config["executions"],
    "max_depth" | "cancel_timeout" | "max_kept_signals" | "max_kept_signal_bytes"
  >;

/** The keeper of the log of one execution, who also provides for its tasks. */
export interface ExecutionPort {
  readonly services: TaskServices;
  /** Without one, as in a local run, no function waits for resources. */
  readonly budget?: Budget | undefined;
  /** As they are now; absent where there are none. */
  localServices?(): LocalServices;
  /**
   * Makes a delta durable. One call at a time per execution. Retries network trouble by itself and
   * settles when the answer is certain; rejecting stops the copy as if it were stale.
   */
  checkpoint(delta: Delta): Promise<CheckpointReply>;
  /** Takes one progress value; must not throw, may drop it. Only called while somebody listens. */
  progress(item: ProgressItem): void;
  /** All that is left to do is to start held functions; said again whenever they are held anew. */
  stalled?(): void;
}

/** What a copy knows of its execution besides the log; none of it changes while it runs. */
export interface ExecutionInfo {
  readonly execution_id: string;
  readonly namespace: string;
  readonly workflow: string;
  readonly version: number | null;
  /** An operator's label. */
  readonly name: string | null;
  readonly input: Encoded;
  /** Of the generator behind `Math.random` in the body (EXE-31). */
  readonly seed: string;
  readonly parent_id: string | null;
  /** Only WORKFLOW_… events are recorded (EXE-58). */
  readonly transient: boolean;
  /** Hash of the bundle that runs; null for a local run. */
  readonly bundle: string | null;
}

/** How a copy ended. Only the first three have told the log so; paused and parked ones can wake. */
export type Ended = "terminal" | "paused" | "parked" | "stopped";

/** A copy of an execution, as the program that started it handles it. */
export interface RunningExecution {
  /** `seq` of the newest event this copy knows to be durable. */
  readonly head: number;
  /** Settles once, never rejects. */
  readonly ended: Promise<Ended>;
  /**
   * Lets a paused or parked copy go on under a new claim instead of replaying another (RUN-4):
   * `events` are those behind {@link head}, the last one its WORKFLOW_CLAIMED. Gives the new end,
   * or undefined when this copy cannot continue that log, in which case it is of no further use.
   */
  wake(events: readonly Event[], listen: boolean): Promise<Ended> | undefined;
  /** Merges events the server wrote; those already known are skipped, a gap is ignored. */
  deliver(base_seq: number, events: readonly Event[]): void;
  /** Whether `progress()` values are wanted. */
  listen(on: boolean): void;
  /** Keeps functions of tasks from starting, or lets them; those that run go on (WRK-8). */
  hold(on: boolean): void;
  /**
   * The rights of its principal are these from now on: tasks that begin go by them (AUTH-35). Undefined:
   * nobody's rights are checked.
   */
  setRights(rights: TaskRights | undefined): void;
  /** Ends the copy at once: signals abort, nothing more is sent. */
  stop(reason: string): void;
}

/** What a copy is started with. */
export interface RunOptions {
  readonly info: ExecutionInfo;
  /** The input itself, where `info.input` only says where it lies (EXE-49). */
  readonly input?: Encoded | undefined;
  /** The whole log, dense from 1. Its last event is this copy's WORKFLOW_CLAIMED. */
  readonly history: readonly Event[];
  readonly limits: ExecutionLimits;
  readonly listen: boolean;
  /** Seconds that bodies get to end after a cancel; default: those of a sibling (DSP-9). */
  readonly cancel_grace?: number;
  /** False: code has no outcome before it is durable, so that every outcome is a delta of its own. */
  readonly runsAhead?: boolean;
  /** Begins held, as {@link RunningExecution.hold} says. */
  readonly hold?: boolean;
  /** Absent: nobody's rights are checked. */
  readonly rights?: TaskRights | undefined;
  readonly port: ExecutionPort;
  readonly host: Host;
  /** Set to check a log against code without going on: nothing is written, no task runs. */
  readonly check?: ReplayCheck;
}

/** Hears how the replay of a log went; the copy then stops. */
export interface ReplayCheck {
  /** The log has been replayed; `firstNew` is the first call that it does not have. */
  replayed(at: { firstNew: CallRef | undefined; isBodyOver: boolean }): void;
  /** The execution would fail here. */
  failed(failure: Failure): void;
}
