/** Processes that fight over one worker name: each would end the session of the other for ever. */
import { EngineError } from "@engine/contract";
import { type ByDialect, raw, type Sql, sql } from "./operations/sql.ts";
import { REPLICA_GONE_MS } from "./ports/replicas.ts";

const TAKEOVERS = 3;
const WITHIN_MS = 60_000;

/**
 * Ends of connected sessions of one name by other processes, newest first: as many as it takes. A
 * stream that a server took with it when it died was no longer open: only servers that live count.
 */
export function takeoversOf(worker: string): Sql<{ ended_at: number }> {
  return sql`SELECT ended_at FROM sessions
    WHERE worker = ${worker} AND end_reason = 'superseded'
      AND connected_at IS NOT NULL AND disconnected_at IS NULL AND ${REPLICA_LIVES}
    ORDER BY ended_at DESC LIMIT ${TAKEOVERS}`;
}

/** The one server on a SQLite file knows itself: `replica_lives` is a function that its store defines. */
const REPLICA_LIVES: ByDialect = {
  sqlite: raw("replica_lives(replica)"),
  postgres: raw(`replica IN (
    SELECT replica FROM replicas
    WHERE seen_at > now() - interval '${REPLICA_GONE_MS} milliseconds')`),
};

/** @throws EngineError `worker_name_in_use` while a name was taken over too often (WRK-4). */
export function assertNotFoughtOver(
  worker: string,
  takeovers: readonly { readonly ended_at: number }[],
  now: number,
): void {
  const last = takeovers[0]?.ended_at ?? 0;
  const first = takeovers[TAKEOVERS - 1]?.ended_at;
  const free = last + WITHIN_MS;
  if (first === undefined || last - first > WITHIN_MS || now >= free) return;
  const retry_after_seconds = Math.ceil((free - now) / 1000);
  throw new EngineError(
    "worker_name_in_use",
    `${TAKEOVERS} processes took the name ${worker} from each other within a minute; give each one its own, or try again in ${retry_after_seconds} s`,
    { details: { worker, retry_after_seconds } },
  );
}
