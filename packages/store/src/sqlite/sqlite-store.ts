import { resolve } from "node:path";
import type {
  CacheKey,
  ExecutionRow,
  NewExecution,
  ScheduleRow,
  SourceFile,
  WorkerActivity,
  WorkflowRecord,
} from "@engine/contract";
import type Database from "better-sqlite3";
import type {
  DecideSchedule,
  DueSchedulePage,
  PutAfterDeletion,
  ScheduleFilter,
} from "../schedules.ts";
import type {
  Beat,
  Changed,
  ChangeOptions,
  Decide,
  DueExecution,
  DuePage,
  EventFilter,
  EventPage,
  ExecutionFilter,
  GuardedClaimant,
  LoggedEvent,
  LogPage,
  NewSession,
  NewVersions,
  OpenedSession,
  OrphanedExecution,
  OwnedExecution,
  Page,
  QueuedExecution,
  QueuePage,
  ReplicaRow,
  SessionRow,
  Store,
  StoredVersion,
  WorkerFilter,
  WorkerRow,
  WorkflowFilter,
} from "../store.ts";
import { Catalog } from "./catalog.ts";
import { Connection } from "./connection.ts";
import { ConnectionLists } from "./connection-lists.ts";
import { DatabaseFile } from "./database-file.ts";
import { EventLog } from "./event-log.ts";
import { ExecutionLists } from "./execution-lists.ts";
import { Executions } from "./executions.ts";
import { GroupCommit } from "./group-commit.ts";
import { type ListReader, startsWithAnyCase } from "./list-query.ts";
import { ListThread } from "./list-thread.ts";
import { migrate } from "./migrate.ts";
import { BUSY_TIMEOUT_MS, type DatabaseOptions, openDatabase } from "./open-database.ts";
import { Replicas } from "./replicas.ts";
import { Retention } from "./retention.ts";
import { Schedules } from "./schedules.ts";
import { SessionGuards } from "./session-guards.ts";
import { Sessions } from "./sessions.ts";
import { TaskCache } from "./task-cache.ts";
import { Workers } from "./workers.ts";

