// The contract's public surface, by subject. Adding a line makes something public.

// Names, time, values

export { AnyJson } from "./values/any-json.ts";
export { type Duration, parseDuration } from "./values/duration.ts";
export {
  DEFAULT_NAMESPACE,
  isBuiltInCall,
  isName,
  NAME_RULE,
  nearest,
  parseWorkflowName,
} from "./values/name.ts";
export { SENSITIVE, withoutMessage } from "./values/sensitive.ts";
export {
  envelopeText,
  referenceOf,
  StoredReference,
  storageOf,
} from "./values/stored-reference.ts";
export {
  formatEventTime,
  formatInstant,
  parseEventTime,
  parseInstant,
  parseUtcInstant,
} from "./values/time.ts";
export { createUuidV7 } from "./values/uuid-v7.ts";
export {
  decode,
  type Encoded,
  encode,
  type Json,
  MAX_VALUE_DEPTH,
  peek,
  RICH,
  STORED,
  type Stored,
  store,
  toPlain,
  UnencodableValue,
} from "./values/value.ts";

// Who asks, and what they may do

export { ApiKeyRecord, CreatedApiKey, NewApiKey } from "./auth/api-key.ts";
export { type AuditEntry, AuditRecord } from "./auth/audit.ts";
export { type AuthSwitch, authContradictions, authSwitch } from "./auth/auth-switch.ts";
export { commonGrants } from "./auth/common-grants.ts";
export { executePermission } from "./auth/execute-permission.ts";
export { grantWarnings, PERMISSION_FAMILIES } from "./auth/families.ts";
export {
  covers,
  Grant,
  gives,
  type Rights,
  rightsInBoth,
  rightsOf,
  type Seen,
} from "./auth/grants.ts";
export {
  Credential,
  CredentialKind,
  ENGINE_ISSUER,
  type Identity,
  PrincipalRef,
  PrincipalType,
  WORKER_ISSUER,
} from "./auth/principal.ts";
export { NewPrincipal, PrincipalChanges, PrincipalRecord } from "./auth/principal-record.ts";
export { NewRole, RoleChanges, RoleRecord } from "./auth/role-record.ts";
export { BUILT_IN_ROLES, type BuiltInRole, isBuiltInRole } from "./auth/roles.ts";

// Errors and failures

export { EngineError, ERRORS, ErrorBody, type ErrorCode, notFound } from "./errors/errors.ts";
export {
  ENGINE_FAILURES,
  type EngineFailureType,
  engineFailure,
  Failure,
} from "./errors/failure.ts";
export { eventForCaller, placeOf, recordForCaller, withPlace } from "./errors/failure-place.ts";
export { InputIssue, invalidField, invalidInput, unencodable } from "./errors/invalid-input.ts";
export { KeptSignalLists } from "./executions/kept-signal-lists.ts";
export {
  type FindKept,
  type KeptSignal,
  type KeptSignals,
  NO_SIGNALS,
  type SignalStep,
} from "./executions/kept-signals.ts";

// Configuration

export { Config, databaseUrl } from "./config/config.ts";
export { type MetricsProvider, parseMetricsProvider } from "./config/metrics-provider.ts";
export { resolveConfig } from "./config/resolve-config.ts";

// Definitions of workflows and tasks

export { declaredHooks, type HookOwner } from "./definitions/hook-options.ts";
export { OPAQUE } from "./definitions/option-checks.ts";
export {
  checkTaskCopyOptions,
  checkTaskOptions,
  checkWorkflowOptions,
  isStaticOption,
  type OptionIssue,
  type OptionOwner,
} from "./definitions/options.ts";
export { parseResourceAmount } from "./definitions/resource-amount.ts";
export {
  largestRequests,
  parsePackageRequest,
  ResourceRequests,
  resourceRequests,
  TaskRequests,
  taskRequests,
} from "./definitions/resource-requests.ts";
export { Runner, RunnerOptions } from "./definitions/runner.ts";
export { CacheKey } from "./definitions/task-cache.ts";
export { NearWorker, Why, WhyCode, WhyReason } from "./executions/why.ts";
export {
  DeclaredSchedule,
  declareSchedule,
  isScheduleBuilder,
  type ScheduleBuilder,
} from "./schedules/schedule-declaration.ts";

