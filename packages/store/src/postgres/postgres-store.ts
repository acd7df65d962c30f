import type {
  CacheKey,
  Claimant,
  ExecutionRow,
  NewExecution,
  SourceFile,
  WorkflowRecord,
} from "@engine/contract";
import type {
  Changed,
  Decide,
  DueExecution,
  DuePage,
  ExecutionFilter,
  Leadership,
  LoggedEvent,
  LogPage,
  NewSession,
  NewVersions,
  OpenedSession,
  Page,
  QueuedExecution,
  RemoteNews,
  SessionRow,
  Store,
  StoredVersion,
  WorkflowFilter,
} from "../store.ts";
import { BatchCommit } from "./batch-commit.ts";
import { Catalog } from "./catalog.ts";
import { Database } from "./database.ts";
import { EventLog } from "./event-log.ts";
import { ExecutionLists } from "./execution-lists.ts";
import type { ColumnTypes, FullRow } from "./execution-record.ts";
import { ExecutionStatements } from "./execution-statements.ts";
import { GroupCommit } from "./group-commit.ts";
import { InputCache } from "./input-cache.ts";
import { Leaderships } from "./leadership.ts";
import { migrate } from "./migrate.ts";
import { News } from "./news.ts";
import { type PostgresTarget, postgresTarget } from "./postgres-url.ts";
import { Serial } from "./serial.ts";
import { SessionConnection } from "./session-connection.ts";
import { Sessions } from "./sessions.ts";
import { TaskCache } from "./task-cache.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of the `pg` package. */
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Commits under way at once. */
  readonly lanes?: number | undefined;
  /** Connections for everything but commits and notifications. */
  readonly connections?: number | undefined;
  /** Told what an operator should know; nothing unless given. */
  readonly warn?: ((message: string) => void) | undefined;
}

const LANES = 4;
const CONNECTIONS = 6;
/** Characters of large inputs to keep at hand. */
const INPUTS = 32 * 2 ** 20;

/**
 * Opens a store that any number of servers share, up to date with this engine's migrations.
 *
 * @throws EngineError `invalid_input` for what is no such URL, `unavailable` in one line that names
 * host and database: it meets an operator, and never holds the password.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const target = postgresTarget(options.url);
  const types = await migrate(target, options.clock());
  return new PostgresStore(target, types, options);
}

class PostgresStore implements Store {
  readonly kind = "postgres";
  readonly #database: Database;
  readonly #statements: ExecutionStatements;
  readonly #log: EventLog;
  readonly #commits: GroupCommit;
  readonly #lists: ExecutionLists;
  readonly #catalog: Catalog;
  readonly #sessions: Sessions;
  readonly #cache: TaskCache;
  readonly #news: News;
  readonly #leaderships = new Leaderships();
  readonly #session: SessionConnection;
  readonly #slow = { catalog: new Serial(), sessions: new Serial(), cache: new Serial() };
  #closing: Promise<void> | undefined;

  constructor(target: PostgresTarget, types: ColumnTypes, options: PostgresOptions) {
    const { clock, lanes = LANES, connections = CONNECTIONS, warn = () => undefined } = options;
    const database = new Database(target, { lanes, general: connections });
    const statements = new ExecutionStatements(database, types, new InputCache(INPUTS));
    this.#database = database;
    this.#statements = statements;
    this.#log = new EventLog(database);
    this.#news = new News(database, warn);
    const onCommitted = (ids: readonly string[]) => this.#news.changed(ids);
    const batches = new BatchCommit({ database, statements, log: this.#log, clock, onCommitted });
    this.#commits = new GroupCommit(batches, lanes);
    this.#lists = new ExecutionLists(database);
    this.#catalog = new Catalog(database, this.#slow.catalog, clock);
    this.#sessions = new Sessions(database, this.#slow.sessions, clock);
    this.#cache = new TaskCache(database, this.#slow.cache);
    this.#session = new SessionConnection(target, {
      connected: async (client) => {
        if (this.#news.isWanted) await this.#news.listen(client);
      },
      notified: (message) => this.#news.notified(message),
      lost: () => this.#leaderships.lost(),
    });
  }

  createExecution(fresh: NewExecution, claimant?: Claimant): Promise<Changed> {
    const { execution_id } = fresh;
    return this.#commits.write({ kind: "create", execution_id, fresh, claimant });
  }

  changeExecution(
    execution_id: string,
    decide: Decide,
    { above }: { readonly above?: number } = {},
  ): Promise<Changed> {
    return this.#commits.write({ kind: "change", execution_id, decide, above });
  }

  async findExecution(execution_id: string): Promise<ExecutionRow | undefined> {
    const { query, read } = this.#statements.find(execution_id);
    const [rows = []] = await this.#database.readAll<FullRow>(query);
    return read(rows).get(execution_id);
  }

  listExecutions(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return this.#lists.page(filter);
  }

  readLog(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]> {
    return this.#log.read(execution_id, page);
  }

  listQueued(limit: number): Promise<readonly QueuedExecution[]> {
    return this.#lists.queued(limit);
  }

  listDue(page: DuePage): Promise<readonly DueExecution[]> {
    return this.#lists.due(page);
  }

  listOwned(session_id: string): ReturnType<Store["listOwned"]> {
    return this.#lists.owned(session_id);
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

  async onRemoteChange(listener: (news: RemoteNews) => void): Promise<() => void> {
    const isFirst = !this.#news.isWanted;
    const stop = this.#news.add(listener);
    if (!isFirst) return stop;
    try {
      // It may be connected already, for a leadership; listening twice is listening once.
      const client = await this.#session.client();
      await this.#news.listen(client);
      await this.#news.test();
    } catch {
      // It goes on trying to connect, and listens then.
    }
    return stop;
  }

  announce(message: string): void {
    this.#news.announce(message);
  }

  async lead(name: string): Promise<Leadership | undefined> {
    return this.#leaderships.lead(name, await this.#session.client());
  }

  async ping(): Promise<void> {
    await this.#database.read({ text: "SELECT 1" });
  }

  statementCount(): number {
    return this.#database.sent;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([
      this.#commits.close(),
      ...Object.values(this.#slow).map((writes) => writes.close()),
    ]);
    await this.#news.close();
    await this.#session.close();
    this.#leaderships.lost();
    await this.#database.close();
  }
}
