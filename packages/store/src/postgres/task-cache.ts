import type { CacheKey } from "@engine/contract";
import type { Database, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";

/** Outputs of tasks, kept for other executions that would compute the same. */
export class TaskCache {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #find: Statement;
  readonly #keep: Statement;
  readonly #deleteExpired: Statement;

  constructor(database: Database, writes: Serial) {
    this.#database = database;
    this.#writes = writes;
    this.#find = database.prepare(`
      SELECT text FROM task_cache
      WHERE namespace = $1 AND task = $2 AND version = $3 AND digest = $4 AND expires_at > $5`);
    this.#keep = database.prepare(`
      INSERT INTO task_cache (namespace, task, version, digest, text, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (namespace, task, version, digest)
      DO UPDATE SET text = excluded.text, expires_at = excluded.expires_at`);
    // What another replica deletes or keeps anew at this moment is passed over.
    this.#deleteExpired = database.prepare(`
      DELETE FROM task_cache WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM task_cache WHERE expires_at <= $1
        ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
      RETURNING 1`);
  }

  async find(key: CacheKey, now: number): Promise<string | undefined> {
    const [row] = await this.#database.read<{ text: string }>(this.#find, ...columns(key), now);
    return row?.text;
  }

  async keep(key: CacheKey, text: string, expires_at: number): Promise<void> {
    await this.#writes.write(() =>
      this.#database.write(this.#keep, ...columns(key), text, expires_at),
    );
  }

  deleteExpired(now: number, limit: number): Promise<number> {
    return this.#writes.write(async () => {
      const rows = await this.#database.write(this.#deleteExpired, now, limit);
      return rows.length;
    });
  }
}

function columns({ namespace, task, version, digest }: CacheKey): string[] {
  return [namespace, task, version, digest];
}
