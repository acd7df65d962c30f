import type { WorkerActivity } from "@engine/contract";
import type { WorkerFilter, WorkerRow } from "../store.ts";
import { NEWEST_FIRST, type StoredWorker, toWorker, workerSql } from "../worker-record.ts";
import type { Database, Lane, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";
import { LOCK_WORKER_SQL } from "./sessions.ts";

/** The names of workers, which outlive their sessions. */
export class Workers {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #list: Statement;
  readonly #find: Statement;
  readonly #desire: Statement;
  readonly #lock: Statement;
  readonly #unused: Statement;
  readonly #forget: readonly Statement[];
  readonly #deleteEnded: Statement;

  constructor(database: Database, writes: Serial) {
    this.#database = database;
    this.#writes = writes;
    const select = workerSql();
    this.#list = database.prepare(`
      ${select} WHERE w.name = coalesce($1::text, w.name)
        AND ($3::text[] IS NULL OR w.name = ANY($3))
        AND ($2::jsonb = '{}' OR labels::jsonb @> $2::jsonb)
      ORDER BY w.name`);
    this.#find = database.prepare(`${select} WHERE w.name = $1`);
    this.#desire = database.prepare("UPDATE workers SET desired_state = $1 WHERE name = $2");
    this.#lock = database.prepare(LOCK_WORKER_SQL);
    this.#unused = database.prepare(`
      SELECT w.name FROM workers AS w JOIN sessions ON session_id = (
        SELECT n.session_id FROM sessions AS n WHERE n.worker = w.name
        ORDER BY ${NEWEST_FIRST} LIMIT 1)
      WHERE desired_state <> 'paused' AND coalesce(ended_at, lost_at) < $1
      ORDER BY w.name LIMIT $2`);
    this.#forget = [
      "DELETE FROM session_beats WHERE session_id IN (SELECT session_id FROM sessions WHERE worker = $1)",
      "DELETE FROM sessions WHERE worker = $1",
      "DELETE FROM workers WHERE name = $1",
    ].map((sql) => database.prepare(sql));
    this.#deleteEnded = database.prepare(`
      WITH gone AS (
        DELETE FROM sessions WHERE session_id IN (
          SELECT session_id FROM sessions AS s WHERE ended_at < $1 AND EXISTS (
            SELECT 1 FROM sessions AS n WHERE n.worker = s.worker AND (
              n.ended_at IS NULL OR (n.created_at, n.session_id) > (s.created_at, s.session_id)))
          ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING session_id
      ), silent AS (DELETE FROM session_beats WHERE session_id IN (SELECT session_id FROM gone))
      SELECT session_id FROM gone`);
  }

  async list({ labels = {}, name, names }: WorkerFilter = {}): Promise<readonly WorkerRow[]> {
    const asked = JSON.stringify(labels);
    const values = [name ?? null, asked, names ?? null];
    const rows = await this.#database.read<StoredWorker>(this.#list, ...values);
    return rows.map(toWorker);
  }

  async find(name: string): Promise<WorkerRow | undefined> {
    const [row] = await this.#database.read<StoredWorker>(this.#find, name);
    return row && toWorker(row);
  }

  desire(name: string, desired: WorkerActivity): Promise<WorkerRow | undefined> {
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        await lane.pipelined([this.#desire, desired, name]);
        return this.#get(lane, name);
      }),
    );
  }

  delete(name: string): Promise<boolean | undefined> {
    return this.#alone(name, async (lane) => {
      const worker = await this.#get(lane, name);
      if (!worker) return undefined;
      const { session } = worker;
      if (session?.ended_at === null && session.lost_at === null) return false;
      await this.#forgetAll(lane, name);
      return true;
    });
  }

  async deleteUnused(before: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#database.read<{ name: string }>(this.#unused, before, limit);
    const deleted: string[] = [];
    for (const { name } of rows) {
      const isGone = await this.#alone(name, async (lane) => {
        const worker = await this.#get(lane, name);
        if (!worker?.session || worker.desired_state === "paused") return false;
        const { ended_at, lost_at } = worker.session;
        // It may have come back since.
        if ((ended_at ?? lost_at ?? before) >= before) return false;
        await this.#forgetAll(lane, name);
        return true;
      });
      if (isGone) deleted.push(name);
    }
    return deleted;
  }

  deleteEndedSessions(before: number, limit: number): Promise<number> {
    return this.#writes.write(async () => {
      const rows = await this.#database.write(this.#deleteEnded, before, limit);
      return rows.length;
    });
  }

  /** While nobody begins a session of the name. */
  #alone<Value>(name: string, run: (lane: Lane) => Promise<Value>): Promise<Value> {
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        await lane.pipelined([this.#lock, name]);
        return run(lane);
      }),
    );
  }

  async #get(lane: Lane, name: string): Promise<WorkerRow | undefined> {
    const [[row] = []] = await lane.pipelined<StoredWorker>([this.#find, name]);
    return row && toWorker(row);
  }

  async #forgetAll(lane: Lane, name: string): Promise<void> {
    await lane.pipelined(...this.#forget.map((statement) => [statement, name] as const));
  }
}
