/**
 * What the main thread and a runner say to each other. Messages travel in lists, in order. A copy
 * is one attempt of this worker to run an execution; its number is never used again, so a message
 * for a copy that is gone finds nobody. Generations stay on the main thread.
 */
import type { Event, ExecutionLimits, Failure } from "@engine/contract";
import type { CheckpointReply, Delta, Ended, ExecutionInfo } from "@engine/sdk/node";

export interface StartMessage {
  readonly kind: "start";
  readonly copy: number;
  readonly info: ExecutionInfo;
  /** File of the bundle and its hash. */
  readonly module: { readonly path: string; readonly hash: string };
  /** The whole log as JSON: as text it crosses in a fraction of the time a clone of events takes. */
  readonly history: string;
  readonly limits: ExecutionLimits;
  readonly listen: boolean;
}

export type ToRunner =
  | StartMessage
  | { readonly kind: "reply"; readonly copy: number; readonly reply: CheckpointReply }
  | {
      readonly kind: "events";
      readonly copy: number;
      readonly base_seq: number;
      readonly events: readonly Event[];
    }
  | { readonly kind: "listen"; readonly copy: number; readonly on: boolean }
  | { readonly kind: "stop"; readonly copy: number; readonly reason: string };

export type FromRunner =
  /** The runner's program is loaded: what happens to it from now on is the doing of user code. */
  | { readonly kind: "ready" }
  | { readonly kind: "delta"; readonly copy: number; readonly delta: Delta }
  /** One `ProgressItem` as JSON. */
  | { readonly kind: "progress"; readonly copy: number; readonly item: string }
  | { readonly kind: "ended"; readonly copy: number; readonly how: Ended }
  /** The bundle does not load, or is not what was registered (LIV-6). */
  | { readonly kind: "unloadable"; readonly copy: number; readonly failure: Failure }
  | {
      readonly kind: "log";
      readonly level: "debug" | "warn" | "error";
      readonly message: string;
      readonly details: Record<string, unknown>;
    };
