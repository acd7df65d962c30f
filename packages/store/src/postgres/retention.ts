import {
  type DeletedVersion,
  ExpiredExecutions,
  type Looked,
  modulesSql,
  type Need,
  needsSql,
  unneeded,
  withoutExecutions,
} from "../retention-rules.ts";
import { LOCK_CATALOG_SQL } from "./catalog.ts";
import type { Database, Statement } from "./database.ts";
import type { Serial } from "./serial.ts";

/** Rows read at a time. */
const LOOKED_AT = 500;

/** Deletes what has been kept long enough. What others work on at that moment is passed over. */
export class Retention {
  readonly #database: Database;
  readonly #writes: Serial;
  readonly #expired = new ExpiredExecutions();
  readonly #look: Statement;
  readonly #lock: Statement;
  readonly #needs: Statement;
  readonly #deleteSegments: Statement;
  readonly #deleteRows: Statement;
  readonly #forget: Statement;
  readonly #forgotten: Statement;
  readonly #confirm: Statement;
  readonly #deletedVersions: Statement;
  readonly #modules: Statement;
  readonly #lockCatalog: Statement;
  readonly #retire: Statement;
  readonly #deleteVersion: Statement;
  readonly #deleteCode: readonly Statement[];

  constructor(database: Database, writes: Serial) {
    this.#database = database;
    this.#writes = writes;
    this.#look = database.prepare(`
      SELECT execution_id, created_at, finished_at FROM executions
      WHERE execution_id > $1 ORDER BY execution_id LIMIT ${LOOKED_AT}`);
    this.#lock = database.prepare(`
      SELECT execution_id FROM executions WHERE execution_id = ANY($1)
      ORDER BY execution_id FOR UPDATE SKIP LOCKED`);
    this.#needs = database.prepare(needsSql("unnest($1::text[]) AS asked (execution_id)"));
    this.#deleteSegments = database.prepare("DELETE FROM segments WHERE execution_id = ANY($1)");
    this.#deleteRows = database.prepare("DELETE FROM executions WHERE execution_id = ANY($1)");
    this.#forget = database.prepare(`
      INSERT INTO forgotten_values (execution_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`);
    this.#forgotten = database.prepare(
      "SELECT execution_id FROM forgotten_values ORDER BY execution_id LIMIT $1",
    );
    this.#confirm = database.prepare("DELETE FROM forgotten_values WHERE execution_id = ANY($1)");
    this.#deletedVersions = database.prepare(`
      SELECT namespace, name, version, module_hash FROM workflow_versions
      WHERE deleted_at < coalesce($1::bigint, deleted_at + 1)
      ORDER BY deleted_at, namespace, name, version`);
    this.#modules = database.prepare(modulesSql("$1", LOOKED_AT));
    this.#lockCatalog = database.prepare(LOCK_CATALOG_SQL);
    this.#retire = database.prepare(`
      INSERT INTO retired_versions AS r (namespace, name, version) VALUES ($1, $2, $3)
      ON CONFLICT (namespace, name) DO UPDATE SET version = greatest(r.version, excluded.version)`);
    this.#deleteVersion = database.prepare(
      "DELETE FROM workflow_versions WHERE namespace = $1 AND name = $2 AND version = $3",
    );
    this.#deleteCode = [
      "DELETE FROM modules WHERE hash NOT IN (SELECT module_hash FROM workflow_versions)",
      "DELETE FROM file_sets WHERE hash NOT IN (SELECT file_set_hash FROM workflow_versions)",
    ].map((sql) => database.prepare(sql));
  }

  deleteFinished(before: number, limit: number): Promise<readonly string[]> {
    return this.#expired.delete(before, limit, {
      size: LOOKED_AT,
      read: (after) => this.#database.read<Looked>(this.#look, after),
      delete: (ids) => this.#delete(ids),
    });
  }

  async listForgotten(limit: number): Promise<readonly string[]> {
    const rows = await this.#database.read<{ execution_id: string }>(this.#forgotten, limit);
    return rows.map(({ execution_id }) => execution_id);
  }

  async confirmForgotten(execution_ids: readonly string[]): Promise<void> {
    await this.#writes.write(() => this.#database.write(this.#confirm, execution_ids));
  }

  async deleteUnusedVersions(limit: number, deletedBefore?: number): Promise<number> {
    const deleted = await this.#database.read<DeletedVersion>(
      this.#deletedVersions,
      deletedBefore ?? null,
    );
    const unused = await withoutExecutions(deleted, (after) =>
      this.#database.read(this.#modules, after),
    );
    const some = unused.slice(0, limit);
    if (some.length === 0) return 0;
    return this.#writes.write(() =>
      this.#database.transaction(async (lane) => {
        await lane.pipelined([this.#lockCatalog]);
        for (const { namespace, name, version } of some) {
          await lane.pipelined(
            [this.#retire, namespace, name, version],
            [this.#deleteVersion, namespace, name, version],
          );
        }
        await lane.pipelined(...this.#deleteCode.map((statement) => [statement] as const));
        return some.length;
      }),
    );
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
          [this.#deleteRows, deleted],
          [this.#forget, deleted],
        );
        return deleted;
      }),
    );
  }
}
