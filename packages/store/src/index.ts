export { openStore, type StoreOptions } from "./open-store.ts";
export { lockServer, type ServerLock } from "./server-lock.ts";
export { openSqliteStore, type SqliteOptions } from "./sqlite/sqlite-store.ts";
export type {
  Change,
  Changed,
  Decide,
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
} from "./store.ts";