// Where executions may go, and had better go

export {
  LimitDetails,
  LimitName,
  LimitRate,
  LimitRecord,
  NewLimit,
} from "./limits/limit.ts";
export {
  isAttributeKey,
  isKeyHead,
  isServiceName,
  KEY_LENGTH,
  keyRule,
  SERVICE_PREFIX,
  SERVICE_RULE,
} from "./routing/attribute-keys.ts";
export {
  buildComparison,
  buildRouting,
  isCompareOp,
  isRoutingBuilder,
  type RoutingBuild,
  type RoutingBuilder,
} from "./routing/build.ts";
export type { BuildIssue } from "./routing/builder-arguments.ts";
export {
  type DeclaredOptions,
  declaredOptions,
  placementText,
} from "./routing/declared-options.ts";
export {
  EligibleWorker,
  PlacementAnswer,
  PlacementQuestion,
  RejectedWorker,
} from "./routing/dry-run.ts";
export {
  Affinity,
  AffinityTerm,
  type AttributeSelector,
  type CompareOp,
  type Comparison,
  type Constant,
  FairnessDeclaration,
  type InputCondition,
  LimitDeclaration,
  type MatchTerm,
  type Operand,
  type PlainScoreTerm,
  type RankedSelector,
  RESOURCE_FIELDS,
  type ResourceField,
  RoutingPolicy,
  type ScoreTerm,
  type Selector,
  ValueRef,
  type WorkerCondition,
} from "./routing/expression.ts";
export {
  pathsOfFairness,
  type ResolvedFairness,
  resolveFairness,
} from "./routing/fairness.ts";
export {
  type BucketView,
  bucketView,
  type ConcurrencyDenial,
  concurrencyLimited,
  concurrencyLimitedCall,
  type LimitDenial,
  type LimitedExecution,
  limitDetails,
  limitsOf,
  pathsOfLimits,
  type ResolvedLimits,
  resolveLimits,
} from "./routing/limits.ts";
export { holds, type WorkerAttributes } from "./routing/match.ts";
export type {
  AttributeNeed,
  HiddenPlacement,
  Need,
  Placement,
  Preference,
  ResolvedLimit,
  TurnShare,
  WorkerComparison,
  WorkerSelector,
} from "./routing/needs.ts";
export { pickPaths } from "./routing/pick-paths.ts";
export { printNeed, printPreference, printTerm } from "./routing/print.ts";
export {
  printAffinity,
  printFairness,
  printLimit,
  printRouting,
} from "./routing/print-options.ts";
export { type PlacementInputs, readValue, textOf } from "./routing/read-value.ts";
export { readsRoutingInput } from "./routing/refs.ts";
export {
  type DeclaredPlacement,
  pathsRead,
  type ResolvedPlacement,
  resolvePlacement,
} from "./routing/resolve.ts";
export {
  type CheckedRoutingInput,
  checkRoutingInput,
  hasRoutingInput,
  parseRoutingInput,
  ROUTING_INPUT_HEADER,
  type RoutingInput,
  type RoutingInputFault,
  RoutingInputField,
  type RoutingValue,
  routingHeaderText,
  routingInputFault,
} from "./routing/routing-input.ts";
export { type RankedWorker, type Score, scoresOf } from "./routing/score.ts";

// Catalog

export {
  type Durability,
  ExtractedWorkflow,
  Registered,
  Registration,
  type Risk,
  SourceFile,
  SourceIssue,
  TaskRecord,
  WorkflowRecord,
} from "./definitions/catalog.ts";

// Executions and their log

export {
  BasicExecution,
  ExecutionError,
  ExecutionRecord,
  ExecutionSummary,
  executionError,
  failureOf,
  InspectedExecution,
  isTerminal,
  OpenPause,
  State,
  type TerminalState,
  Wait,
} from "./executions/execution.ts";
export { CallKind, Event, isOutcome, NewEvent, revealed, SentEvent } from "./log/event.ts";
export { ClaimReason, EVENT_TYPES, type EventType, Trigger } from "./log/event-values.ts";
export { History, toHistory } from "./log/history.ts";
export { RecordedEvent } from "./log/recorded-event.ts";
export type { CallStart } from "./log/wait-starts.ts";
export { stateAfter } from "./rules/transition.ts";

