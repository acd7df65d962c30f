export { shownDatabaseUrl } from "./database-url.ts";
export { storeFailpoints } from "./failpoints.ts";
export type { MigrationStatus } from "./migration-files.ts";
export { migrationStatus } from "./migration-status.ts";
export { openStore, type StoreOptions } from "./open-store.ts";
export { openPostgresStore, type PostgresOptions } from "./postgres/postgres-store.ts";
export { REPLICA_GONE_MS } from "./replica-silence.ts";
export type {
  DecideSchedule,
  DeclaredSchedules,
  DueSchedule,
  DueSchedulePage,
  PutAfterDeletion,
  PutSchedule,
  ScheduleFilter,
  ScheduleStore,
} from "./schedules.ts";
export { lockServer, type ServerLock } from "./server-lock.ts";
export { openSqliteStore, type SqliteOptions } from "./sqlite/sqlite-store.ts";
export type {
  Beat,
  Changed,
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
  OwnedExecution,
  Page,
  QueuedExecution,
  QueuePage,
  ReplicaRow,
  SaidByWorker,
  SessionGuard,
  SessionRow,
  Store,
  StoredVersion,
  WorkerFilter,
  WorkerRow,
  WorkflowFilter,
} from "./store.ts";
export { upgradeDatabase } from "./upgrade-database.ts";
export { openValueStore } from "./values/open-value-store.ts";
export type { ValueStore } from "./values/value-store.ts";
export type { Visible } from "./visible.ts";
