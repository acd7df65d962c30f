import type {
  CacheKey,
  Change,
  Claimant,
  DispatchMode,
  Event,
  EventType,
  ExecutionRow,
  ExtractedWorkflow,
  FindKept,
  Heartbeat,
  NewExecution,
  Runner,
  SourceFile,
  State,
  WorkerActivity,
  WorkerPackage,
  WorkerRegistration,
  WorkerResources,
  WorkflowRecord,
} from "@engine/contract";
import type { DeclaredSchedules, PutAfterDeletion, ScheduleStore } from "./schedules.ts";
import type { Visible } from "./visible.ts";

/**
 * Looks at an execution inside the transaction and says what to write; undefined writes nothing.
 * Must be pure and quick, and so must the decisions of its effects: they may run again when a
 * commit is retried. If one of them throws, this change is refused with all its effects, and the
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
  /** The store's clock at the commit, milliseconds since 1970. */
  readonly recorded_at: number;
  /**
   * The other executions that the effects changed or created, in the order in which they did it
   * first. Their own `others` are empty.
   */
  readonly others: readonly Changed[];
  /** True when nothing was created because another execution has the unique key: `row` is that one. */
  readonly existing?: true;
}

/**
 * What must hold of a session in the transaction of a change, else nothing is written (DSP-3). Whoever
 * holds the session's stream knows its epoch; whoever takes the stream over begins a new one.
 */
export interface SessionGuard {
  readonly session: string;
  readonly epoch: number;
  /** Also that the worker is to get work: its desired state is `active`. */
  readonly active?: boolean;
}

export interface ChangeOptions {
  /** The decision also sees the log above this `seq`. */
  readonly above?: number | undefined;
  readonly guard?: SessionGuard | undefined;
}

/** Who gets an execution with the commit that creates it, if the session is still as thought. */
export interface GuardedClaimant extends Claimant {
  /** Of its session; without it nothing is looked at, which is how a local run claims. */
  readonly epoch?: number;
}

export interface LoggedEvent {
  readonly event: Event;
  readonly recorded_at: number;
}

