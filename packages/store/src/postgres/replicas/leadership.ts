import type { Client } from "pg";
import { type Leadership, REPLICA_GONE_MS } from "../../ports/replicas.ts";
import { StatementFailure, unavailable } from "../database-failure.ts";

/** What a replica leads: locks of its session connection, gone with that. */
export class Leaderships {
  readonly #held = new Map<string, AbortController>();

  async lead(name: string, client: Client): Promise<Leadership | undefined> {
    // The database would give one session the same lock again.
    if (this.#held.has(name)) return undefined;
    const held = new AbortController();
    this.#held.set(name, held);
    try {
      const sql = `SELECT pg_try_advisory_lock(${LOCK}) AS got`;
      const { rows } = await client.query<{ got: boolean }>(sql, [name]);
      if (rows[0]?.got && !held.signal.aborted) {
        await client.query(SILENT_SQL);
        return this.#leadership(name, client, held);
      }
    } catch (error) {
      this.#drop(name, held);
      throw unavailable(new StatementFailure(error));
    }
    this.#drop(name, held);
    return undefined;
  }

  lost(): void {
    for (const held of this.#held.values()) held.abort();
    this.#held.clear();
  }

  #leadership(name: string, client: Client, held: AbortController): Leadership {
    const beat = setInterval(() => void client.query("").catch(() => undefined), BEAT_MS);
    beat.unref();
    held.signal.addEventListener("abort", () => clearInterval(beat), { once: true });
    return {
      lost: held.signal,
      release: async () => {
        if (this.#held.get(name) !== held) return;
        this.#drop(name, held);
        clearInterval(beat);
        // A connection that is gone has let go already.
        await client
          .query("SELECT set_config('idle_session_timeout', '0', false)")
          .then(() => client.query(`SELECT pg_advisory_unlock(${LOCK})`, [name]))
          .catch(() => undefined);
      },
    };
  }

  #drop(name: string, held: AbortController): void {
    if (this.#held.get(name) === held) this.#held.delete(name);
  }
}

/**
 * A leader that hangs, or whose machine is gone without a word, keeps its connection and with it the
 * lock: the database ends a connection that says nothing for this long.
 */
const SILENT_SQL = `SELECT set_config('idle_session_timeout', '${REPLICA_GONE_MS}', false)`;
const BEAT_MS = 2_000;

const LOCK = "hashtextextended('engine leader ' || $1, 0)";
