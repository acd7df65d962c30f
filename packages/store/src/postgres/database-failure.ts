import { EngineError } from "@engine/contract";
import { DatabaseError } from "pg";

/**
 * What became of a statement that failed.
 * - `lost`: the connection; whether a commit that was sent took place is not known
 * - `away`: there is no connection, or the server cannot work now; nothing was written
 * - `conflict`: with another transaction; the same may be tried again
 * - `locked`: a row that was not to be waited for
 * - `refused`: what was to be written, by the database's own rules
 */
export type FailureKind = "lost" | "away" | "conflict" | "locked" | "refused";

/** A failed statement. Errors of other kinds are ours, or those of a decision. */
export class StatementFailure extends Error {
  override readonly name = "StatementFailure";
  readonly kind: FailureKind;
  /** SQLSTATE; empty where the server said nothing. */
  readonly sqlstate: string;

  /** @param kind Given where nothing was sent. */
  constructor(cause: unknown, kind?: FailureKind) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.sqlstate = cause instanceof DatabaseError ? (cause.code ?? "") : "";
    const isFatal = cause instanceof DatabaseError && cause.severity !== "ERROR";
    this.kind = kind ?? (isFatal ? "lost" : kindOf(this.sqlstate));
  }
}

function kindOf(sqlstate: string): FailureKind {
  if (sqlstate === "") return "lost";
  if (sqlstate === "40001" || sqlstate === "40P01") return "conflict";
  if (sqlstate === "55P03") return "locked";
  // Class 22: data that cannot be; class 23: a key that is taken.
  return sqlstate.startsWith("22") || sqlstate.startsWith("23") ? "refused" : "away";
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof StatementFailure && error.sqlstate === "23505";
}

/** Whether the database failed, rather than a statement asking for something that cannot be. */
export function isDatabaseFailure(error: unknown): error is StatementFailure {
  return error instanceof StatementFailure && error.kind !== "refused";
}

/** Whether the database answers, and takes no writes at all. */
export function isUnwritable(error: unknown): error is StatementFailure {
  return error instanceof StatementFailure && UNWRITABLE.has(error.sqlstate);
}

const DISK_FULL = "53100";
const READ_ONLY = "25006";
const UNWRITABLE: ReadonlySet<string> = new Set([DISK_FULL, READ_ONLY]);

export function readOnly(): EngineError {
  return new EngineError("unavailable", READ_ONLY_REASON);
}

const READ_ONLY_REASON = "the database is read-only";

/** What a caller hears when the database failed; the cause is for the log. */
export function unavailable(cause: unknown): EngineError {
  const message = `${reasonOf(cause)}; nothing was written, try again`;
  return new EngineError("unavailable", message, { cause });
}

/** The connection was lost while it committed, and nobody could be asked. */
export function unknownOutcome(cause: unknown): EngineError {
  const message = `${reasonOf(cause)}; whether it was written is not known, and asking again is safe`;
  return new EngineError("unavailable", message, { cause });
}

/** A text that SQLite would take: a NUL character, or half of a surrogate pair, outside of JSON. */
export function unwritable(cause: StatementFailure): EngineError {
  const message = "PostgreSQL cannot store a text of it: take out characters such as U+0000";
  return new EngineError("invalid_input", message, { cause });
}

export function closedStore(): EngineError {
  return new EngineError("unavailable", "the store is closed");
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof StatementFailure)) return "the database does not answer";
  switch (cause.sqlstate.slice(0, 2) === "40" ? "40" : cause.sqlstate) {
    case "40":
    case "55P03":
      return "others change the same executions at this moment";
    case "53300":
      return "the database has no connection left for this server";
    case DISK_FULL:
      return "the disk of the database is full";
    case READ_ONLY:
      return READ_ONLY_REASON;
    default:
      return cause.message.startsWith("timeout exceeded when trying to connect")
        ? "no connection to the database became free in time"
        : "the database does not answer";
  }
}
