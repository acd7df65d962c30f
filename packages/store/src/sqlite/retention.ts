import { setImmediate as nextTurn } from "node:timers/promises";
import type { RetentionPort } from "../ports/retention.ts";
import {
  ExpiredExecutions,
  type Looked,
  type Need,
  needsSql,
  unneeded,
} from "../retention-rules.ts";
import type { Connection, Statement } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

/** Rows read in one turn of the event loop. */
const LOOKED_AT = 500;
/** Rows deleted in one transaction: it takes a few milliseconds. */
const DELETED_TOGETHER = 500;

/** Deletes what has been kept long enough, in steps between which everything else goes on. */
export class Retention implements RetentionPort {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #expired = new ExpiredExecutions();
  readonly #look: Statement<Looked>;
  readonly #needs: Statement<Need>;
  readonly #deleteSegments: Statement<unknown>;
  readonly #deleteInput: Statement<unknown>;
  readonly #deleteKey: Statement<unknown>;
  readonly #deletePlaces: Statement<unknown>;
  readonly #deleteRow: Statement<unknown>;
  readonly #forget: Statement<unknown>;

  constructor(connection: Connection, commits: GroupCommit) {
    this.#connection = connection;
    this.#commits = commits;
    this.#look = connection.prepare(`
      SELECT execution_id, created_at, finished_at FROM executions
      WHERE execution_id > ? ORDER BY execution_id LIMIT ${LOOKED_AT}`);
    this.#needs = connection.prepare(`
      WITH asked AS (SELECT value AS execution_id FROM json_each(?)) ${needsSql("asked")}`);
    // The newest first: a reader meanwhile sees a shorter log, without holes.
    this.#deleteSegments = connection.prepare(`
      DELETE FROM segments WHERE (execution_id, seq) IN (
        SELECT execution_id, seq FROM segments WHERE execution_id = ? ORDER BY seq DESC LIMIT ?)`);
    this.#deleteInput = connection.prepare("DELETE FROM execution_inputs WHERE execution_id = ?");
    this.#deleteKey = connection.prepare("DELETE FROM execution_keys WHERE execution_id = ?");
    this.#deletePlaces = connection.prepare("DELETE FROM limit_holders WHERE execution_id = ?");
    this.#deleteRow = connection.prepare("DELETE FROM executions WHERE execution_id = ?");
    this.#forget = connection.prepare(
      "INSERT INTO forgotten_values (execution_id) VALUES (?) ON CONFLICT DO NOTHING",
    );
  }

  deleteFinished(before: number, limit: number): Promise<readonly string[]> {
    return this.#expired.delete(before, limit, {
      size: LOOKED_AT,
      read: (after) => this.#read(() => this.#look.all(after)),
      delete: (ids) => this.#delete(ids),
    });
  }

  async #delete(execution_ids: readonly string[]): Promise<readonly string[]> {
    const needs = await this.#read(() => this.#needs.all(JSON.stringify(execution_ids)));
    const deleted = unneeded(execution_ids, needs);
    for (let done = 0; done < deleted.length; ) {
      done += await this.#commits.write(() => this.#deleteSome(deleted.slice(done)));
    }
    return deleted;
  }

  /** As many as fit into one transaction; of a very long log only a part. */
  #deleteSome(execution_ids: readonly string[]): number {
    let left = DELETED_TOGETHER;
    for (const [done, id] of execution_ids.entries()) {
      left -= this.#deleteSegments.run(id, left);
      if (left <= 0) return done;
      this.#deleteInput.run(id);
      this.#deleteKey.run(id);
      this.#deletePlaces.run(id);
      this.#deleteRow.run(id);
      this.#forget.run(id);
      left--;
      if (left <= 0) return done + 1;
    }
    return execution_ids.length;
  }

  async #read<Value>(read: () => Value): Promise<Value> {
    await nextTurn();
    return this.#connection.read(read);
  }
}
