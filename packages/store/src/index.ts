export { shownDatabaseUrl } from "./database-url.ts";
export type { EventRecord, EventRecords, RecordedChange } from "./event-records.ts";
export { storeFailpoints } from "./failpoints.ts";
export type { DeclaredHooks, HookEdit, PutHooks } from "./hooks/declared-hooks.ts";
export type { DeliveryRow, DueDelivery, FullDelivery } from "./hooks/delivery-row.ts";
export type { HookChange, HookRow, NewHookRow } from "./hooks/hook-row.ts";
export type {
  DeliveryListener,
  MasksReady,
  Outbox,
  OutboxOptions,
  WrittenDelivery,
} from "./hooks/outbox.ts";
export { type Interpose, interposed, type StoreCall } from "./interposed.ts";
export type { LimitDefinition } from "./limits/claim-limits.ts";
export { makeFolder } from "./make-folder.ts";
export type { MigrationStatus } from "./migration-files.ts";
export { migrationStatus, upgradeDatabase } from "./migration-status.ts";
export { openStore, type StoreOptions } from "./open-store.ts";
export type {
  ActingExecution,
  ActingFilter,
  ActingVersion,
} from "./ports/acting.ts";
export type { AuditFilter } from "./ports/audit.ts";
export type { Beat } from "./ports/beats.ts";
export type { NewVersions, StoredVersion, WorkflowFilter } from "./ports/catalog.ts";
export {
  type ConfigInfo,
  type ConfigRow,
  type NewConfig,
  refuseOtherVersion,
} from "./ports/configs.ts";
export type { DeadFilter, DeliveryFilter, Undelivered } from "./ports/deliveries.ts";
export type { KeyCheck, KeyUse } from "./ports/encryption.ts";
export type { EpochName, Epochs } from "./ports/epochs.ts";
export type {
  Changed,
  Decide,
  ExecutionFilter,
  GuardedClaimant,
  SessionGuard,
} from "./ports/executions.ts";
export type { HookFilter, HookPort } from "./ports/hooks.ts";
export {
  type FirstAdmin,
  type IdentityPort,
  type Login,
  type Logins,
  type StoredIdentity,
  type StoredKey,
  USE_NOTED_MS,
  type Used,
} from "./ports/identities.ts";
export type { IdentityWrite } from "./ports/identity-write.ts";
export type { JoinTokenRow, NewJoinToken } from "./ports/join-tokens.ts";
export type { KeyRow, NewKeyRow } from "./ports/keys.ts";
export type { HolderPage, LimitHolder, LimitRow } from "./ports/limits.ts";
export type { EventFilter, EventPage, LoggedEvent, LogPage } from "./ports/log.ts";
export type { MaskedRow } from "./ports/masks.ts";
export type { Page } from "./ports/port.ts";
export type {
  DecidePrincipal,
  NewPrincipalRow,
  PrincipalFilter,
  PrincipalPatch,
  PrincipalRow,
  PrincipalUses,
} from "./ports/principals.ts";
export type {
  DueExecution,
  DuePage,
  OwnedExecution,
  QueuedExecution,
  QueuePage,
} from "./ports/queue.ts";
export { type Leadership, REPLICA_GONE_MS, type ReplicaRow } from "./ports/replicas.ts";
export type { DecideRole, NewRoleRow, RolePatch, RoleRow } from "./ports/roles.ts";
export type {
  AuditSchedule,
  DecideSchedule,
  DeclaredSchedules,
  DueSchedule,
  DueSchedulePage,
  PutAfterDeletion,
  PutSchedule,
  ScheduleFilter,
} from "./ports/schedules.ts";
export type { NameFilter, NewSecret, SecretInfo, SecretRow, SecretSlot } from "./ports/secrets.ts";
export type { ServiceChoice, ServiceRow } from "./ports/services.ts";
export type { AdmittedSession, OpenedSession } from "./ports/sessions.ts";
export type { HeldAttributes } from "./ports/worker-attributes.ts";
export type { KnownWorkerCredential } from "./ports/worker-credentials.ts";
export type { WorkerFilter, WorkerRow } from "./ports/workers.ts";
export { openPostgresStore, type PostgresOptions } from "./postgres/postgres-store.ts";
export {
  newDataKey,
  openText,
  rewrapKey,
  type Sealed,
  type SealedPlace,
  sealText,
  unwrapKey,
  type WrappedKey,
  wrapKey,
} from "./sealing/envelope.ts";
export { ExecutionSeals } from "./sealing/execution-seals.ts";
export {
  type KeyRing,
  type ReadRing,
  type RingKey,
  type RingSources,
  readKeyRing,
  ringOf,
} from "./sealing/key-ring.ts";
export { keyIdOf, openAlike, resealAlike, sealAlike } from "./sealing/sealed-alike.ts";
export {
  executionKeyPlace,
  keyCheckPlace,
  placeOf,
  routingPlace,
  secretPlace,
} from "./sealing/sealed-places.ts";
export { isSealedText, openUnder, sealUnder } from "./sealing/sealed-text.ts";
export { makeSecretFile, secretFileProblem, writeSecretFile } from "./sealing/secret-file.ts";
export { lockServer, type ServerLock } from "./server-lock.ts";
export type { NewSession, SaidByWorker, SessionRow } from "./session-record.ts";
export { openSqliteStore, type SqliteOptions } from "./sqlite/sqlite-store.ts";
export type { Store, StoreMethod } from "./store.ts";
export type { KeyHolder, Rewrapped, StoredDataKey, StoredKeyPlace } from "./stored-keys.ts";
export { openValueStore } from "./values/open-value-store.ts";
export type { ValueStore } from "./values/value-store.ts";
export type { Visible } from "./visible.ts";
export type { Admission, Shown, Verdict } from "./worker-admission.ts";
export {
  credentialState,
  isRenewable,
  type NewWorkerCredential,
  OVERLAP_MS,
} from "./worker-credential.ts";
