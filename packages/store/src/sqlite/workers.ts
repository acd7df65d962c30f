import type { WorkerActivity } from "@engine/contract";
import type { WorkerFilter, WorkerRow } from "../store.ts";
import { NEWEST_FIRST, type StoredWorker, toWorker, workerSql } from "../worker-record.ts";
import type { Connection, Statement } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { SessionGuards } from "./session-guards.ts";

/** The names of workers, which outlive their sessions. */
export class Workers {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #guards: SessionGuards;
  readonly #list: Statement<StoredWorker>;
  readonly #find: Statement<StoredWorker>;
  readonly #desire: Statement<unknown>;
  readonly #unused: Statement<{ name: string }>;
  readonly #forget: Statement<unknown>[];
  readonly #deleteEnded: Statement<{ session_id: string }>;
  readonly #deleteBeats: Statement<unknown>;

  constructor(connection: Connection, commits: GroupCommit, guards: SessionGuards) {
    this.#connection = connection;
    this.#commits = commits;
    this.#guards = guards;
    const select = workerSql();
    this.#list = connection.prepare(`
      ${select} WHERE w.name = coalesce(?, w.name)
        AND (? IS NULL OR w.name IN (SELECT value FROM json_each(?))) AND NOT EXISTS (
        SELECT 1 FROM json_each(?) AS asked WHERE NOT EXISTS (
          SELECT 1 FROM json_each(sessions.labels) AS has
          WHERE has.key = asked.key AND has.value = asked.value))
      ORDER BY w.name`);
    this.#find = connection.prepare(`${select} WHERE w.name = ?`);
    this.#desire = connection.prepare("UPDATE workers SET desired_state = ? WHERE name = ?");
    this.#unused = connection.prepare(`
      SELECT w.name FROM workers AS w JOIN sessions ON session_id = (
        SELECT n.session_id FROM sessions AS n WHERE n.worker = w.name
        ORDER BY ${NEWEST_FIRST} LIMIT 1)
      WHERE desired_state <> 'paused' AND coalesce(ended_at, lost_at) < ?
      ORDER BY w.name LIMIT ?`);
    this.#forget = [
      `DELETE FROM session_beats WHERE session_id IN (SELECT session_id FROM sessions WHERE worker = ?)`,
      "DELETE FROM sessions WHERE worker = ?",
      "DELETE FROM workers WHERE name = ?",
    ].map((sql) => connection.prepare(sql));
    this.#deleteEnded = connection.prepare(`
      DELETE FROM sessions WHERE session_id IN (
        SELECT session_id FROM sessions AS s WHERE ended_at IS NOT NULL AND ended_at < ? AND EXISTS (
          SELECT 1 FROM sessions AS n WHERE n.worker = s.worker AND (
            n.ended_at IS NULL OR (n.created_at, n.session_id) > (s.created_at, s.session_id)))
        ORDER BY ended_at LIMIT ?)
      RETURNING session_id`);
    this.#deleteBeats = connection.prepare(
      "DELETE FROM session_beats WHERE session_id IN (SELECT value FROM json_each(?))",
    );
  }

  list({ labels = {}, name, names }: WorkerFilter = {}): Promise<readonly WorkerRow[]> {
    const named = names ? JSON.stringify(names) : null;
    return this.#connection.read(() =>
      this.#list.all(name ?? null, named, named, JSON.stringify(labels)).map(toWorker),
    );
  }

  find(name: string): Promise<WorkerRow | undefined> {
    return this.#connection.read(() => this.#get(name));
  }

  desire(name: string, desired: WorkerActivity): Promise<WorkerRow | undefined> {
    return this.#write(() => {
      this.#desire.run(desired, name);
      return this.#get(name);
    });
  }

  delete(name: string): Promise<boolean | undefined> {
    return this.#write(() => {
      const worker = this.#get(name);
      if (!worker) return undefined;
      const { session } = worker;
      if (session?.ended_at === null && session.lost_at === null) return false;
      this.#forgetAll(name);
      return true;
    });
  }

  deleteUnused(before: number, limit: number): Promise<readonly string[]> {
    return this.#write(() => {
      const names = this.#unused.all(before, limit).map(({ name }) => name);
      for (const name of names) this.#forgetAll(name);
      return names;
    });
  }

  deleteEndedSessions(before: number, limit: number): Promise<number> {
    return this.#write(() => {
      const ids = this.#deleteEnded.all(before, limit).map(({ session_id }) => session_id);
      this.#deleteBeats.run(JSON.stringify(ids));
      return ids.length;
    });
  }

  /** Guards look at what is written here. */
  #write<Value>(write: () => Value): Promise<Value> {
    return this.#commits.write(() => {
      this.#guards.forget();
      return write();
    });
  }

  #get(name: string): WorkerRow | undefined {
    const row = this.#find.get(name);
    return row && toWorker(row);
  }

  #forgetAll(name: string): void {
    for (const statement of this.#forget) statement.run(name);
  }
}
