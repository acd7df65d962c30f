/**
 * What the main thread and a runner say to each other. Messages travel in lists, in order. A copy
 * is what a runner holds of an execution; its number names it from its start until the runner
 * forgets it, also while it waits without a slot, and is never used again. Generations stay on the
 * main thread.
 */
import type { ErrorBody, Event, ExecutionLimits, Failure } from "@engine/contract";
import type {
  CheckpointReply,
  Delta,
  ExecutionInfo,
  ExecutionPort,
  LocalServices,
  TaskRights,
} from "@engine/sdk/node";

/**
 * Events in order, in pieces: each the JSON of an object whose `events` they are, as a server's
 * pages come. As text they cross in a fraction of the time a clone of events takes.
 */
export type LogText = readonly string[];

export interface StartMessage {
  readonly kind: "start";
  readonly copy: number;
  readonly info: ExecutionInfo;
  /** File of the bundle and its hash. */
  readonly module: { readonly path: string; readonly hash: string };
  /** SHA-256 of affinity and routing as they were registered; undefined: not known (EXE-69). */
  readonly placement?: string | null | undefined;
  /** The whole log. */
  readonly history: LogText;
  readonly limits: ExecutionLimits;
  /** Seconds that bodies get to end after a cancel. */
  readonly cancel_grace: number;
  readonly listen: boolean;
  /** Undefined: nobody's rights are checked. */
  readonly rights?: TaskRights | undefined;
}

/** Lets a copy that waits go on (RUN-4). */
export interface WakeMessage {
  readonly kind: "wake";
  readonly copy: number;
  /** What the log has gained since it began to wait. */
  readonly events: LogText;
  readonly listen: boolean;
  /** Undefined: nobody's rights are checked. */
  readonly rights?: TaskRights | undefined;
}

export type TaskServices = Required<ExecutionPort["services"]>;
export type Budget = NonNullable<ExecutionPort["budget"]>;
export type Services = TaskServices & Budget;

/** A call of {@link Services}: the runner asks, the main thread does it. */
export type ServiceRequest = {
  [Method in keyof Services]: {
    readonly method: Method;
    readonly args: Parameters<Services[Method]>;
  };
}[keyof Services];

export type ServiceAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorBody["error"] };

export type ToRunner =
  | StartMessage
  | WakeMessage
  | { readonly kind: "reply"; readonly copy: number; readonly reply: CheckpointReply }
  /** To the `request` with this id. */
  | {
      readonly kind: "answer";
      readonly copy: number;
      readonly id: number;
      readonly answer: ServiceAnswer;
    }
  | {
      readonly kind: "events";
      readonly copy: number;
      readonly base_seq: number;
      readonly events: readonly Event[];
    }
  | { readonly kind: "listen"; readonly copy: number; readonly on: boolean }
  | { readonly kind: "rights"; readonly copy: number; readonly rights: TaskRights }
  /** Ends a copy that runs, or is about to. */
  | { readonly kind: "stop"; readonly copy: number; readonly reason: string }
  /** Throws away a copy that waits, or is about to: its checkpoint that says so was accepted. */
  | { readonly kind: "forget"; readonly copy: number }
  /** Keeps functions of tasks from starting in all its copies, or lets them (WRK-8, WRK-12). */
  | { readonly kind: "hold"; readonly on: boolean }
  /** What the server's clock showed when the machine's clock that nobody sets was 0. */
  | { readonly kind: "clock"; readonly server_at_zero: number }
  /** Local sockets that task code may ask for from now on, in place of those said before (WMD-3). */
  | { readonly kind: "services"; readonly services: LocalServices }
  /** Asks for an `alive`: code that blocks the runner keeps it from answering (RUN-3). */
  | { readonly kind: "tick" };

export type FromRunner =
  /** The runner's program is loaded: what happens to it from now on is the doing of user code. */
  | { readonly kind: "ready" }
  /** To a `tick`. */
  | { readonly kind: "alive" }
  /** An input needs memory that is held by copies whose executions wait. */
  | { readonly kind: "crowded" }
  | { readonly kind: "delta"; readonly copy: number; readonly delta: Delta }
  | {
      readonly kind: "request";
      readonly copy: number;
      readonly id: number;
      readonly request: ServiceRequest;
    }
  /** One `ProgressItem` as JSON. */
  | { readonly kind: "progress"; readonly copy: number; readonly item: string }
  /** All that is left for the copy to do is to start functions that are held. */
  | { readonly kind: "stalled"; readonly copy: number }
  /** The copy is over. A copy that waits does not say so: it stays, and the log has told. */
  | { readonly kind: "ended"; readonly copy: number; readonly how: "terminal" | "stopped" }
  /** A copy that was to wake cannot go on with that log and is gone: it is to be started anew. */
  | { readonly kind: "cold"; readonly copy: number }
  /** The bundle does not load, or is not what was registered (LIV-6). */
  | { readonly kind: "unloadable"; readonly copy: number; readonly failure: Failure }
  /** The bundle's file could not be read here; its code may be sound. */
  | { readonly kind: "unreadable"; readonly copy: number; readonly why: string }
  | {
      readonly kind: "log";
      readonly level: "debug" | "warn" | "error";
      readonly message: string;
      readonly details: Record<string, unknown>;
    };
