import type {
  CacheKey,
  ExecutionRow,
  NewExecution,
  ScheduleRow,
  SourceFile,
  WorkerActivity,
  WorkflowRecord,
} from "@engine/contract";
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
  Leadership,
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
import { BatchCommit } from "./batch-commit.ts";
import { Catalog } from "./catalog.ts";
import { Database } from "./database.ts";
import { DirectStatement } from "./direct-statement.ts";
import { EventLog } from "./event-log.ts";
import { ExecutionLists } from "./execution-lists.ts";
import type { FullRow } from "./execution-record.ts";
import { ExecutionStatements } from "./execution-statements.ts";
import { GroupCommit } from "./group-commit.ts";
import { InputCache } from "./input-cache.ts";
import { Leaderships } from "./leadership.ts";
import { migrate } from "./migrate.ts";
import { News, type NewsListener } from "./news.ts";
import { type PostgresTarget, postgresTarget } from "./postgres-url.ts";
import { Replicas } from "./replicas.ts";
import { Retention } from "./retention.ts";
import { Schedules } from "./schedules.ts";
import type { ColumnTypes } from "./sent-columns.ts";
import { Serial } from "./serial.ts";
import { SessionConnection } from "./session-connection.ts";
import { Sessions } from "./sessions.ts";
import { TaskCache } from "./task-cache.ts";
import { Workers } from "./workers.ts";

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
  readonly #schedules: Schedules;
  readonly #sessions: Sessions;
  readonly #workers: Workers;
  readonly #retention: Retention;
  readonly #replicas: Replicas;
  readonly #cache: TaskCache;
  readonly #news: News;
  readonly #leaderships = new Leaderships();
  readonly #session: SessionConnection;
  readonly #slow = {
    catalog: new Serial(),
    sessions: new Serial(),
    beats: new Serial(),
    retention: new Serial(),
    cache: new Serial(),
    schedules: new Serial(),
  };
  #closing: Promise<void> | undefined;

  constructor(target: PostgresTarget, types: ColumnTypes, options: PostgresOptions) {
    const { clock, lanes = LANES, connections = CONNECTIONS, warn = () => undefined } = options;
    const database = new Database(target, { lanes, general: connections });
    const statements = new ExecutionStatements(database, types, new InputCache(INPUTS));
    this.#database = database;
    this.#statements = statements;
    this.#log = new EventLog(database);
    this.#news = new News(database, warn);
    const batches = new BatchCommit({
      database,
      statements,
      direct: new DirectStatement(database, types),
      log: this.#log,
      clock,
    });
    this.#commits = new GroupCommit(batches, lanes);
    this.#lists = new ExecutionLists(database);
    this.#schedules = new Schedules(database, this.#slow.schedules);
    this.#catalog = new Catalog(database, this.#slow.catalog, {
      clock,
      schedules: this.#schedules,
    });
    this.#sessions = new Sessions(database, this.#slow, clock);
    this.#workers = new Workers(database, this.#slow.sessions);
    this.#retention = new Retention(database, this.#slow.retention);
    this.#replicas = new Replicas(database, this.#slow.beats);
    this.#cache = new TaskCache(database, this.#slow.cache);
    this.#session = new SessionConnection(target, {
      connected: async (client) => {
        if (!this.#news.isWanted) return;
        await this.#news.listen(client);
        this.#news.missed();
      },
      notified: (message) => this.#news.notified(message),
      lost: () => this.#leaderships.lost(),
    });
  }

  createExecution(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed> {
    const { execution_id } = fresh;
    return this.#commits.write({ kind: "create", execution_id, fresh, claimant });
  }

  changeExecution(
    execution_id: string,
    decide: Decide,
    { above, guard }: ChangeOptions = {},
  ): Promise<Changed> {
    return this.#commits.write({ kind: "change", execution_id, decide, above, guard });
  }

  async findExecution(execution_id: string): Promise<ExecutionRow | undefined> {
    const { query, read } = this.#statements.find(execution_id);
    const [rows = []] = await this.#database.readAll<FullRow>(query);
    return read(rows).get(execution_id);
  }

  async findByKey(unique_key: string): Promise<ExecutionRow | undefined> {
    const { query, read } = this.#statements.holders([unique_key]);
    const [rows = []] = await this.#database.readAll<FullRow>(query);
    return [...read(rows).values()][0];
  }

  listExecutions(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    return this.#lists.page(filter);
  }

  readLog(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]> {
    return this.#log.read(execution_id, page);
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

  noteReplica(replica: string): Promise<readonly ReplicaRow[]> {
    return this.#replicas.note(replica);
  }

  removeReplica(replica: string): Promise<void> {
    return this.#replicas.remove(replica);
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

  async onAnnounced(listener: NewsListener): Promise<() => void> {
    if (this.#news.isWanted) return this.#news.add(listener);
    // Connected before anybody listens: only a later connection has missed something.
    const client = await this.#session.client().catch(() => undefined);
    const stop = this.#news.add(listener);
    // Where this fails it goes on trying to connect, and listens then.
    if (client) await this.#news.begin(client).catch(() => undefined);
    else this.#news.warnUnheard();
    return stop;
  }

  announce(message: string): Promise<void> {
    return this.#news.announce(message);
  }

  async lead(name: string): Promise<Leadership | undefined> {
    return this.#leaderships.lead(name, await this.#session.client());
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
    await this.#database.read({ text: "SELECT 1" });
  }

  assertWritable(): Promise<void> {
    return this.#database.assertWritable();
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