/** A page of a log. `after` reads upwards from it, `before` the newest below it (EXE-86). */
export interface LogPage {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

/** Some events of a log, by their type (EXE-86). */
export interface EventFilter {
  readonly types: readonly EventType[];
  /** Only those behind this `seq`. */
  readonly after: number;
  readonly limit: number;
}

/** A page of them, oldest first. */
export interface EventPage extends Page<LoggedEvent> {
  /** How many of all matches lie before the page. */
  readonly before: number;
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

/** A page of something, with the number of all matches. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** An execution that waits for a worker: what the dispatcher's queue keeps in memory. */
export interface QueuedExecution {
  readonly execution_id: string;
  readonly priority: number;
  readonly queued_at: number;
  readonly last_worker: string | null;
  /** What its worker must have, as JSON text: equal texts are equal needs. Null = anybody. */
  readonly requirements: string | null;
  /** How workers lost it, as JSON text; null = none did (LIV-5). */
  readonly losses: string | null;
  /** Of its log: what says otherwise of it and knows less of the log is older. */
  readonly head: number;
}

/** A part of the queue, in dispatch order. */
export interface QueuePage {
  readonly limit: number;
  /** Those behind this one. */
  readonly after?: QueuedExecution | undefined;
  /** The last ones of the queue rather than the first. */
  readonly fromEnd?: boolean;
}

/** An execution with something that is due at an instant. */
export interface DueExecution {
  readonly execution_id: string;
  readonly wake_at: number;
}

export interface DuePage {
  /** The latest instant to be listed. */
  readonly until: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: DueExecution | undefined;
}

export interface NewVersions {
  readonly workflows: readonly { extracted: ExtractedWorkflow; content_hash: string }[];
  readonly module: { readonly hash: string; readonly bundle: string };
  readonly files: readonly SourceFile[];
  readonly source_hash: string;
  readonly created_by: string | null;
  /** Written in the same transaction; left alone when absent. */
  readonly schedules?: readonly DeclaredSchedules[] | undefined;
}

export interface StoredVersion {
  readonly record: WorkflowRecord;
  readonly module_hash: string;
}

export interface WorkflowFilter {
  readonly namespace?: string | undefined;
  /** Beginning of the name. */
  readonly name?: string | undefined;
  /** Only of workflows that may be seen. */
  readonly visible?: Visible | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface NewSession {
  readonly session_id: string;
  /** SHA-256 of the session secret; the store never sees the secret. */
  readonly token_hash: string;
  readonly worker: string;
  readonly instance_id: string;
  readonly host: string;
  readonly pid: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly slots: number;
  readonly runners: readonly Runner[];
  readonly default_runner: Runner;
  readonly dispatch: DispatchMode;
  readonly engine_version: string;
  readonly runtime: WorkerRegistration["runtime"];
  readonly resources: WorkerResources | null;
  readonly packages: readonly WorkerPackage[];
  /** Local sockets it offers. */
  readonly services: readonly string[];
}

/** What a worker said of itself last. */
export interface Beat {
  readonly session_id: string;
  /** When it was heard of, whatever it said, by the clock of the server that heard it. */
  readonly at: number;
  /** Its newest heartbeat; left out when it only made other requests. */
  readonly said?: SaidByWorker;
}

/** The part of a heartbeat that is kept, for listings and for matching. */
export type SaidByWorker = Pick<
  Heartbeat,
  | "status"
  | "healthy"
  | "slots_free"
  | "metrics"
  | "resources"
  | "stuck_threads"
  | "clock_offset_ms"
>;

export interface SessionRow extends NewSession {
  readonly created_at: number;
  readonly last_seen_at: number;
  /** Null before the first heartbeat that was kept. */
  readonly said: SaidByWorker | null;
  /** The server that holds its stream; null while none does. */
  readonly replica: string | null;
  /** Grows each time a server takes the stream, and when the session is lost. */
  readonly epoch: number;
  readonly connected_at: number | null;
  /** When its stream closed; null while open, and before the first one. */
  readonly disconnected_at: number | null;
  /** When it was given up; a session that connects again is lost no more. */
  readonly lost_at: number | null;
  readonly ended_at: number | null;
  readonly end_reason: "superseded" | "lost" | "disconnected" | null;
}

/** A worker's name and what operators have said of it. It outlives its sessions (WRK-1). */
export interface WorkerRow {
  readonly name: string;
  readonly desired_state: WorkerActivity;
  readonly registered_at: number;
  /** Its newest session, live or ended; null only for names made by an operator. */
  readonly session: SessionRow | null;
  /** Executions it owns. */
  readonly load: number;
}

export interface WorkerFilter {
  /** Each label with this value. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly name?: string | undefined;
  /** Any of these; an empty list is none of them. */
  readonly names?: readonly string[] | undefined;
}

/** A server on the same database. */
export interface ReplicaRow {
  readonly replica: string;
  /** When it said last that it lives, by the database's clock: another stamp is a sign of life. */
  readonly seen_at: number;
  /** Milliseconds since then, by that clock, which somebody may have set meanwhile. */
  readonly silent_ms: number;
}

/** An execution whose owner's session has ended, was lost, or does not exist. */
export interface OrphanedExecution {
  readonly execution_id: string;
  readonly session: string;
  readonly generation: number;
}

/** What an owner has: with its generation, state and head. */
export interface OwnedExecution {
  readonly execution_id: string;
  readonly generation: number;
  readonly state: State;
  readonly head: number;
  readonly module_hash: string | null;
  /** When it was claimed or changed last. */
  readonly updated_at: number;
  readonly requirements: string | null;
  /** How workers lost it before, as JSON text; null = none did. */
  readonly losses: string | null;
}

export interface OpenedSession {
  readonly session: SessionRow;
  /** The name registered for the first time. */
  readonly is_new_worker: boolean;
  /** The same process registered again: its session goes on under the new secret. */
  readonly continued: boolean;
  /** The session of another process that this one ended (WRK-4). */
  readonly superseded: SessionRow | undefined;
}

/** Held by one server at a time. */
export interface Leadership {
  /** Aborted when the database has given it away, with the connection that held it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Every durable fact. Writes are committed in groups: a promise settles after the commit that holds
 * its change, so acknowledging it is safe; a commit that fails rejects all its writes with
 * `unavailable`. Reads see every settled write. One conformance suite (`@engine/store/conformance`)
 * holds every implementation to this interface.
 */
export interface Store extends ScheduleStore {
  readonly kind: "sqlite" | "postgres";

