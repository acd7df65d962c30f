/**
 * Runners hand over and take JSON text, and so does a remote server. A link that passes text on as it
 * is saves parsing and printing every event again; the server's own handler object deals in parsed
 * items, which costs the one parse that the body of a request would have cost.
 */
import type {
  CheckpointAnswer,
  CheckpointItem,
  ProgressAccepted,
  ProgressBatch,
  SessionRef,
  WorkerProtocol,
} from "@engine/contract";

import type { OwnCredential } from "./own-credential.ts";

type LogPage = Parameters<WorkerProtocol["events"]>[2];

/** What a worker asks of its server in small messages: the same over every link. */
export type Calls = Omit<WorkerProtocol, "checkpoints" | "progress" | "events">;

/** What a worker sends and reads as text. */
export interface TextCalls {
  /** {@link WorkerProtocol.checkpoints} with its body as text. */
  checkpointsText(ref: SessionRef, body: string): Promise<readonly CheckpointAnswer[]>;
  /** {@link WorkerProtocol.progress} with its body as text. */
  progressText(ref: SessionRef, execution_id: string, body: string): Promise<ProgressAccepted>;
  /** {@link WorkerProtocol.events} with its answer as text: an object whose `events` they are. */
  eventsText(ref: SessionRef, execution_id: string, page: LogPage): Promise<string>;
  /** What is sent from now on goes by a new connection, to another server where there are several. */
  leaveServer(): void;
}

export interface TextLink extends Calls, TextCalls {
  /** What the worker proves itself with, where it has to. */
  readonly credential?: OwnCredential;
  /** Asks for the successor of that, and keeps it. */
  renewCredential?(worker: string): Promise<void>;
}

/** The text side of a link; that of the server's own handler object parses what it is given. */
export function textCalls(link: WorkerProtocol | TextLink): TextCalls {
  if ("checkpointsText" in link) return link;
  return {
    checkpointsText: (ref, body) =>
      link.checkpoints(ref, (JSON.parse(body) as { items: CheckpointItem[] }).items),
    progressText: (ref, execution_id, body) =>
      link.progress(ref, execution_id, JSON.parse(body) as ProgressBatch),
    async eventsText(ref, execution_id, page) {
      const { events } = await link.events(ref, execution_id, page);
      return JSON.stringify({ events });
    },
    // A worker in the server's own process has no other server to go to.
    leaveServer() {},
  };
}
