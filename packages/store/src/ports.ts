import {
  type AnyOperations,
  type Desk,
  kindsOf,
  type Operations,
  portOn,
} from "./operations/operation.ts";
import { ACTING, type ActingPort } from "./ports/acting.ts";
import { AUDIT, type AuditPort } from "./ports/audit.ts";
import { BEATS, type BeatPort } from "./ports/beats.ts";
import { CATALOG, type CatalogPort } from "./ports/catalog.ts";
import { CONFIGS, type ConfigPort } from "./ports/configs.ts";
import { DELIVERIES, type DeliveryPort } from "./ports/deliveries.ts";
import { ENCRYPTION, type EncryptionPort } from "./ports/encryption.ts";
import { EPOCHS, type EpochPort } from "./ports/epochs.ts";
import { EXECUTION_KEYS, type ExecutionKeyPort } from "./ports/execution-keys.ts";
import { EXECUTIONS, type ExecutionPort } from "./ports/executions.ts";
import { FORGOTTEN_VALUES, type ForgottenValuePort } from "./ports/forgotten-values.ts";
import { HOOKS, type HookPort } from "./ports/hooks.ts";
import { IDENTITIES, type IdentityPort } from "./ports/identities.ts";
import { JOIN_TOKENS, type JoinTokenPort } from "./ports/join-tokens.ts";
import { KEYS, type KeyPort } from "./ports/keys.ts";
import { LIMITS, type LimitPort } from "./ports/limits.ts";
import { LOG, type LogPort } from "./ports/log.ts";
import { MASKS, type MaskPort } from "./ports/masks.ts";
import type { Kinds } from "./ports/port.ts";
import { PRINCIPAL_REFS, type PrincipalRefPort } from "./ports/principal-refs.ts";
import { PRINCIPALS, type PrincipalPort } from "./ports/principals.ts";
import { QUEUE, type QueuePort } from "./ports/queue.ts";
import { REPLICAS, type ReplicaPort } from "./ports/replicas.ts";
import { RETENTION, type RetentionPort } from "./ports/retention.ts";
import { ROLES, type RolePort } from "./ports/roles.ts";
import { SCHEDULES, type SchedulePort } from "./ports/schedules.ts";
import { SECRETS, type SecretPort } from "./ports/secrets.ts";
import { SERVICES, type ServicePort } from "./ports/services.ts";
import { SESSIONS, type SessionPort } from "./ports/sessions.ts";
import { TASK_CACHE, type TaskCachePort } from "./ports/task-cache.ts";
import { WORKER_CREDENTIALS, type WorkerCredentialPort } from "./ports/worker-credentials.ts";
import { WORKERS, type WorkerPort } from "./ports/workers.ts";

/** Domains whose operations are written once for both databases. */
export interface SharedPorts {
  readonly catalog: CatalogPort;
  readonly schedules: SchedulePort;
  readonly sessions: SessionPort;
  readonly beats: BeatPort;
  readonly workers: WorkerPort;
  readonly cache: TaskCachePort;
  readonly forgottenValues: ForgottenValuePort;
  readonly queue: QueuePort;
  readonly epochs: EpochPort;
  readonly principalRefs: PrincipalRefPort;
  readonly acting: ActingPort;
  readonly audit: AuditPort;
  readonly identities: IdentityPort;
  readonly principals: PrincipalPort;
  readonly roles: RolePort;
  readonly keys: KeyPort;
  readonly workerCredentials: WorkerCredentialPort;
  readonly joinTokens: JoinTokenPort;
  readonly secrets: SecretPort;
  readonly masks: MaskPort;
  readonly configs: ConfigPort;
  readonly encryption: EncryptionPort;
  readonly executionKeys: ExecutionKeyPort;
  readonly services: ServicePort;
  readonly limits: LimitPort;
  readonly hooks: HookPort;
  readonly deliveries: DeliveryPort;
}

const SHARED: { readonly [Port in keyof SharedPorts]: Operations<SharedPorts[Port]> } = {
  catalog: CATALOG,
  schedules: SCHEDULES,
  sessions: SESSIONS,
  beats: BEATS,
  workers: WORKERS,
  cache: TASK_CACHE,
  forgottenValues: FORGOTTEN_VALUES,
  queue: QUEUE,
  epochs: EPOCHS,
  principalRefs: PRINCIPAL_REFS,
  acting: ACTING,
  audit: AUDIT,
  identities: IDENTITIES,
  principals: PRINCIPALS,
  roles: ROLES,
  keys: KEYS,
  workerCredentials: WORKER_CREDENTIALS,
  joinTokens: JOIN_TOKENS,
  secrets: SECRETS,
  masks: MASKS,
  configs: CONFIGS,
  encryption: ENCRYPTION,
  executionKeys: EXECUTION_KEYS,
  services: SERVICES,
  limits: LIMITS,
  hooks: HOOKS,
  deliveries: DELIVERIES,
};

/** What a store keeps, by domain. What is hot, or of one database alone, each database has in its own SQL. */
export interface Ports extends SharedPorts {
  readonly executions: ExecutionPort;
  readonly log: LogPort;
  readonly retention: RetentionPort;
  readonly replicas: ReplicaPort;
}

/** How each method of each port is asked. */
export const PORTS: { readonly [Port in keyof Ports]: Kinds<Ports[Port]> } = {
  ...(eachShared((_, operations) => kindsOf(operations)) as KindsOfShared),
  executions: EXECUTIONS,
  log: LOG,
  retention: RETENTION,
  replicas: REPLICAS,
};

type KindsOfShared = { readonly [Port in keyof SharedPorts]: Kinds<SharedPorts[Port]> };

/** The shared ports on a database, each of which has a desk of its own there. */
export function sharedPorts(deskOf: (port: keyof SharedPorts) => Desk): SharedPorts {
  return eachShared((port, operations) => portOn(deskOf(port), operations)) as SharedPorts;
}

/** Port by port, without their types: what is made of each has the same methods again. */
function eachShared(
  make: (port: keyof SharedPorts, operations: AnyOperations) => unknown,
): unknown {
  const made = Object.entries(SHARED).map(([port, operations]) => [
    port,
    make(port as keyof SharedPorts, operations),
  ]);
  return Object.fromEntries(made);
}
