export { shownDatabaseUrl } from "./database-url.ts";
export type { MigrationStatus } from "./migration-files.ts";
export { migrationStatus } from "./migration-status.ts";
export { openStore, type StoreOptions } from "./open-store.ts";
export { openPostgresStore, type PostgresOptions } from "./postgres/postgres-store.ts";
export { lockServer, type ServerLock } from "./server-lock.ts";
export { openSqliteStore, type SqliteOptions } from "./sqlite/sqlite-store.ts";
export type {
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
} from "./store.ts";
export { openValueStore } from "./values/open-value-store.ts";
export type { ValueStore } from "./values/value-store.ts";
