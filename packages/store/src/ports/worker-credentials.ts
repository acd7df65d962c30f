import { type AuditEntry, WORKER_ISSUER } from "@engine/contract";
import {
  count,
  first,
  now,
  type Operation,
  type Operations,
  reads,
  rows,
  run,
  writes,
  writesOnce,
} from "../operations/operation.ts";
import { forUpdate, insertInto, raw, type Sql, skipLocked, sql } from "../operations/sql.ts";
import {
  credentialState,
  isRenewable,
  type NewWorkerCredential,
  type WorkerCredentialRow,
} from "../worker-credential.ts";
import { audited } from "./audit.ts";
import { raise } from "./epochs.ts";

/** A credential with the worker that it belongs to. */
export interface KnownWorkerCredential extends WorkerCredentialRow {
  /** The worker's name. */
  readonly subject: string;
  readonly enabled: boolean;
  readonly banned: boolean;
}

/** How workers prove who they are once they have registered (AUTH-51). */
export interface WorkerCredentialPort {
  /** Undefined also where the worker's principal was deleted. */
  find(id: string): Promise<KnownWorkerCredential | undefined>;
  /**
   * Notes the first use of a credential: others of its line, of the same generation and of earlier
   * ones, end a minute later. Whether there were any; later uses change nothing.
   */
  use(id: string): Promise<boolean>;
  /**
   * Gives a worker the successor of its credential; false where that cannot be renewed any more.
   */
  renew(
    id: string,
    successor: NewWorkerCredential,
    how: { readonly renew_window_ms: number; readonly audit: AuditEntry },
  ): Promise<boolean>;
  /**
   * Revokes a credential with all others of its line, and ends the sessions that registered with it;
   * false where that was done before.
   */
  revoke(id: string, audit: AuditEntry): Promise<boolean>;
  /**
   * When the newest credential of a line ends; null once the line is revoked, or its worker disabled,
   * banned or deleted.
   */
  lineEnd(line: string): Promise<number | null>;
  /** Deletes at most `limit` that ended before an instant; answers how many. */
  deleteExpired(before: number, limit: number): Promise<number>;
}

type Stored = Omit<KnownWorkerCredential, "enabled" | "banned"> & {
  readonly enabled: number;
  readonly banned: number;
};

const COLUMNS: Sql<WorkerCredentialRow> = raw(`
  c.id, c.line, c.generation, c.principal_id, c.secret_hash, c.created_at, c.expires_at, c.used_at,
  c.superseded_at, c.revoked_at`);

export const WORKER_CREDENTIALS: Operations<WorkerCredentialPort> = {
  find: reads(function* (id) {
    const found = yield* first(sql<Stored>`
      SELECT ${COLUMNS}, p.subject, p.enabled, p.banned
      FROM worker_credentials AS c JOIN principals AS p ON p.id = c.principal_id
      WHERE c.id = ${id} AND p.issuer = ${WORKER_ISSUER} AND p.deleted_at IS NULL`);
    return found && { ...found, enabled: found.enabled === 1, banned: found.banned === 1 };
  }),

  use: writes(function* (id) {
    const credential = yield* locked(id);
    if (!credential || credential.used_at !== null) return false;
    const at = yield* now();
    const { line, generation } = credential;
    yield* run(sql`UPDATE worker_credentials SET used_at = ${at} WHERE id = ${id}`);
    const superseded = yield* count(sql`
      UPDATE worker_credentials SET superseded_at = ${at}
      WHERE line = ${line} AND generation <= ${generation} AND id <> ${id}
        AND superseded_at IS NULL`);
    // What is known of them in memory has to end in time.
    if (superseded > 0) yield* raise("identity");
    return superseded > 0;
  }),

  renew: writes(function* (id, successor, { renew_window_ms, audit }) {
    const credential = yield* locked(id);
    const at = yield* now();
    if (!credential || !isRenewable(credentialState(credential, { at, renew_window_ms })))
      return false;
    const { principal_id } = credential;
    yield* insertCredential({ ...successor, ...successorOf(credential), principal_id }, at);
    yield* audited(audit);
    return true;
  }),

  revoke: writes(function* (id, audit) {
    const credential = yield* locked(id);
    if (!credential || credential.revoked_at !== null) return false;
    yield* endLines(sql`line = ${credential.line}`, yield* now());
    yield* raise("identity");
    yield* audited(audit);
    return true;
  }),

  lineEnd: reads(function* (line) {
    const found = yield* first(sql<{ ends_at: number | null }>`
      SELECT max(c.expires_at) AS ends_at
      FROM worker_credentials AS c JOIN principals AS p ON p.id = c.principal_id
      WHERE c.line = ${line} AND c.revoked_at IS NULL AND p.enabled = 1 AND p.banned = 0
        AND p.deleted_at IS NULL`);
    return found?.ends_at ?? null;
  }),

  deleteExpired: writesOnce(function* (before, limit) {
    return yield* count(sql`
      DELETE FROM worker_credentials WHERE id IN (
        SELECT id FROM worker_credentials WHERE expires_at < ${before}
        ORDER BY expires_at, id LIMIT ${limit} ${skipLocked})`);
  }),
};