  /**
   * Writes WORKFLOW_CREATED, what a fork copies behind it and, with a claimant, WORKFLOW_CLAIMED in
   * the same commit, with all effects; a claimant whose session is not as thought is passed over.
   * With a unique key that an execution has already, it writes nothing and answers that one. Rejects
   * `conflict` when an id is taken.
   */
  createExecution(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed>;
  /**
   * Writes what `decide` says, and in the same commit its effects and theirs, breadth first. Rejects
   * `not_found` when there is no such execution, or with what a decision threw. While the guard does
   * not hold, nothing is decided and nothing written.
   */
  changeExecution(execution_id: string, decide: Decide, options?: ChangeOptions): Promise<Changed>;
  findExecution(execution_id: string): Promise<ExecutionRow | undefined>;
  /** The execution that has a unique key. */
  findByKey(unique_key: string): Promise<ExecutionRow | undefined>;
  /** Rows come without `input` and `output` (both null): lists must not load large values. */
  listExecutions(filter: ExecutionFilter): Promise<Page<ExecutionRow>>;
  readLog(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]>;
  /** Looks through the log where it lies: what does not match is not loaded. */
  listEvents(execution_id: string, filter: EventFilter): Promise<EventPage>;
  /** Executions `isQueued` holds for, in dispatch order: priority descending, queue time, id. */
  listQueued(page: QueuePage): Promise<readonly QueuedExecution[]>;
  /** Those of the named executions that wait for a worker now. */
  findQueued(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]>;
  /** Executions that a server has to wake, in order of `wake_at` and id. */
  listDue(page: DuePage): Promise<readonly DueExecution[]>;
  /** What a session owns, by id. */
  listOwned(session_id: string): Promise<readonly OwnedExecution[]>;
  /**
   * Runs of a schedule that have not ended, the newest first, without `input` and `output`. Costs what
   * it answers, however many have ended.
   */
  listOpenRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]>;
  /** Executions that belong to nobody who could run them, by id. */
  listOrphaned(limit: number): Promise<readonly OrphanedExecution[]>;

  /**
   * One transaction; content equal to the latest live version makes none (EXE-67). A dry run
   * answers what would be made now, and writes nothing.
   */
  registerVersions(
    versions: NewVersions,
    options?: { readonly dryRun?: boolean | undefined },
  ): Promise<readonly (WorkflowRecord & { created: boolean })[]>;
  /** The latest live version, or the one asked for; with `deleted` also when it was deleted. */
  findVersion(
    namespace: string,
    name: string,
    version?: number,
    options?: { readonly deleted?: boolean },
  ): Promise<StoredVersion | undefined>;
  /**
   * The version of a workflow that was registered with a module, deleted or not: what executions of
   * the same file call. Of several a live one, then the newest.
   */
  findVersionOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined>;
  /**
   * Marks one live version deleted, or all: no list and no new run finds them, while their record,
   * files and module stay for executions pinned to them. Numbers are not used again (EXE-70).
   *
   * @param put What becomes of the workflow's schedules, in the same transaction.
   * @returns The versions deleted now, newest first; none when none of them lived.
   */
  deleteVersions(
    namespace: string,
    name: string,
    version?: number,
    put?: PutAfterDeletion,
  ): Promise<readonly number[]>;
  listWorkflows(filter: WorkflowFilter): Promise<Page<WorkflowRecord>>;
  listVersions(
    namespace: string,
    name: string,
    page: { limit: number; offset: number },
  ): Promise<Page<WorkflowRecord>>;
  listNamespaces(page: {
    limit: number;
    offset: number;
    /** Counts only workflows that may be seen. */
    visible?: Visible | undefined;
  }): Promise<Page<{ namespace: string; workflow_count: number }>>;
  readFiles(namespace: string, name: string, version: number): Promise<readonly SourceFile[]>;
  readModule(hash: string): Promise<string | undefined>;

