import type { AuditEntry } from "@engine/contract";
import {
  count,
  first,
  now,
  type Operation,
  type Operations,
  page,
  reads,
  rows,
  run,
  writes,
  writesOnce,
} from "../operations/operation.ts";
import { insertInto, raw, type Sql, skipLocked, sql } from "../operations/sql.ts";
import { MOST_REFUSALS } from "../worker-admission.ts";
import { audited } from "./audit.ts";
import type { Page } from "./port.ts";

/** One that is made: the store never sees the secret. Instants are milliseconds since 1970. */
export interface NewJoinToken {
  readonly id: string;
  /** SHA-256 of the secret. */
  readonly secret_hash: string;
  /** The one name that it is for; null: any new one. */
  readonly subject: string | null;
  /** Granted to the worker's name when the token is used (WMD-3). */
  readonly services: readonly string[];
  /** Subject of the principal that made it; null without authorization. */
  readonly created_by: string | null;
  readonly expires_at: number;
}

export interface JoinTokenRow extends NewJoinToken {
  readonly created_at: number;
}

/** With these, workers come for the first time (AUTH-53, AUTH-54). Used and expired ones are nobody's. */
export interface JoinTokenPort {
  create(token: NewJoinToken, audit?: AuditEntry): Promise<JoinTokenRow>;
  /** Those that can be used, newest first. */
  list(at: { readonly limit: number; readonly offset: number }): Promise<Page<JoinTokenRow>>;
  /** One that can be used. */
  find(id: string): Promise<JoinTokenRow | undefined>;
  /** False where none of that id can be used. */
  revoke(id: string, audit?: AuditEntry): Promise<boolean>;
  /** Revokes those for a name; answers how many. */
  revokeFor(subject: string, audit?: AuditEntry): Promise<number>;
  /** Deletes at most `limit` that ended before an instant; answers how many. */
  deleteExpired(before: number, limit: number): Promise<number>;
  /** The hash of the bootstrap token that a server has made for all of them. */
  bootstrap(): Promise<string | undefined>;
  /** Keeps the hash of one unless there is one; answers the hash that is kept. */
  keepBootstrap(secret_hash: string): Promise<string>;
  /** From now on this one counts alone. */
  rotateBootstrap(secret_hash: string, audit: AuditEntry): Promise<void>;
}

type Stored = Omit<JoinTokenRow, "services"> & { readonly services: string };

const COLUMNS: Sql<Stored> = raw(
  "id, secret_hash, subject, services, created_at, created_by, expires_at",
);

export const JOIN_TOKENS: Operations<JoinTokenPort> = {
  create: writes(function* (token, audit) {
    const { id, secret_hash, subject, services, created_by, expires_at } = token;
    const created_at = yield* now();
    const own = { id, secret_hash, subject, services: JSON.stringify(services) };
    const unused = { used_at: null, used_by: null, revoked_at: null, refusals: 0 };
    yield* run(
      insertInto("join_tokens", { ...own, created_at, created_by, expires_at, ...unused }),
    );
    yield* audited(audit);
    return { ...token, created_at };
  }),

  list: reads(function* ({ limit, offset }) {
    const live = isLive(yield* now());
    const from = sql`FROM join_tokens WHERE ${live}`;
    const order = raw("created_at DESC, id DESC");
    return yield* page({ columns: COLUMNS, from, order, limit, offset }, toRow);
  }),

  find: reads(function* (id) {
    return yield* liveJoinToken(id, yield* now());
  }),

  revoke: writes(function* (id, audit) {
    const at = yield* now();
    const revoked = yield* count(sql`
      UPDATE join_tokens SET revoked_at = ${at} WHERE id = ${id} AND ${isLive(at)}`);
    if (revoked > 0) yield* audited(audit);
    return revoked > 0;
  }),

  revokeFor: writes(function* (subject, audit) {
    const at = yield* now();
    const revoked = yield* count(sql`
      UPDATE join_tokens SET revoked_at = ${at} WHERE subject = ${subject} AND ${isLive(at)}`);
    if (revoked > 0) yield* audited(audit);
    return revoked;
  }),

  deleteExpired: writesOnce(function* (before, limit) {
    return yield* count(sql`
      DELETE FROM join_tokens WHERE id IN (
        SELECT id FROM join_tokens WHERE expires_at < ${before}
        ORDER BY expires_at, id LIMIT ${limit} ${skipLocked})`);
  }),

  bootstrap: reads(bootstrapHash),

  keepBootstrap: writes(function* (secret_hash) {
    const at = yield* now();
    const row = { singleton: 1, secret_hash, created_at: at };
    yield* run(sql`${insertInto("bootstrap_token", row)} ON CONFLICT (singleton) DO NOTHING`);
    return (yield* bootstrapHash()) ?? secret_hash;
  }),

  rotateBootstrap: writes(function* (secret_hash, audit) {
    const row = { singleton: 1, secret_hash, created_at: yield* now() };
    yield* run(sql`${insertInto("bootstrap_token", row)} ON CONFLICT (singleton) DO UPDATE SET
      secret_hash = excluded.secret_hash, created_at = excluded.created_at`);
    yield* audited(audit);
  }),
};

/** One that can be used. */
export function* liveJoinToken(id: string, at: number): Operation<JoinTokenRow | undefined> {
  const found = yield* first(sql<Stored>`
    SELECT ${COLUMNS} FROM join_tokens WHERE id = ${id} AND ${isLive(at)}`);
  return found && toRow(found);
}

/** Uses a token up; of several that use it at once one does, and is told what it grants. */
export function* consumeJoinToken(
  id: string,
  worker: string,
  at: number,
): Operation<readonly string[] | undefined> {
  const consumed = yield* first(sql<Pick<Stored, "services">>`
    UPDATE join_tokens SET used_at = ${at}, used_by = ${worker}
    WHERE id = ${id} AND ${isLive(at)} RETURNING services`);
  return consumed && JSON.parse(consumed.services);
}

/** Counts a name that was taken; false for a token that is dead already. */
export function* countRefusal(id: string, at: number): Operation<boolean> {
  const counted = yield* count(sql`
    UPDATE join_tokens SET refusals = refusals + 1 WHERE id = ${id} AND ${isLive(at)}`);
  return counted > 0;
}

function isLive(at: number): Sql {
  return sql`used_at IS NULL AND revoked_at IS NULL AND expires_at > ${at}
    AND refusals < ${MOST_REFUSALS}`;
}

function* bootstrapHash(): Operation<string | undefined> {
  const [row] = yield* rows(sql<{ secret_hash: string }>`SELECT secret_hash FROM bootstrap_token`);
  return row?.secret_hash;
}

function toRow({ services, ...row }: Stored): JoinTokenRow {
  return { ...row, services: JSON.parse(services) };
}
