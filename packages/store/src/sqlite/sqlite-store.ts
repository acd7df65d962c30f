import type {
  CacheKey,
  Claimant,
  ExecutionRow,
  NewExecution,
  SourceFile,
  WorkflowRecord,
} from "@engine/contract";
import type Database from "better-sqlite3";
import type {
  Changed,
  Decide,
  DueExecution,
  DuePage,
  ExecutionFilter,
  LoggedEvent,
  LogPage,
  NewSession,
  NewVersions,
  OpenedSession,
  Page,
  QueuedExecution,
  SessionRow,
  Store,
  StoredVersion,
  WorkflowFilter,
} from "../store.ts";
import { Catalog } from "./catalog.ts";
import { Connection } from "./connection.ts";
import { EventLog } from "./event-log.ts";
import { listExecutions, startsWithAnyCase } from "./execution-list.ts";
import { Executions } from "./executions.ts";
import { GroupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import { Sessions } from "./sessions.ts";
import { TaskCache } from "./task-cache.ts";

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
  return new SqliteStore(db, options.clock);
}

class SqliteStore implements Store {
  readonly kind = "sqlite";
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #log: EventLog;
  readonly #executions: Executions;
  readonly #catalog: Catalog;
  readonly #sessions: Sessions;
  readonly #cache: TaskCache;

  constructor(db: Database.Database, clock: () => number) {
    this.#connection = new Connection(db);
    this.#commits = new GroupCommit(this.#connection, clock);
    this.#log = new EventLog(this.#connection);
    this.#executions = new Executions(this.#connection, this.#commits, this.#log);
    this.#catalog = new Catalog(this.#connection, this.#commits);
    this.#sessions = new Sessions(this.#connection, this.#commits);
    this.#cache = new TaskCache(this.#connection, this.#commits);
  }

  createExecution(fresh: NewExecution, claimant?: Claimant): Promise<Changed> {
    return this.#executions.create(fresh, claimant);
  }

  changeExecution(
    execution_id: string,
    decide: Decide,
    options: { readonly above?: number } = {},
  ): Promise<Changed> {
    return this.#executions.change(execution_id, decide, options.above);
  }

  findExecution(execution_id: string): Promise<ExecutionRow | undefined> {
    return this.#executions.find(execution_id);
  }

  listExecutions(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return this.#connection.read(() => listExecutions(this.#connection, filter));
  }

  readLog(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]> {
    return this.#connection.read(() => this.#log.read(execution_id, page));
  }

  listQueued(limit: number): Promise<readonly QueuedExecution[]> {
    return this.#executions.listQueued(limit);
  }

  listDue(page: DuePage): Promise<readonly DueExecution[]> {
    return this.#executions.listDue(page);
  }

  listOwned(session_id: string): ReturnType<Store["listOwned"]> {
    return this.#executions.listOwned(session_id);
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

  deleteVersions(namespace: string, name: string, version?: number): Promise<readonly number[]> {
    return this.#catalog.delete(namespace, name, version);
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

  endSession(session_id: string, reason: "lost" | "disconnected"): Promise<void> {
    return this.#sessions.end(session_id, reason);
  }

  touchSessions(session_ids: readonly string[], at: number): Promise<void> {
    return this.#sessions.touch(session_ids, at);
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

  async ping(): Promise<void> {
    await this.#connection.read(() =>
      this.#connection.prepareOnce("SELECT number FROM migrations LIMIT 1").get(),
    );
  }

  statementCount(): number {
    return this.#connection.sent;
  }

  async close(): Promise<void> {
    this.#commits.close();
    this.#connection.close();
  }
}
