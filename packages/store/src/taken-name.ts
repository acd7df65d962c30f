/** Processes that fight over one worker name: each would end the session of the other for ever. */
import { EngineError } from "@engine/contract";

const TAKEOVERS = 3;
const WITHIN_MS = 60_000;

/**
 * Ends of connected sessions of one name by other processes, newest first: as many as it takes. A
 * stream that a server took with it when it died was no longer open: only servers that live count.
 *
 * @param parameters As the dialect writes the name, and the condition that `replica` lives.
 */
export function takeoversSql(parameters: { name: string; isLive: string }): string {
  return `SELECT ended_at FROM sessions
    WHERE worker = ${parameters.name} AND end_reason = 'superseded'
      AND connected_at IS NOT NULL AND disconnected_at IS NULL AND ${parameters.isLive}
    ORDER BY ended_at DESC LIMIT ${TAKEOVERS}`;
}

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