  /**
   * Begins a session, or goes on with the live one of the same process, whose labels must be the
   * same (else `labels_immutable`). Another process of the name loses its session in the same
   * transaction; its executions stay as they are, for the server to hand over.
   */
  openSession(session: NewSession): Promise<OpenedSession>;
  /** The live session with this secret's hash; an ended one too, so that the caller can say why. */
  findSession(worker: string, token_hash: string): Promise<SessionRow | undefined>;
  /** Those that have not ended, by worker. */
  listLiveSessions(): Promise<readonly SessionRow[]>;
  /** One session, ended or not. */
  findSessionById(session_id: string): Promise<SessionRow | undefined>;
  /**
   * Gives a session's stream to a server: a new epoch begins, so that whoever held it before can
   * claim nothing more for it. Undefined when the session has ended.
   */
  connectSession(session_id: string, replica: string): Promise<SessionRow | undefined>;
  /** Notes that the stream has closed, unless it was taken over: false then. */
  disconnectSession(session_id: string, epoch: number): Promise<boolean>;
  /**
   * Gives a session up, unless somebody took its stream over meanwhile: undefined then. A new epoch
   * begins, the answer holds it; whoever got it hands over what the session owns.
   */
  loseSession(session_id: string, epoch: number): Promise<SessionRow | undefined>;
  /** Does nothing to a session that has ended already: the first reason stays. */
  endSession(session_id: string, reason: "lost" | "disconnected"): Promise<void>;
  /** Notes what was heard of sessions, all in one statement. */
  noteBeats(beats: readonly Beat[]): Promise<void>;

  /** Workers by name, those that an operator may see. */
  listWorkers(filter?: WorkerFilter): Promise<readonly WorkerRow[]>;
  findWorker(name: string): Promise<WorkerRow | undefined>;
  /** Undefined when the name never registered. Holds for every claim that begins after it. */
  setDesiredState(name: string, desired: WorkerActivity): Promise<WorkerRow | undefined>;
  /** Forgets a name with its sessions; undefined: there is none, false: its session lives. */
  deleteWorker(name: string): Promise<boolean | undefined>;
  /** Forgets names that are not paused and were offline since before an instant; answers which. */
  deleteUnusedWorkers(before: number, limit: number): Promise<readonly string[]>;

  /**
   * Retention: deletes executions that ended before an instant, with their logs (EXE-98). It keeps a
   * child as long as its parent is kept, and what a fork that is kept was made from: their logs may
   * point at its values. It looks in the order of ids and goes on where it was: fewer than `limit` says
   * that it has come to the end. Answers which.
   */
  deleteFinished(before: number, limit: number): Promise<readonly string[]>;
  /** Executions that were deleted and whose stored values are not confirmed to be gone as well. */
  listForgotten(limit: number): Promise<readonly string[]>;
  /** Their stored values are gone. */
  confirmForgotten(execution_ids: readonly string[]): Promise<void>;
  /** Deletes sessions that ended before an instant, except the newest of each worker; how many. */
  deleteEndedSessions(before: number, limit: number): Promise<number>;
  /**
   * Deletes versions that no execution needs, with code nobody else has; how many.
   *
   * @param deleted_before When they were marked deleted at the latest: a start that has looked one up
   * before that has been written by now. Any time unless given.
   */
  deleteUnusedVersions(limit: number, deleted_before?: number): Promise<number>;

  /** Says that a server lives; answers every one that has said so, itself included. */
  noteReplica(replica: string): Promise<readonly ReplicaRow[]>;
  removeReplica(replica: string): Promise<void>;

  /** The stored text of a task's output (EXE-49a). `expires_at` is the first instant without it. */
  findCached(key: CacheKey, now: number): Promise<string | undefined>;
  keepCached(key: CacheKey, text: string, expires_at: number): Promise<void>;
  /** Deletes at most `limit` entries, those expired longest first; answers how many. */
  deleteExpiredCache(now: number, limit: number): Promise<number>;

  /**
   * Listens to the other servers on the same database; absent where there can be none. Resolves once
   * it listens, or has warned that it cannot: then the safety tick has to do. The listener gets each
   * message, in the order of each sender; undefined says that some were missed.
   *
   * @returns Ends it.
   */
  onAnnounced?(listener: (message: string | undefined) => void): Promise<() => void>;
  /**
   * Tells the other servers, about 10 ms later. Resolves once it is said, or cannot be; lost while the
   * database is away. At most 7,000 bytes.
   */
  announce?(message: string): Promise<void>;
  /**
   * Makes this server the one that does some periodic work, unless another one is; absent where it is
   * the only one. Rejects `unavailable` while the database is away.
   */
  lead?(name: string): Promise<Leadership | undefined>;

  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Rejects `unavailable` while nothing can be written; costs at most one small commit. */
  assertWritable(): Promise<void>;
  /** Statements sent since opening; the idle test counts them. */
  statementCount(): number;
  /** Commits what was asked for before; every later call rejects with `unavailable`. */
  close(): Promise<void>;
}