export interface SqliteOptions extends DatabaseOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/**
 * Opens the embedded store, up to date with this engine's migrations.
 *
 * @throws EngineError `unavailable` in one line that names the path: it meets an operator.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const db = await openDatabase(options, (fresh) => {
    migrate(fresh, options.clock());
    fresh.function("starts_with_any_case", { deterministic: true }, startsWithAnyCase);
  });
  return new SqliteStore(db, options);
}

class SqliteStore implements Store {
  readonly kind = "sqlite";
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #log: EventLog;
  readonly #executions: Executions;
  readonly #listReader: ListReader;
  readonly #lists: ExecutionLists;
  readonly #catalog: Catalog;
  readonly #schedules: Schedules;
  readonly #sessions: Sessions;
  readonly #workers: Workers;
  readonly #retention: Retention;
  readonly #replicas = new Replicas();
  readonly #cache: TaskCache;

  constructor(db: Database.Database, { path, clock, busyTimeoutMs }: SqliteOptions) {
    this.#connection = new Connection(db);
    // A database in memory is its connection's own.
    const file = path === ":memory:" ? undefined : new DatabaseFile(resolve(path));
    this.#listReader =
      file === undefined
        ? new ConnectionLists(this.#connection)
        : new ListThread(
            { path: resolve(path), busyTimeoutMs: busyTimeoutMs ?? BUSY_TIMEOUT_MS },
            file,
          );
    this.#commits = new GroupCommit(this.#connection, clock, file);
    this.#log = new EventLog(this.#connection, this.#listReader);
    const guards = new SessionGuards(this.#connection);
    this.#executions = new Executions({
      connection: this.#connection,
      commits: this.#commits,
      log: this.#log,
      guards,
    });
    this.#lists = new ExecutionLists(this.#connection, this.#listReader);
    this.#schedules = new Schedules(this.#connection, this.#commits);
    this.#catalog = new Catalog(this.#connection, this.#commits, this.#schedules);
    this.#sessions = new Sessions({
      connection: this.#connection,
      commits: this.#commits,
      guards,
      replicas: this.#replicas,
    });
    this.#workers = new Workers(this.#connection, this.#commits, guards);
    this.#retention = new Retention(this.#connection, this.#commits);
    this.#cache = new TaskCache(this.#connection, this.#commits);
  }

  createExecution(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed> {
    return this.#executions.create(fresh, claimant);
  }

  changeExecution(execution_id: string, decide: Decide, options?: ChangeOptions): Promise<Changed> {
    return this.#executions.change(execution_id, decide, options);
  }

  findExecution(execution_id: string): Promise<ExecutionRow | undefined> {
    return this.#executions.find(execution_id);
  }

  findByKey(unique_key: string): Promise<ExecutionRow | undefined> {
    return this.#executions.findByKey(unique_key);
  }

  listExecutions(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return this.#lists.page(filter);
  }

  readLog(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]> {
    return this.#connection.read(() => this.#log.read(execution_id, page));
  }

  listEvents(execution_id: string, filter: EventFilter): Promise<EventPage> {
    return this.#log.ofTypes(execution_id, filter);
  }

  listQueued(page: QueuePage): Promise<readonly QueuedExecution[]> {
    return this.#lists.queued(page);
  }

  findQueued(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]> {
    return this.#lists.queuedOf(execution_ids);
  }

  listDue(page: DuePage): Promise<readonly DueExecution[]> {
    return this.#lists.due(page);
  }

  listOwned(session_id: string): Promise<readonly OwnedExecution[]> {
    return this.#lists.owned(session_id);
  }

  listOpenRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]> {
    return this.#lists.openRuns(schedule, limit);
  }

  listOrphaned(limit: number): Promise<readonly OrphanedExecution[]> {
    return this.#lists.orphaned(limit);
  }

  registerVersions(
    versions: NewVersions,
    options?: { readonly dryRun?: boolean | undefined },
  ): Promise<readonly (WorkflowRecord & { created: boolean })[]> {
    return this.#catalog.register(versions, options);
  }

  findVersion(
    namespace: string,
    name: string,
    version?: number,
    options?: { readonly deleted?: boolean },
  ): Promise<StoredVersion | undefined> {
    return this.#catalog.find(namespace, name, version, options);
  }

  findVersionOfModule(
    namespace: string,
    name: string,
    module_hash: string,
  ): Promise<StoredVersion | undefined> {
    return this.#catalog.findOfModule(namespace, name, module_hash);
  }

  deleteVersions(
    namespace: string,
    name: string,
    version?: number,
    put?: PutAfterDeletion,
  ): Promise<readonly number[]> {
    return this.#catalog.delete(namespace, name, version, put);
  }

  listWorkflows(filter: WorkflowFilter): Promise<Page<WorkflowRecord>> {
    return this.#catalog.listWorkflows(filter);
  }

  listVersions(
    namespace: string,
    name: string,
    page: { limit: number; offset: number },
  ): Promise<Page<WorkflowRecord>> {
    return this.#catalog.listVersions(namespace, name, page);
  }

  listNamespaces(page: {
    limit: number;
    offset: number;
  }): Promise<Page<{ namespace: string; workflow_count: number }>> {
    return this.#catalog.listNamespaces(page);
  }

  readFiles(namespace: string, name: string, version: number): Promise<readonly SourceFile[]> {
    return this.#catalog.readFiles(namespace, name, version);
  }

  readModule(hash: string): Promise<string | undefined> {
    return this.#catalog.readModule(hash);
  }

  openSession(session: NewSession): Promise<OpenedSession> {
    return this.#sessions.open(session);
  }

  findSession(worker: string, token_hash: string): Promise<SessionRow | undefined> {
    return this.#sessions.findBySecret(worker, token_hash);
  }

  listLiveSessions(): Promise<readonly SessionRow[]> {
    return this.#sessions.listLive();
  }

  findSessionById(session_id: string): Promise<SessionRow | undefined> {
    return this.#sessions.findById(session_id);
  }

  connectSession(session_id: string, replica: string): Promise<SessionRow | undefined> {
    return this.#sessions.connect(session_id, replica);
  }

  disconnectSession(session_id: string, epoch: number): Promise<boolean> {
    return this.#sessions.disconnect(session_id, epoch);
  }

  loseSession(session_id: string, epoch: number): Promise<SessionRow | undefined> {
    return this.#sessions.lose(session_id, epoch);
  }

  endSession(session_id: string, reason: "lost" | "disconnected"): Promise<void> {
    return this.#sessions.end(session_id, reason);
  }

  noteBeats(beats: readonly Beat[]): Promise<void> {
    return this.#sessions.noteBeats(beats);
  }

  listWorkers(filter?: WorkerFilter): Promise<readonly WorkerRow[]> {
    return this.#workers.list(filter);
  }

  findWorker(name: string): Promise<WorkerRow | undefined> {
    return this.#workers.find(name);
  }

  setDesiredState(name: string, desired: WorkerActivity): Promise<WorkerRow | undefined> {
    return this.#workers.desire(name, desired);
  }

  deleteWorker(name: string): Promise<boolean | undefined> {
    return this.#workers.delete(name);
  }

  deleteUnusedWorkers(before: number, limit: number): Promise<readonly string[]> {
    return this.#workers.deleteUnused(before, limit);
  }

  deleteFinished(before: number, limit: number): Promise<readonly string[]> {
    return this.#retention.deleteFinished(before, limit);
  }

  listForgotten(limit: number): Promise<readonly string[]> {
    return this.#retention.listForgotten(limit);
  }

  confirmForgotten(execution_ids: readonly string[]): Promise<void> {
    return this.#retention.confirmForgotten(execution_ids);
  }

  deleteEndedSessions(before: number, limit: number): Promise<number> {
    return this.#workers.deleteEndedSessions(before, limit);
  }

  deleteUnusedVersions(limit: number, deleted_before?: number): Promise<number> {
    return this.#retention.deleteUnusedVersions(limit, deleted_before);
  }

  async noteReplica(replica: string): Promise<readonly ReplicaRow[]> {
    return this.#replicas.note(replica);
  }

  async removeReplica(replica: string): Promise<void> {
    this.#replicas.remove(replica);
  }

  findCached(key: CacheKey, now: number): Promise<string | undefined> {
    return this.#cache.find(key, now);
  }

  keepCached(key: CacheKey, text: string, expires_at: number): Promise<void> {
    return this.#cache.keep(key, text, expires_at);
  }

  deleteExpiredCache(now: number, limit: number): Promise<number> {
    return this.#cache.deleteExpired(now, limit);
  }

  createSchedule(row: ScheduleRow): Promise<ScheduleRow> {
    return this.#schedules.create(row);
  }

  findSchedule(name: string): Promise<ScheduleRow | undefined> {
    return this.#schedules.find(name);
  }

  listSchedules(filter: ScheduleFilter): Promise<Page<ScheduleRow>> {
    return this.#schedules.list(filter);
  }

  changeSchedule(name: string, decide: DecideSchedule): Promise<ScheduleRow | undefined> {
    return this.#schedules.change(name, decide);
  }

  deleteSchedule(name: string): Promise<boolean> {
    return this.#schedules.delete(name);
  }

  listDueSchedules(page: DueSchedulePage): Promise<readonly ScheduleRow[]> {
    return this.#schedules.listDue(page);
  }

  nextScheduleAt(after: number): Promise<number | null> {
    return this.#schedules.nextAt(after);
  }

  async ping(): Promise<void> {
    await this.#connection.read(() =>
      this.#connection.prepareOnce("SELECT number FROM migrations LIMIT 1").get(),
    );
  }

  assertWritable(): Promise<void> {
    return this.#commits.assertWritable();
  }

  statementCount(): number {
    return this.#connection.sent;
  }

  async close(): Promise<void> {
    this.#commits.close();
    this.#connection.refuse();
    // Before the connection that writes: the last one to go folds the log of SQLite into the file.
    await this.#listReader.close();
    this.#connection.close();
  }
}