/**
 * Ends all that a worker proves itself with, and its sessions, in the transaction that bans, disables
 * or deletes its principal. That comes first: it locks the principal's row.
 */
export function* endWorkerCredentials(principal_id: string): Operation<void> {
  yield* endLines(sql`principal_id = ${principal_id}`, yield* now());
}

/** Revokes what a worker has, since it registers anew; its sessions are another matter (WRK-4). */
export function* revokeLinesOf(principal_id: string, at: number): Operation<number> {
  return yield* count(sql`
    UPDATE worker_credentials SET revoked_at = ${at}
    WHERE principal_id = ${principal_id} AND revoked_at IS NULL`);
}

export function* insertCredential(
  credential: Omit<WorkerCredentialRow, "created_at" | "used_at" | "superseded_at" | "revoked_at">,
  at: number,
): Operation<void> {
  const { id, line, generation, principal_id, secret_hash, expires_at } = credential;
  const of = { id, line, generation, principal_id, secret_hash, expires_at };
  const unused = { created_at: at, used_at: null, superseded_at: null, revoked_at: null };
  yield* run(insertInto("worker_credentials", { ...of, ...unused }));
}

/** Where the next one of a line comes. */
export function successorOf({
  line,
  generation,
}: Pick<WorkerCredentialRow, "line" | "generation">): { line: string; generation: number } {
  return { line, generation: generation + 1 };
}

/** A credential that may be renewed; the transaction has locked its worker's principal. */
export function* renewableCredential(
  id: string,
  when: { readonly at: number; readonly renew_window_ms: number },
): Operation<WorkerCredentialRow | undefined> {
  const found = yield* credentialOf(id);
  return found && isRenewable(credentialState(found, when)) ? found : undefined;
}

/**
 * Nobody else changes the credentials of its worker until the transaction ends: a successor that is
 * made meanwhile would escape a revocation.
 */
function* locked(id: string): Operation<WorkerCredentialRow | undefined> {
  yield* rows(sql`
    SELECT 1 FROM principals
    WHERE id = (SELECT principal_id FROM worker_credentials WHERE id = ${id}) ${forUpdate}`);
  return yield* credentialOf(id);
}

function* credentialOf(id: string): Operation<WorkerCredentialRow | undefined> {
  return yield* first(sql<WorkerCredentialRow>`
    SELECT ${COLUMNS} FROM worker_credentials AS c WHERE c.id = ${id}`);
}

function endLines(which: Sql, at: number): Operation<void> {
  return run(
    sql`UPDATE sessions SET ended_at = ${at}, end_reason = 'revoked', epoch = epoch + 1
      WHERE ended_at IS NULL
        AND credential_line IN (SELECT line FROM worker_credentials WHERE ${which})`,
    sql`UPDATE worker_credentials SET revoked_at = ${at} WHERE revoked_at IS NULL AND ${which}`,
  );
}
