import type { SessionGuard } from "../ports/executions.ts";
import { type GuardedSession, guardHolds } from "../session-guard.ts";
import type { Connection, Statement } from "./connection.ts";

/**
 * Says whether guards hold, inside a transaction. Nearly every claim asks for the same few sessions,
 * which hardly ever change: they are remembered until something writes sessions or workers.
 */
export class SessionGuards {
  readonly #select: Statement<readonly [epoch: number, desired_state: string, revision: number]>;
  readonly #live = new Map<string, GuardedSession>();

  constructor(connection: Connection) {
    this.#select = connection.prepareRaw(`
      SELECT s.epoch, w.desired_state, w.revision
      FROM sessions AS s JOIN workers AS w ON w.name = s.worker
      WHERE s.session_id = ? AND s.ended_at IS NULL`);
    connection.remember(() => this.forget());
  }

  holds(guard: SessionGuard | undefined): boolean {
    return !guard || guardHolds(guard, this.#live.get(guard.session) ?? this.#read(guard.session));
  }

  /** Called by each write of sessions or workers, in its transaction. */
  forget(): void {
    this.#live.clear();
  }

  #read(session_id: string): GuardedSession | undefined {
    const row = this.#select.get(session_id);
    if (!row) return undefined;
    const session = { epoch: row[0], desired_state: row[1], revision: row[2] };
    this.#live.set(session_id, session);
    return session;
  }
}
