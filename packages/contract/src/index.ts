// The contract's public surface, by subject. Adding a line makes something public.

// Executions and their log
export { callStarts } from "./call-rules.ts";
// Catalog
export {
  type Durability,
  ExtractedWorkflow,
  Name,
  Namespace,
  Registered,
  Registration,
  type Risk,
  SourceFile,
  SourceIssue,
  TaskRecord,
  WorkflowRecord,
} from "./catalog.ts";
export type { Append, Change, Effect } from "./change.ts";
// Configuration
export {
  Config,
  type ConfigProblem,
  type ConfigSources,
  databaseUrl,
  resolveConfig,
} from "./config.ts";
export { type Duration, parseDuration } from "./duration.ts";
export {
  type Cancel,
  decideCancel,
  failExecution,
  timeoutFailure,
} from "./ending-rules.ts";
// Errors and failures
export {
  EngineError,
  ERRORS,
  ErrorBody,
  type ErrorCode,
  notFound,
} from "./errors.ts";
export {
  CallKind,
  Event,
  isOutcome,
  NewEvent,
} from "./event.ts";
export { ClaimReason, EVENT_TYPES, type EventType, Trigger } from "./event-values.ts";
export {
  BasicExecution,
  ExecutionError,
  ExecutionRecord,
  ExecutionSummary,
  executionError,
  InspectedExecution,
  isTerminal,
  OpenPause,
  STATES,
  State,
  type TerminalState,
  Wait,
} from "./execution.ts";
export {
  type BufferedSignal,
  type CancelCause,
  type ExecutionPatch,
  type ExecutionRow,
  isParked,
  isQueued,
  type Loss,
  type LossReason,
  type OpenWait,
  patched,
  type Requirements,
  type Watcher,
} from "./execution-row.ts";
export { ENGINE_FAILURES, type EngineFailureType, engineFailure, Failure } from "./failure.ts";
export { type Cut, forkHistory } from "./fork-rules.ts";
export { History, toHistory } from "./history.ts";
export { InputIssue, invalidInput } from "./invalid-input.ts";
export {
  type Claimant,
  claimReason,
  createdExecution,
  decideClaim,
  type HandOver,
  handOver,
  takeOver,
} from "./lifecycle-rules.ts";
// The wire
export { listOf, paging, QueryFlag } from "./list.ts";
export {
  type CheckpointSender,
  type CheckpointVerdict,
  decideCheckpoint,
  decideResume,
  type Resume,
  stale,
  unowned,
} from "./log-rules.ts";
export { malformedCheckpoint } from "./malformed-checkpoint.ts";
// Names, time, values
export {
  BUILT_IN_CALLS,
  type BuiltInCall,
  DEFAULT_NAMESPACE,
  isBuiltInCall,
  isName,
  NAME_PATTERN,
  NAME_RULE,
  nearest,
} from "./name.ts";
export type { CallResolution, CallResolutions, NewExecution } from "./new-execution.ts";
export { openApiDocument } from "./openapi.ts";
export {
  checkTaskCopyOptions,
  checkTaskOptions,
  checkWorkflowOptions,
  isStaticOption,
  OPAQUE,
  type OptionIssue,
  type OptionOwner,
} from "./options.ts";
export { type Permission, permissionText } from "./permission.ts";
export { PROGRESS_QUEUE_LIMIT, PROGRESS_VALUE_BYTES, TaskProgress } from "./progress.ts";
export { RecordedEvent } from "./recorded-event.ts";
export { parseResourceAmount } from "./resource-amount.ts";
export {
  largestRequests,
  type PackageRequest,
  parsePackageRequest,
  ResourceRequests,
  resourceRequests,
  TaskRequests,
  taskRequests,
} from "./resource-requests.ts";
export {
  type Answer,
  type Input,
  isRaw,
  type Output,
  type Parsed,
  type RawAnswer,
  type Route,
} from "./route.ts";
export { RunMode } from "./routes/executions.ts";
export { routes } from "./routes.ts";
export { type CallStart, isCallStart, patchOf, wakeAt } from "./row-patch.ts";
export { Runner, RunnerOptions } from "./runner.ts";
// Schedules
export {
  NewSchedule,
  Schedule,
  ScheduleChanges,
  ScheduleRun,
  ScheduleSource,
  ScheduleStatus,
} from "./schedule.ts";
export {
  DeclaredSchedule,
  declareSchedule,
  isScheduleBuilder,
  type ScheduleBuilder,
} from "./schedule-declaration.ts";
export {
  type HeldStart,
  type SchedulePatch,
  type ScheduleRow,
  scheduleDueAt,
} from "./schedule-row.ts";
export { CatchUp, Overlap, ScheduleSpec } from "./schedule-spec.ts";
export { decideSignal, type Signal, unconsumedSignals } from "./signal-rules.ts";
export { type SseFrame, sseComment, sseText } from "./sse.ts";
export { envelopeText, referenceOf, StoredReference } from "./stored-reference.ts";
export { CacheKey } from "./task-cache.ts";
export { formatEventTime, formatInstant, parseEventTime, parseInstant } from "./time.ts";
export { handOverState, nextState, stateAfter } from "./transition.ts";
export { createUuidV7 } from "./uuid-v7.ts";
export {
  decode,
  type Encoded,
  encode,
  type Json,
  type Stored,
  store,
  toPlain,
  UnencodableValue,
} from "./value.ts";
export { NOTHING, type ResumeCause } from "./wait-rules.ts";
export { decideWake, type WaitsFor } from "./wake-rules.ts";
// Workers and progress
export {
  Assignment,
  Checkpoint,
  CheckpointAccepted,
  CheckpointAnswer,
  CheckpointItem,
  Connect,
  DispatchMode,
  EventPage,
  ExecutionLimits,
  Heartbeat,
  HeartbeatAnswer,
  Holding,
  ItemRefused,
  Labels,
  Poll,
  ProgressAccepted,
  ProgressBatch,
  ProgressItem,
  ReleaseAnswer,
  ReleaseItem,
  ReleaseReason,
  SESSION_HEADER,
  WORKER_PROTOCOL,
  WorkerActivity,
  WorkerFrame,
  WorkerPackage,
  WorkerRegistered,
  WorkerRegistration,
  WorkerResources,
} from "./worker.ts";
export type {
  OwnCacheKey,
  SessionRef,
  WorkerConnection,
  WorkerProtocol,
} from "./worker-protocol.ts";
export {
  DetailedWorkerRecord,
  ReservedResources,
  WorkerRecord,
  WorkerStatus,
} from "./worker-record.ts";
