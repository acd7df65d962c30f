/** How a session lies in a database: what it says of itself in `sessions`, what is heard of it apart. */
import { EngineError } from "@engine/contract";
import type { NewSession, SessionRow } from "./store.ts";

/** Kept as JSON. */
const JSON_COLUMNS = ["labels", "runners", "runtime", "resources", "packages", "services"] as const;

const COLUMNS = [
  "session_id",
  "worker",
  "instance_id",
  "labels",
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
  "created_at",
  "last_seen_at",
  "replica",
  "epoch",
  "connected_at",
  "disconnected_at",
  "lost_at",
  "ended_at",
  "end_reason",
] as const;

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
] as const;

type Column = (typeof COLUMNS)[number];
type Value = string | number | null;

/** A row as it is read. */
export type StoredSession = Readonly<Record<Column | "said", Value>>;

const BEAT = "FROM session_beats AS b WHERE b.session_id = sessions.session_id";

/** What to read of `sessions`, under that name. */
export function sessionSql(): string {
  const seen = `coalesce((SELECT b.seen_at ${BEAT}), last_seen_at) AS last_seen_at`;
  const columns = COLUMNS.map((column) => (column === "last_seen_at" ? seen : column));
  return [...columns, `(SELECT b.said ${BEAT}) AS said`].join(", ");
}

/** What one server heard comes no later than this after what another one heard before it. */
const LATEST_BEAT_MS = 60_000;

/**
 * Whether a beat changes what is kept: not when it comes late. One that is older by more than any delay
 * is of a clock that was set back.
 */
export function isNewsSql(fresh: string, kept: string): string {
  return `(${fresh} >= coalesce(${kept}, 0) OR ${fresh} < ${kept} - ${LATEST_BEAT_MS})`;
}

/** @param parameter The n-th parameter, from 1, as the dialect writes it. */
export function insertSessionSql(parameter: (n: number) => string): string {
  const parameters = COLUMNS.map((_, i) => parameter(i + 1));
  return `INSERT INTO sessions (${COLUMNS.join(", ")}) VALUES (${parameters.join(", ")})`;
}

/** Its parameters: those of `continuedValues`, the clock, the session's id. */
export function continueSessionSql(parameter: (n: number) => string): string {
  const columns = [...CONTINUED_COLUMNS, "last_seen_at"];
  const set = columns.map((column, i) => `${column} = ${parameter(i + 1)}`);
  return `UPDATE sessions SET ${set.join(", ")} WHERE session_id = ${parameter(set.length + 1)}`;
}

export function sessionValues(row: SessionRow): Value[] {
  return COLUMNS.map((column) => stored(row[column]));
}

export function continuedValues(fresh: NewSession): Value[] {
  return CONTINUED_COLUMNS.map((column) => stored(fresh[column]));
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
  if (!sameLabels(earlier.labels, fresh.labels)) {
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

type Labels = Readonly<Record<string, string>>;

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function stored(value: SessionRow[Column]): Value {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}
