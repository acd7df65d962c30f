import type { Epochs } from "./epochs.ts";
import type { Kinds } from "./port.ts";

/** A server that has said nothing for longer is gone: it holds no session, and does not lead. */
export const REPLICA_GONE_MS = 6_000;

/** A server on the same database. */
export interface ReplicaRow {
  readonly replica: string;
  /** When it said last that it lives, by the database's clock: another stamp is a sign of life. */
  readonly seen_at: number;
  /** Milliseconds since then, by that clock, which somebody may have set meanwhile. */
  readonly silent_ms: number;
  /** In the row of the server itself, where the epochs can be read on the way. */
  readonly epochs?: Epochs;
}

/** Held by one server at a time. */
export interface Leadership {
  /** Aborted when the database has given it away, with the connection that held it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** The servers on the same database, and what they say to each other. */
export interface ReplicaPort {
  /** Says that a server lives; answers every one that has said so, itself included. */
  note(replica: string): Promise<readonly ReplicaRow[]>;
  remove(replica: string): Promise<void>;
  /**
   * Listens to the other servers on the same database; absent where there can be none. Resolves once
   * it listens, or has warned that it cannot: then the safety tick has to do. The listener gets each
   * message, in the order of each sender; undefined says that some were missed.
   *
   * @returns Ends it.
   */
  onAnnounced?(listener: (message: string | undefined) => void): Promise<() => void>;
  /**
   * Calls back when a commit of this store saw that another process wrote to the database; absent where
   * those are servers, which announce it. It may also be called without a reason.
   */
  onWrittenBeside?(listener: () => void): void;
  /**
   * Tells the other servers, about 10 ms later. Resolves once it is said, or cannot be; lost while the
   * database is away. At most 7,000 bytes.
   */
  announce?(message: string): Promise<void>;
  /**
   * Makes this server the one that does some periodic work, unless another one is; absent where it is
   * the only one. Rejects `unavailable` while the database is away.
   */
  lead?(name: string): Promise<Leadership | undefined>;
}

export const REPLICAS: Kinds<ReplicaPort> = {
  note: "shared",
  remove: "itself",
  onAnnounced: "itself",
  onWrittenBeside: "itself",
  announce: "shared",
  lead: "shared",
};
