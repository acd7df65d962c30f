import type { CacheKey } from "../definitions/task-cache.ts";
import type { Event } from "../log/event.ts";
import type { StoredReference } from "../values/stored-reference.ts";
import type { Json } from "../values/value.ts";
import type { CheckpointAnswer, CheckpointItem } from "./checkpoint.ts";
import type { ProgressAccepted, ProgressBatch } from "./progress.ts";
import type { ReleaseAnswer, ReleaseItem } from "./release.ts";
import type { ExecutionToken } from "./task-authz.ts";
import type {
  Heartbeat,
  HeartbeatAnswer,
  Holding,
  Poll,
  WorkerRegistered,
  WorkerRegistration,
} from "./worker.ts";
import type { WorkerFrame } from "./worker-frame.ts";

/** Who calls: the worker's name and the session secret that registration answered. */
export interface SessionRef {
  readonly worker: string;
  readonly session: string;
}

/** The open stream of a session. */
export interface WorkerConnection {
  /** Ends the stream from the worker's side; the session goes on. */
  close(): void;
  /** Settles when the stream has ended, from either side. Never rejects. */
  readonly closed: Promise<void>;
}

/** A key of the task cache, in the namespace of the execution that asks. */
export type OwnCacheKey = Omit<CacheKey, "namespace">;

/** Names that a task asks for, under the claim of its execution. */
interface AskedValues<Task> {
  readonly generation: number;
  readonly task: Task;
  readonly names: readonly string[];
}

type NamedValues = Readonly<Record<string, Json>>;

/**
 * Everything a worker asks of a server. The server implements it; HTTP routes carry it to remote
 * workers, and a worker in the server's own process calls it as it is. What the server refuses
 * rejects with EngineError. Its code `unavailable`, and anything that is no EngineError, is trouble
 * on the way: the call may be made again.
 */
export interface WorkerProtocol {
  register(registration: WorkerRegistration): Promise<WorkerRegistered>;
  /**
   * Opens the stream. Frames arrive one at a time and in order, `welcome` first; a second connect
   * of a session ends the first.
   */
  connect(
    ref: SessionRef,
    running: readonly Holding[],
    onFrame: (frame: WorkerFrame) => void,
  ): Promise<WorkerConnection>;
  heartbeat(ref: SessionRef, heartbeat: Heartbeat): Promise<HeartbeatAnswer>;
  /**
   * A heartbeat that answers with frames, as soon as there is one, or with none after its wait. Each
   * poll is reconciled as a connect is (WRK-9, WRK-10); a second one of a session ends the first.
   */
  poll(ref: SessionRef, poll: Poll): Promise<readonly WorkerFrame[]>;
  /** Answers in the order of the items, after the commit that holds them (CKP-4, CKP-5). */
  checkpoints(
    ref: SessionRef,
    items: readonly CheckpointItem[],
  ): Promise<readonly CheckpointAnswer[]>;
  release(ref: SessionRef, items: readonly ReleaseItem[]): Promise<readonly ReleaseAnswer[]>;
  progress(ref: SessionRef, execution_id: string, batch: ProgressBatch): Promise<ProgressAccepted>;
  /** The bundle with this hash, if one of the session's executions runs it. */
  module(ref: SessionRef, hash: string): Promise<string>;
  /** A page of the log of an execution the session owns, oldest first, at most 1,000 events. */
  events(
    ref: SessionRef,
    execution_id: string,
    page: { generation: number; after: number; limit: number },
  ): Promise<{ events: readonly Event[]; head: number }>;
  /**
   * Keeps a value of an execution the session owns outside its log; safe to repeat (EXE-49). A hidden
   * one is kept encrypted (SEC-9).
   */
  saveValue(
    ref: SessionRef,
    execution_id: string,
    value: { generation: number; text: string; hidden?: boolean | undefined },
  ): Promise<StoredReference>;
  /**
   * The text of a value of an execution the session owns, or of another one's that its log names: a
   * child's output, what a fork took over.
   */
  loadValue(
    ref: SessionRef,
    execution_id: string,
    value: { generation: number; reference_id: string },
  ): Promise<string>;
  /** The stored text of a task's output; null when nothing is kept (EXE-49a). */
  cacheLookup(
    ref: SessionRef,
    execution_id: string,
    asked: { generation: number; key: OwnCacheKey },
  ): Promise<{ text: string | null }>;
  cacheKeep(
    ref: SessionRef,
    execution_id: string,
    entry: { generation: number; key: OwnCacheKey; text: string; ttl_ms: number },
  ): Promise<void>;
  /**
   * A new token for an execution the session owns (AUTH-42); earlier ones stay valid until they expire.
   * Rejects `not_found` with authorization off.
   */
  executionToken(
    ref: SessionRef,
    execution_id: string,
    of: { generation: number },
  ): Promise<ExecutionToken>;
  /**
   * Secrets that a task of an execution the session owns declares, or its workflow, by name (SEC-6).
   * Rejects `permission_denied` for names that it does not declare (`details.undeclared`), `not_found`
   * for those that do not exist (`details.names`).
   */
  secrets(ref: SessionRef, execution_id: string, asked: AskedValues<string>): Promise<NamedValues>;
  /** The same of configs; without a task for the workflow's own code, which may ask for any. */
  configs(
    ref: SessionRef,
    execution_id: string,
    asked: AskedValues<string | null>,
  ): Promise<NamedValues>;
  disconnect(ref: SessionRef): Promise<void>;
}
