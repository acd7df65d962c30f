import { resolve } from "node:path";
import type Database from "better-sqlite3";
import { type EventRecords, untilReady } from "../event-records.ts";
import { NO_OUTBOX, Outbox, type OutboxOptions } from "../hooks/outbox.ts";
import { type SharedPorts, sharedPorts } from "../ports.ts";
import type { Store } from "../store.ts";
import { Connection } from "./connection.ts";
import { DatabaseFile } from "./database-file.ts";
import { SqliteDesk } from "./desk.ts";
import { EventLog } from "./event-log.ts";
import { EventRecordWriter } from "./event-record-writer.ts";
import { Executions } from "./executions.ts";
import { GroupCommit } from "./group-commit.ts";
import { SqliteHookSource } from "./hook-source.ts";
import { KnownEpochs } from "./known-epochs.ts";
import { ListThread } from "./list-thread.ts";
import { listsOn, startsWithAnyCase } from "./lists.ts";
import { migrate } from "./migrate.ts";
import { BUSY_TIMEOUT_MS, type DatabaseOptions, openDatabase } from "./open-database.ts";
import { Replicas } from "./replicas.ts";
import { Retention } from "./retention.ts";
import { SessionGuards } from "./session-guards.ts";

export interface SqliteOptions extends DatabaseOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Rows that are written with events; none unless given. */
  readonly records?: readonly EventRecords[] | undefined;
  /** How events are matched with hooks; not at all unless given. */
  readonly hooks?: OutboxOptions | undefined;
}

/**
 * Opens the embedded store, up to date with this engine's migrations.
 *
 * @throws EngineError `unavailable` in one line that names the path: it meets an operator.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const replicas = new Replicas();
  const db = await openDatabase(options, (fresh) => {
    migrate(fresh, options.clock());
    fresh.function("starts_with_any_case", { deterministic: true }, startsWithAnyCase);
    fresh.function("replica_lives", (replica: string) => (replicas.lives(replica) ? 1 : 0));
  });
  return sqliteStore(db, replicas, options);
}

/** What guards of executions look at: they are to look again after a write. */
const GUARDED: ReadonlySet<keyof SharedPorts> = new Set([
  "sessions",
  "workers",
  "workerCredentials",
  // Who is banned loses sessions with it.
  "principals",
]);

function sqliteStore(
  db: Database.Database,
  replicas: Replicas,
  { path, clock, records = [], hooks = NO_OUTBOX, busyTimeoutMs = BUSY_TIMEOUT_MS }: SqliteOptions,
): Store {
  const connection = new Connection(db);
  // A database in memory is its connection's own.
  const file = path === ":memory:" ? undefined : new DatabaseFile(resolve(path));
  connection.remember(() => replicas.written());
  const lists = file
    ? new ListThread({ path: resolve(path), busyTimeoutMs }, file)
    : listsOn(connection);
  const commits = new GroupCommit(connection, clock, file);
  const log = new EventLog(connection, lists);
  const guards = new SessionGuards(connection);
  const outbox = new Outbox(hooks, new SqliteHookSource(db, connection));
  const kinds = [...records, ...outbox.records()];
  commits.waitFor(() => untilReady(kinds));
  const writer = new EventRecordWriter({ connection, commits, kinds });
  const desk = new SqliteDesk({ connection, commits, clock });
  const guarded = new SqliteDesk({ connection, commits, clock, onWrite: () => guards.forget() });
  const shared = sharedPorts((port) => (GUARDED.has(port) ? guarded : desk));
  return {
    kind: "sqlite",
    ...shared,
    epochs: new KnownEpochs(db, connection, shared.epochs),
    executions: new Executions({ connection, commits, log, guards, lists, records: writer }),
    log,
    retention: new Retention(connection, commits),
    replicas,
    outbox,
    async ping() {
      await connection.read(() =>
        connection.prepareOnce("SELECT number FROM migrations LIMIT 1").get(),
      );
    },
    assertWritable: () => commits.assertWritable(),
    statementCount: () => connection.sent,
    async close() {
      await commits.close();
      connection.refuse();
      // Before the connection that writes: the last one to go folds the log of SQLite into the file.
      await lists.close();
      connection.close();
    },
  };
}
