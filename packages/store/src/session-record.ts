/** How a session lies in a database: what it says of itself in `sessions`, what is heard of it apart. */
import { isDeepStrictEqual } from "node:util";
import {
  type DispatchMode,
  EngineError,
  type Heartbeat,
  type WorkerRegistration,
} from "@engine/contract";
import { raw, type Sql } from "./operations/sql.ts";

/** What a process registers, under the name of its worker. */
export interface NewSession extends Readonly<Omit<WorkerRegistration, "name" | "protocol">> {
  readonly session_id: string;
  /** SHA-256 of the session secret; the store never sees the secret. */
  readonly token_hash: string;
  readonly worker: string;
  readonly dispatch: DispatchMode;
  /**
   * The line of the credential it registered with: when that is revoked, the session ends. Null without
   * authorization; `process`: see `worker-admission.ts`.
   */
  readonly credential_line: string | null;
}

/** The part of a heartbeat that is kept, for listings and for matching. */
export type SaidByWorker = Pick<
  Heartbeat,
  | "status"
  | "healthy"
  | "slots_free"
  | "metrics"
  | "resources"
  | "stuck_threads"
  | "clock_offset_ms"
>;

export interface SessionRow extends NewSession {
  readonly created_at: number;
  readonly last_seen_at: number;
  /** Null before the first heartbeat that was kept. */
  readonly said: SaidByWorker | null;
  /** The server that holds its stream; null while none does. */
  readonly replica: string | null;
  /** Grows each time a server takes the stream, and when the session is lost. */
  readonly epoch: number;
  readonly connected_at: number | null;
  /** When its stream closed; null while open, and before the first one. */
  readonly disconnected_at: number | null;
  /** When it was given up; a session that connects again is lost no more. */
  readonly lost_at: number | null;
  readonly ended_at: number | null;
  readonly end_reason: "superseded" | "lost" | "disconnected" | "revoked" | null;
}

/** Kept as JSON. */
const JSON_COLUMNS = ["labels", "runners", "runtime", "resources", "packages", "services"] as const;

/** What a process that registers again may have changed; its labels may not. */
const CONTINUED_COLUMNS = [
  "token_hash",
  "host",
  "pid",
  "slots",
  "runners",
  "default_runner",
  "dispatch",
  "engine_version",
  "runtime",
  "resources",
  "packages",
  "services",
  "credential_line",
] as const;

type Column = Exclude<keyof SessionRow, "said">;

const COLUMNS: readonly Column[] = [
  "session_id",
  "worker",
  "instance_id",
  "labels",
  ...CONTINUED_COLUMNS,
  "created_at",
  "last_seen_at",
  "replica",
  "epoch",
  "connected_at",
  "disconnected_at",
  "lost_at",
  "ended_at",
  "end_reason",
];

type Value = string | number | null;

type StoredColumns = Readonly<Record<string, Value>>;

/** A row as it is read. */
export type StoredSession = Readonly<Record<Column | "said", Value>>;

/** What to read of `sessions`, under that name. */
export const SESSION_COLUMNS: Sql<StoredSession> = sessionColumns();

function sessionColumns(): Sql<StoredSession> {
  const beat = "FROM session_beats AS b WHERE b.session_id = sessions.session_id";
  const seen = `coalesce((SELECT b.seen_at ${beat}), last_seen_at) AS last_seen_at`;
  const columns = COLUMNS.map((column) => (column === "last_seen_at" ? seen : column));
  return raw([...columns, `(SELECT b.said ${beat}) AS said`].join(", "));
}

export function storedSession(row: SessionRow): StoredColumns {
  return storedColumns(COLUMNS, row);
}

export function storedContinuation(row: SessionRow): StoredColumns {
  return storedColumns(CONTINUED_COLUMNS, row);
}

export function toSession(row: StoredSession): SessionRow {
  const parsed: Record<string, unknown> = { ...row };
  for (const column of [...JSON_COLUMNS, "said"] as const) {
    const text = row[column];
    parsed[column] = text === null ? null : JSON.parse(String(text));
  }
  // Every column was written from a session.
  return parsed as unknown as SessionRow;
}

/** A session that begins; nobody holds a stream of it yet. */
export function beginSession(fresh: NewSession, at: number): SessionRow {
  return {
    ...fresh,
    created_at: at,
    last_seen_at: at,
    said: null,
    replica: null,
    epoch: 0,
    connected_at: null,
    disconnected_at: null,
    lost_at: null,
    ended_at: null,
    end_reason: null,
  };
}

/**
 * The same process again (WRK-4): its session goes on where it is.
 *
 * @throws EngineError `labels_immutable`
 */
export function continueSession(earlier: SessionRow, fresh: NewSession, at: number): SessionRow {
  if (!isDeepStrictEqual(earlier.labels, fresh.labels)) {
    throw new EngineError(
      "labels_immutable",
      `worker ${fresh.worker} has registered with other labels; restart it to change them`,
      { details: { labels: earlier.labels } },
    );
  }
  const { session_id } = earlier;
  return { ...earlier, ...fresh, session_id, last_seen_at: Math.max(at, earlier.last_seen_at) };
}

/** The session of another process that had the name; its epoch is over. */
export function supersededSession(earlier: SessionRow, at: number): SessionRow {
  return { ...earlier, epoch: earlier.epoch + 1, ended_at: at, end_reason: "superseded" };
}

function storedColumns(columns: readonly Column[], row: SessionRow): StoredColumns {
  const values = columns.map((column) => {
    const value: SessionRow[Column] = row[column];
    const isJson = typeof value === "object" && value !== null;
    return [column, isJson ? JSON.stringify(value) : value] as const;
  });
  return Object.fromEntries(values);
}
