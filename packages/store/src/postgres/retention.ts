import type { RetentionPort } from "../ports/retention.ts";
import {
  ExpiredExecutions,
  type Looked,
  type Need,
  needsSql,
  unneeded,
} from "../retention-rules.ts";
import type { Database, Statement } from "./database.ts";
import { Serial } from "./serial.ts";

/** Rows read at a time. */
const LOOKED_AT = 500;

/** Deletes what has been kept long enough. What others work on at that moment is passed over. */
export class Retention implements RetentionPort {
  readonly #database: Database;
  readonly #writes = new Serial();
  readonly #expired = new ExpiredExecutions();
  readonly #look: Statement;
  readonly #lock: Statement;
  readonly #needs: Statement;
  readonly #deleteSegments: Statement;
  readonly #deleteKeys: Statement;
  readonly #deletePlaces: Statement;
  readonly #deleteRows: Statement;
  readonly #forget: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#look = database.prepare(`
      SELECT execution_id, created_at, finished_at FROM executions
      WHERE execution_id > $1 ORDER BY execution_id LIMIT ${LOOKED_AT}`);
    this.#lock = database.prepare(`
      SELECT execution_id FROM executions WHERE execution_id = ANY($1)
      ORDER BY execution_id FOR UPDATE SKIP LOCKED`);
    this.#needs = database.prepare(needsSql("unnest($1::text[]) AS asked (execution_id)"));
    this.#deleteSegments = database.prepare("DELETE FROM segments WHERE execution_id = ANY($1)");
    this.#deleteKeys = database.prepare("DELETE FROM execution_keys WHERE execution_id = ANY($1)");
    this.#deletePlaces = database.prepare("DELETE FROM limit_holders WHERE execution_id = ANY($1)");
    this.#deleteRows = database.prepare("DELETE FROM executions WHERE execution_id = ANY($1)");
    this.#forget = database.prepare(`
      INSERT INTO forgotten_values (execution_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`);
  }

  deleteFinished(before: number, limit: number): Promise<readonly string[]> {
    return this.#expired.delete(before, limit, {
      size: LOOKED_AT,
      read: (after) => this.#database.read<Looked>(this.#look, after),
      delete: (ids) => this.#delete(ids),
    });
  }

  /** Resolves when all that was asked for has been answered. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  #delete(execution_ids: readonly string[]): Promise<readonly string[]> {
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        const [rows = []] = await lane.pipelined<{ execution_id: string }>([
          this.#lock,
          execution_ids,
        ]);
        const locked = rows.map(({ execution_id }) => execution_id);
        const [needs = []] = await lane.pipelined<Need>([this.#needs, locked]);
        const deleted = unneeded(locked, needs);
        await lane.pipelined(
          [this.#deleteSegments, deleted],
          [this.#deleteKeys, deleted],
          [this.#deletePlaces, deleted],
          [this.#deleteRows, deleted],
          [this.#forget, deleted],
        );
        return deleted;
      }),
    );
  }
}
