import type { CacheKey } from "@engine/contract";
import type { Connection, Statement } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

const KEY = "namespace = ? AND task = ? AND version = ? AND digest = ?";

/** Outputs of tasks, kept for other executions that would compute the same. */
export class TaskCache {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #find: Statement<{ text: string }>;
  readonly #keep: Statement<unknown>;
  readonly #deleteExpired: Statement<unknown>;

  constructor(connection: Connection, commits: GroupCommit) {
    this.#connection = connection;
    this.#commits = commits;
    this.#find = connection.prepare(`SELECT text FROM task_cache WHERE ${KEY} AND expires_at > ?`);
    this.#keep = connection.prepare(`
      INSERT INTO task_cache (namespace, task, version, digest, text, expires_at)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET text = excluded.text, expires_at = excluded.expires_at`);
    this.#deleteExpired = connection.prepare(`
      DELETE FROM task_cache WHERE rowid IN
        (SELECT rowid FROM task_cache WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`);
  }

  find(key: CacheKey, now: number): Promise<string | undefined> {
    return this.#connection.read(() => this.#find.get(...columns(key), now)?.text);
  }

  async keep(key: CacheKey, text: string, expires_at: number): Promise<void> {
    await this.#commits.write(() => this.#keep.run(...columns(key), text, expires_at));
  }

  deleteExpired(now: number, limit: number): Promise<number> {
    return this.#commits.write(() => this.#deleteExpired.run(now, limit));
  }
}

function columns({ namespace, task, version, digest }: CacheKey): string[] {
  return [namespace, task, version, digest];
}
