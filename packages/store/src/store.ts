import type {
  CacheKey,
  Change,
  Claimant,
  Event,
  ExecutionRow,
  ExtractedWorkflow,
  NewExecution,
  SourceFile,
  State,
  WorkflowRecord,
} from "@engine/contract";

/**
 * Looks at an execution inside the transaction and says what to write; undefined writes nothing.
 * Must be pure and quick, and so must the decisions of its effects: they may run again when a
 * commit is retried. If one of them throws, this change is refused with all its effects, and the
 * others of the same commit are left alone.
 *
 * @param recorded The log above `options.above`, empty unless that was given.
 */
export type Decide = (row: ExecutionRow, recorded: readonly Event[]) => Change | undefined;

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

export interface ExecutionFilter {
  readonly namespace?: string | undefined;
  readonly workflow?: string | undefined;
  /** Any of these; an empty list is no filter. */
  readonly states?: readonly State[] | undefined;
  readonly version?: number | undefined;
  /** Beginning of the operator's label, any case. */
  readonly label?: string | undefined;
  readonly parent_id?: string | undefined;
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
}

export interface StoredVersion {
  readonly record: WorkflowRecord;
  readonly module_hash: string;
}

export interface WorkflowFilter {
  readonly namespace?: string | undefined;
  /** Beginning of the name. */
  readonly name?: string | undefined;
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
  readonly runners: readonly string[];
  readonly default_runner: string;
}

export interface SessionRow extends NewSession {
  readonly created_at: number;
  readonly last_seen_at: number;
  readonly ended_at: number | null;
  readonly end_reason: "superseded" | "lost" | "disconnected" | null;
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

/** What other servers on the same database have done. It may be late, repeated or lost. */
export interface RemoteNews {
  /** Executions they changed; "all" where they are too many to name, or news were missed. */
  readonly execution_ids: readonly string[] | "all";
  /** What they announced, in the order of each. */
  readonly messages: readonly string[];
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
export interface Store {
  readonly kind: "sqlite" | "postgres";

  /**
   * Writes WORKFLOW_CREATED, what a fork copies behind it and, with a claimant, WORKFLOW_CLAIMED in
   * the same commit, with all effects. Rejects `conflict` when an id is taken.
   */
  createExecution(fresh: NewExecution, claimant?: Claimant): Promise<Changed>;
  /**
   * Writes what `decide` says, and in the same commit its effects and theirs, breadth first. Rejects
   * `not_found` when there is no such execution, or with what a decision threw.
   */
  changeExecution(
    execution_id: string,
    decide: Decide,
    options?: { readonly above?: number },
  ): Promise<Changed>;
  findExecution(execution_id: string): Promise<ExecutionRow | undefined>;
  /** Rows come without `input` and `output` (both null): lists must not load large values. */
  listExecutions(filter: ExecutionFilter): Promise<Page<ExecutionRow>>;
  readLog(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]>;
  /** Executions `isQueued` holds for, in dispatch order: priority descending, queue time, id. */
  listQueued(limit: number): Promise<readonly QueuedExecution[]>;
  /** Executions that a server has to wake, in order of `wake_at` and id. */
  listDue(page: DuePage): Promise<readonly DueExecution[]>;
  /** What a session owns, by id: with its generation, state and head. */
  listOwned(
    session_id: string,
  ): Promise<readonly { execution_id: string; generation: number; state: State; head: number }[]>;

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
   * @returns The versions deleted now, newest first; none when none of them lived.
   */
  deleteVersions(namespace: string, name: string, version?: number): Promise<readonly number[]>;
  listWorkflows(filter: WorkflowFilter): Promise<Page<WorkflowRecord>>;
  listVersions(
    namespace: string,
    name: string,
    page: { limit: number; offset: number },
  ): Promise<Page<WorkflowRecord>>;
  listNamespaces(page: {
    limit: number;
    offset: number;
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
  listLiveSessions(): Promise<readonly SessionRow[]>;
  /** Does nothing to a session that has ended already: the first reason stays. */
  endSession(session_id: string, reason: "lost" | "disconnected"): Promise<void>;
  /** Notes that sessions were heard of, all in one statement. */
  touchSessions(session_ids: readonly string[], at: number): Promise<void>;

  /** The stored text of a task's output (EXE-49a). `expires_at` is the first instant without it. */
  findCached(key: CacheKey, now: number): Promise<string | undefined>;
  keepCached(key: CacheKey, text: string, expires_at: number): Promise<void>;
  /** Deletes at most `limit` entries, those expired longest first; answers how many. */
  deleteExpiredCache(now: number, limit: number): Promise<number>;

  /**
   * Listens to the other servers on the same database; absent where there can be none. Resolves once
   * it listens, or has warned that it cannot: then the safety tick has to do. Reconnecting counts as
   * news of "all".
   *
   * @returns Ends it.
   */
  onRemoteChange?(listener: (news: RemoteNews) => void): Promise<() => void>;
  /** Tells the other servers, about 10 ms later; lost while the database is away. At most 7,000 bytes. */
  announce?(message: string): void;
  /**
   * Makes this server the one that does some periodic work, unless another one is; absent where it is
   * the only one. Rejects `unavailable` while the database is away.
   */
  lead?(name: string): Promise<Leadership | undefined>;

  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Statements sent since opening; the idle test counts them. */
  statementCount(): number;
  /** Commits what was asked for before; every later call rejects with `unavailable`. */
  close(): Promise<void>;
}
