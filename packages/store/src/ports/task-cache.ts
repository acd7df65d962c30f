import type { CacheKey } from "@engine/contract";
import { count, first, type Operations, reads, run, writesOnce } from "../operations/operation.ts";
import { insertInto, matching, overwriting, raw, skipLocked, sql } from "../operations/sql.ts";

/** Outputs of tasks, kept for other executions that would compute the same. */
export interface TaskCachePort {
  /** The stored text of a task's output (EXE-49a). `expires_at` is the first instant without it. */
  find(key: CacheKey, now: number): Promise<string | undefined>;
  keep(key: CacheKey, text: string, expires_at: number): Promise<void>;
  /** Deletes at most `limit` entries, those expired longest first; answers how many. */
  deleteExpired(now: number, limit: number): Promise<number>;
}

export const TASK_CACHE: Operations<TaskCachePort> = {
  find: reads(function* ({ namespace, task, version, digest }, now) {
    const key = { namespace, task, version, digest };
    const found = yield* first(sql<{ text: string }>`
      SELECT text FROM task_cache WHERE ${matching(key)} AND expires_at > ${now}`);
    return found?.text;
  }),

  keep: writesOnce(function* ({ namespace, task, version, digest }, text, expires_at) {
    const row = { namespace, task, version, digest, text, expires_at };
    yield* run(sql`${insertInto("task_cache", row)} ${overwriting(row, KEY)}`);
  }),

  deleteExpired: writesOnce(function* (now, limit) {
    return yield* count(sql`
      DELETE FROM task_cache WHERE (${KEY_SQL}) IN (
        SELECT ${KEY_SQL} FROM task_cache WHERE expires_at <= ${now}
        ORDER BY expires_at LIMIT ${limit} ${skipLocked})`);
  }),
};

const KEY = ["namespace", "task", "version", "digest"] as const;
const KEY_SQL = raw(KEY.join(", "));
