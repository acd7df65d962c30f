// The contract's public surface, by subject. Adding a line makes something public.

// Names, time, values

export { AnyJson } from "./any-json.ts";
export { type Duration, parseDuration } from "./duration.ts";
export {
  type BuiltInCall,
  DEFAULT_NAMESPACE,
  isBuiltInCall,
  isName,
  NAME_RULE,
  nearest,
  parseWorkflowName,
} from "./name.ts";
export { envelopeText, referenceOf, StoredReference, storageOf } from "./stored-reference.ts";
export {
  formatEventTime,
  formatInstant,
  parseEventTime,
  parseInstant,
  parseUtcInstant,
} from "./time.ts";
export { createUuidV7 } from "./uuid-v7.ts";
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
} from "./value.ts";

// Errors and failures

export { EngineError, ERRORS, ErrorBody, type ErrorCode, notFound } from "./errors.ts";
export { ENGINE_FAILURES, type EngineFailureType, engineFailure, Failure } from "./failure.ts";
export { eventForCaller, placeOf, recordForCaller, withPlace } from "./failure-place.ts";
export { InputIssue, invalidField, invalidInput, unencodable } from "./invalid-input.ts";
export { KeptSignalLists } from "./kept-signal-lists.ts";
export {
  type FindKept,
  type KeptSignal,
  type KeptSignals,
  NO_SIGNALS,
  type SignalStep,
} from "./kept-signals.ts";

// Configuration

export { Config, databaseUrl } from "./config.ts";
export { type ConfigProblem, type ConfigSources, resolveConfig } from "./resolve-config.ts";

// Definitions of workflows and tasks

export { OPAQUE } from "./option-checks.ts";
export {
  checkTaskCopyOptions,
  checkTaskOptions,
  checkWorkflowOptions,
  isStaticOption,
  type OptionIssue,
  type OptionOwner,
} from "./options.ts";
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
export { Runner, RunnerOptions } from "./runner.ts";
export {
  DeclaredSchedule,
  declareSchedule,
  isScheduleBuilder,
  type ScheduleBuilder,
} from "./schedule-declaration.ts";
export { CacheKey } from "./task-cache.ts";

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

// Executions and their log

export { CallKind, Event, isOutcome, NewEvent } from "./event.ts";
export { ClaimReason, EVENT_TYPES, type EventType, Trigger } from "./event-values.ts";
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
  STATES,
  State,
  type TerminalState,
  Wait,
} from "./execution.ts";
export { History, toHistory } from "./history.ts";
export { RecordedEvent } from "./recorded-event.ts";
export { stateAfter } from "./transition.ts";
export type { CallStart } from "./wait-starts.ts";

// Rules of executions: what a change does to a row and its log

export { callStarts, callTooDeep, isCallStart } from "./call-rules.ts";
export type { Append, Change, Effect } from "./change.ts";
export {
  type Cancel,
  decideCancel,
  type EndTerms,
  failExecution,
  timeoutFailure,
} from "./ending-rules.ts";
export {
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
export { type Cut, createdLabel, forkHistory } from "./fork-rules.ts";
export {
  type Claimant,
  claimReason,
  createdExecution,
  decideClaim,
  type HandOver,
  type HandOverLoss,
  handOver,
  takeOver,
} from "./lifecycle-rules.ts";
export {
  type CheckpointSender,
  type CheckpointVerdict,
  decideCheckpoint,
  decideResume,
  type Resume,
  stale,
  unowned,
} from "./log-rules.ts";
export { blamed, type Suspicion, suspicionOf } from "./loss-rules.ts";
export { malformedCheckpoint } from "./malformed-checkpoint.ts";
export type { CallResolution, CallResolutions, NewExecution } from "./new-execution.ts";
export { patchOf } from "./row-patch.ts";
export { decideSignal, droppedSignals, type Signal, type SignalLimits } from "./signal-rules.ts";
export type { ResumeCause } from "./wait-rules.ts";
export { decideWake, type WaitsFor } from "./wake-rules.ts";

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
  type HeldStart,
  type SchedulePatch,
  type ScheduleRow,
  scheduleDueAt,
} from "./schedule-row.ts";
export { CatchUp, Overlap, ScheduleSpec } from "./schedule-spec.ts";

// Workers

export {
  Checkpoint,
  CheckpointAccepted,
  CheckpointAnswer,
  CheckpointItem,
  ItemRefused,
} from "./checkpoint.ts";
export { clockNews, isClockOff } from "./clock-offset.ts";
export {
  PROGRESS_QUEUE_LIMIT,
  PROGRESS_VALUE_BYTES,
  ProgressAccepted,
  ProgressBatch,
  ProgressItem,
  TaskProgress,
} from "./progress.ts";
export { ReleaseAnswer, ReleaseItem, ReleaseReason } from "./release.ts";
export {
  Connect,
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
  WorkerPackage,
  WorkerRegistered,
  WorkerRegistration,
  WorkerResources,
} from "./worker.ts";
export { Assignment, EventPage, WorkerFrame } from "./worker-frame.ts";
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

// The wire

export { type DocumentInfo, openApiDocument } from "./openapi.ts";
export { type Permission, permissionText } from "./permission.ts";
export {
  type Answer,
  type Input,
  isRaw,
  type Output,
  type Parsed,
  type RawAnswer,
  type Route,
} from "./route.ts";
export { RunMode } from "./routes/execution-queries.ts";
export { groupTitles, routes } from "./routes.ts";
export { type SseFrame, sseComment, sseText } from "./sse.ts";
