import type { ReplicaRow } from "../store.ts";
import type { Database, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";

/** The servers on the database, which stamps their signs of life by its own clock: theirs may differ. */
export class Replicas {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #note: Statement;
  readonly #remove: Statement;

  constructor(database: Database, writes: Serial) {
    this.#database = database;
    this.#writes = writes;
    // The parts of one statement see the table as it was before it: hence its own row apart.
    this.#note = database.prepare(`
      WITH noted AS (
        INSERT INTO replicas (replica, seen_at) VALUES ($1, now())
        ON CONFLICT (replica) DO UPDATE SET seen_at = excluded.seen_at
      ), forgotten AS (
        DELETE FROM replicas WHERE replica IN (
          SELECT replica FROM replicas WHERE seen_at < now() - interval '1 hour' AND replica <> $1
          FOR UPDATE SKIP LOCKED)
      )
      SELECT $1::text AS replica, (extract(epoch FROM now()) * 1000)::float8 AS seen_at,
        0::float8 AS silent_ms
      UNION ALL
      SELECT replica, (extract(epoch FROM seen_at) * 1000)::float8,
        greatest(0, extract(epoch FROM now() - seen_at) * 1000)::float8
      FROM replicas WHERE replica <> $1 AND seen_at >= now() - interval '1 hour'`);
    this.#remove = database.prepare("DELETE FROM replicas WHERE replica = $1");
  }

  note(replica: string): Promise<readonly ReplicaRow[]> {
    return this.#writes.write(
      async () => (await this.#database.write(this.#note, replica)) as ReplicaRow[],
    );
  }

  async remove(replica: string): Promise<void> {
    await this.#writes.write(() => this.#database.write(this.#remove, replica));
  }
}
