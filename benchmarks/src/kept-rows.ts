import Database from "better-sqlite3";

/** Name of the schedule that started every row. */
export const SCHEDULE = "benchmark";

/** Adds executions that have ended, by a statement of SQLite's own: a million take seconds. */
export function addKeptRows(path: string, count: number): void {
  const db = new Database(path);
  try {
    const had = db.prepare("SELECT count(*) FROM executions").pluck().get() as number;
    db.prepare(`
      WITH RECURSIVE numbers (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
      INSERT INTO executions (
        execution_id, namespace, workflow, version, module_hash, state, generation, head, last_time,
        resuming, seed, schedule, scheduled_for, priority, queued_at, created_at, started_at,
        finished_at, updated_at, input_apart, input, output
      ) SELECT
        printf('00000000-0000-7000-8000-%012d', n), 'default', 'kept', 1, 'm', 'COMPLETED', 1, 12,
        n, 0, 's', ?, n, 0, n, n, n, n, n, 0, '{"n":1}', '"done"'
      FROM numbers`).run(had + 1, count, SCHEDULE);
    // Else the first commits that are measured would do it.
    db.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
}

export function keptId(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}