// Rules of executions: what a change does to a row and its log

export {
  type CancelCause,
  type ExecutionPatch,
  type ExecutionRow,
  hasLazyInput,
  isParked,
  isQueued,
  type Loss,
  type LossReason,
  type OpenWait,
  PATCHABLE,
  patched,
  type Requirements,
  withLazyInput,
} from "./executions/execution-row.ts";
export type { CallResolution, CallResolutions, NewExecution } from "./executions/new-execution.ts";
export { callStarts, callTooDeep, isCallStart } from "./rules/call-rules.ts";
export type { Change, Effect } from "./rules/change.ts";
export {
  consequencesOf,
  creation,
  type EffectSource,
  idTaken,
  NO_EFFECTS,
  type Touched,
  touch,
  untouched,
} from "./rules/consequences.ts";
export {
  type Cancel,
  decideCancel,
  failExecution,
  timeoutFailure,
} from "./rules/ending-rules.ts";
export { createdLabel, forkHistory } from "./rules/fork-rules.ts";
export {
  type Claimant,
  claimReason,
  createdExecution,
  decideClaim,
  type HandOver,
  type HandOverLoss,
  handOver,
  takeOver,
} from "./rules/lifecycle-rules.ts";
export {
  type CheckpointSender,
  type CheckpointVerdict,
  decideCheckpoint,
  decideResume,
  stale,
  unowned,
} from "./rules/log-rules.ts";
export { blamed, type Suspicion, suspicionOf } from "./rules/loss-rules.ts";
export { malformedCheckpoint } from "./rules/malformed-checkpoint.ts";
export { MemoryExecutions, type Written } from "./rules/memory-executions.ts";
export { patchOf } from "./rules/row-patch.ts";
export {
  decideSignal,
  droppedSignals,
} from "./rules/signal-rules.ts";
export { decideWake, type WaitsFor } from "./rules/wake-rules.ts";

// Hooks

export { envelopeTexts } from "./hooks/build-envelope.ts";
export { DeclaredHook } from "./hooks/declared-hook.ts";
export {
  type DeliveryDraft,
  deliveriesOf,
  type HookedChange,
  type HookedExecution,
} from "./hooks/deliveries.ts";
export {
  DeadReason,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryRetry,
  DeliveryStatus,
  DetailedDelivery,
  HookTest,
  RetriedDeliveries,
  TestedHook,
} from "./hooks/delivery.ts";
export type { DeliveryGuard } from "./hooks/delivery-guard.ts";
export {
  EnvelopeEvent,
  HookEnvelope,
  type Omitted,
  readEnvelope,
  withAttempt,
  withoutEventValue,
} from "./hooks/envelope.ts";
export { type EnvelopeOptions, envelopeValue, type RedactJson } from "./hooks/envelope-value.ts";
export {
  DetailedHook,
  HookName,
  HookOwnerType,
  HookProblem,
  HookQuery,
  HookRecord,
  HookStatus,
  HookUpdate,
  LONGEST_SELECTOR,
  MOST_HOOK_SELECTORS,
  NewHook,
} from "./hooks/hook.ts";
export {
  deliveryId,
  eventKey,
  hookExecutionId,
  isDeliveryId,
  type Sha256,
} from "./hooks/hook-ids.ts";
export {
  type EnabledHook,
  type EventKey,
  HookIndex,
  type HookMatch,
  NO_HOOKS,
} from "./hooks/hook-index.ts";
export { HOOK_NAME_PATTERN, HOOK_NAME_RULE, RESERVED_HOOK_NAME } from "./hooks/hook-name.ts";
export {
  type ClaimedOrigin,
  claimedOrigin,
  type HookLineage,
  type HookStart,
  hopAfter,
  lineageOf,
  type NamedDelivery,
} from "./hooks/lineage.ts";
export {
  type HookSelector,
  parseHookSelector,
  parseHookSelectors,
  type SelectorReason,
  type SelectorRefusal,
  sameSelectors,
} from "./hooks/selector.ts";
export { testDeliveryId, testEnvelope, testedSelector } from "./hooks/test-envelope.ts";
export {
  type EventSegment,
  eventSegment,
  HOOK_DOMAINS,
  HOOK_SEGMENTS,
  type HookDomain,
} from "./hooks/vocabulary.ts";

