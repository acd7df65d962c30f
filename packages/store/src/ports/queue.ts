import type { State } from "@engine/contract";
import type { Kinds } from "./port.ts";

/** An execution that waits for a worker: what the dispatcher's queue keeps in memory. */
export interface QueuedExecution {
  readonly execution_id: string;
  readonly priority: number;
  readonly queued_at: number;
  readonly last_worker: string | null;
  /** What its worker must have, as JSON text: equal texts are equal needs. Null = anybody. */
  readonly requirements: string | null;
  /** How workers lost it, as JSON text; null = none did (LIV-5). */
  readonly losses: string | null;
  /** Of its log: what says otherwise of it and knows less of the log is older. */
  readonly head: number;
}

/** A part of the queue, in dispatch order. */
export interface QueuePage {
  readonly limit: number;
  /** Those behind this one. */
  readonly after?: QueuedExecution | undefined;
  /** The last ones of the queue rather than the first. */
  readonly fromEnd?: boolean;
}

/** An execution with something that is due at an instant. */
export interface DueExecution {
  readonly execution_id: string;
  readonly wake_at: number;
}

export interface DuePage {
  /** The latest instant to be listed. */
  readonly until: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: DueExecution | undefined;
}

/** An execution whose owner's session has ended, was lost, or does not exist. */
export interface OrphanedExecution {
  readonly execution_id: string;
  readonly session: string;
  readonly generation: number;
}

/** What an owner has: with its generation, state and head. */
export interface OwnedExecution {
  readonly execution_id: string;
  readonly generation: number;
  readonly state: State;
  readonly head: number;
  readonly module_hash: string | null;
  /** When it was claimed or changed last. */
  readonly updated_at: number;
  readonly requirements: string | null;
  /** How workers lost it before, as JSON text; null = none did. */
  readonly losses: string | null;
}

/** Executions that a server has to see to: they wait for a worker or for an instant, or belong to one. */
export interface QueuePort {
  /** Executions `isQueued` holds for, in dispatch order: priority descending, queue time, id. */
  list(page: QueuePage): Promise<readonly QueuedExecution[]>;
  /** Those of the named executions that wait for a worker now. */
  find(execution_ids: readonly string[]): Promise<readonly QueuedExecution[]>;
  /** Executions that a server has to wake, in order of `wake_at` and id. */
  listDue(page: DuePage): Promise<readonly DueExecution[]>;
  /** What a session owns, by id. */
  listOwned(session_id: string): Promise<readonly OwnedExecution[]>;
  /** Executions that belong to nobody who could run them, by id. */
  listOrphaned(limit: number): Promise<readonly OrphanedExecution[]>;
}

export const QUEUE: Kinds<QueuePort> = {
  list: "read",
  find: "read",
  listDue: "read",
  listOwned: "read",
  listOrphaned: "read",
};
