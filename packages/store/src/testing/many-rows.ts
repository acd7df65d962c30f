import Database from "better-sqlite3";

/**
 * Adds executions that have ended, of `default/hello`, by statements of SQLite's own: a million take
 * seconds. The database may be in use.
 */
export function addEndedRows(path: string, count: number): void {
  const db = new Database(path);
  db.pragma("synchronous = off");
  const { last } = db.prepare("SELECT count(*) AS last FROM executions").get() as { last: number };
  db.prepare(`
    WITH RECURSIVE numbers (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
    INSERT INTO executions (
      execution_id, namespace, workflow, version, module_hash, state, generation, head, last_time,
      resuming, seed, priority, queued_at, created_at, started_at,
      finished_at, updated_at, input_apart, input, output
    ) SELECT
      printf('00000000-0000-7000-8000-%012d', n), 'default', 'hello', 1, 'm', 'COMPLETED', 1, 12, n,
      0, 's', 0, n, n, n, n, n, 0, '{"n":1}', '"done"'
    FROM numbers`).run(last + 1, last + count);
  db.close();
}