// Schedules

export {
  NewSchedule,
  Schedule,
  ScheduleChanges,
  ScheduleRun,
  ScheduleSource,
  ScheduleStatus,
} from "./schedules/schedule.ts";
export {
  type SchedulePatch,
  type ScheduleRow,
  scheduleDueAt,
} from "./schedules/schedule-row.ts";
export { CatchUp, Overlap, ScheduleSpec } from "./schedules/schedule-spec.ts";

// Values that are kept for tasks

export {
  ConfigRecord,
  ConfigValue,
  EncryptionStatus,
  MAX_SECRET_BYTES,
  SecretName,
  SecretRecord,
  SecretValue,
  ShownConfig,
  ShownSecret,
} from "./secrets/secret.ts";

// Services

export {
  MOST_SELECTORS,
  NameCollision,
  NewService,
  ResolvedService,
  ResourceMetadata,
  SERVICE_NAME_PATTERN,
  SERVICE_NAME_RULE,
  ServiceChanges,
  ServiceEndpoint,
  ServiceRecord,
  ServiceRun,
  ServiceTool,
  ServiceTools,
  ToolKind,
} from "./services/service.ts";

// Workers

export {
  Checkpoint,
  CheckpointAccepted,
  CheckpointAnswer,
  CheckpointItem,
} from "./workers/checkpoint.ts";
export { clockNews, isClockOff } from "./workers/clock-offset.ts";
export { CreatedJoinToken, JoinTokenRecord, NewJoinToken } from "./workers/join-token.ts";
export {
  PROGRESS_QUEUE_LIMIT,
  PROGRESS_VALUE_BYTES,
  ProgressAccepted,
  ProgressBatch,
  ProgressItem,
  TaskProgress,
} from "./workers/progress.ts";
export { ReleaseAnswer, ReleaseItem, ReleaseReason } from "./workers/release.ts";
export { ExecutionToken, NOT_ENFORCED, TaskAuthz } from "./workers/task-authz.ts";
export {
  DispatchMode,
  ExecutionLimits,
  Heartbeat,
  HeartbeatAnswer,
  Holding,
  Labels,
  Poll,
  SESSION_HEADER,
  WORKER_PROTOCOL,
  WorkerActivity,
  WorkerCredential,
  WorkerName,
  WorkerPackage,
  WorkerRegistered,
  WorkerRegistration,
  WorkerResources,
} from "./workers/worker.ts";
export {
  type ChangeAttributes,
  grantedServices,
  labelsWithGrants,
  Metadata,
  NewMetadata,
  type OperatorAttributes,
  WorkerMetadata,
  WorkerServices,
  withGrants,
  withMetadata,
  withoutGrant,
  withoutMetadata,
} from "./workers/worker-attributes.ts";
export { Assignment, EventPage, WorkerFrame } from "./workers/worker-frame.ts";
export {
  BUILTIN_METRICS,
  type BuiltinMetricName,
  METRIC_PREFIX,
  METRIC_WINDOW,
  type ReadMetrics,
  readCustomMetrics,
  WorkerMetrics,
} from "./workers/worker-metrics.ts";
export type {
  OwnCacheKey,
  SessionRef,
  WorkerConnection,
  WorkerProtocol,
} from "./workers/worker-protocol.ts";
export {
  DetailedWorkerRecord,
  ReservedResources,
  WorkerRecord,
  WorkerStatus,
} from "./workers/worker-record.ts";

// The wire

export { RunMode } from "./routes/execution-queries.ts";
export { PENDING_DROPPED_HEADER } from "./routes/hooks.ts";
export { isLoopbackHost } from "./wire/loopback.ts";
export { openApiDocument } from "./wire/openapi.ts";
export { type Permission, permissionText } from "./wire/permission.ts";
export {
  type Answer,
  type Input,
  isRaw,
  type Output,
  type Parsed,
  type RawAnswer,
  type Route,
} from "./wire/route.ts";
export { groupTitles, routes } from "./wire/routes.ts";
export { type SseFrame, sseComment, sseHead, sseText } from "./wire/sse.ts";
