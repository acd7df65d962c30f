import { openSqliteStore } from "@engine/store";
import Database from "better-sqlite3";
import { type Steps, stepEvents } from "./steps.ts";

/** The store's own tables without the store: two prepared statements in a transaction. */
export class BareTables implements Steps {
  readonly #db: Database.Database;
  readonly #insert: Database.Statement;
  readonly #update: Database.Statement;
  readonly #ids: readonly string[];
  #n = 0;

  private constructor(file: string, executions: number) {
    this.#db = new Database(file);
    this.#db.pragma("journal_mode = WAL");
    this.#db.pragma("synchronous = FULL");
    this.#ids = Array.from({ length: executions }, (_, i) => `execution-${i}`);
    const create = this.#db.prepare(`
      INSERT INTO executions (execution_id, namespace, workflow, version, state, session, generation,
        head, last_time, resuming, seed, priority, queued_at, created_at, updated_at, input_apart, input)
      VALUES (?, 'bench', 'chain', 1, 'RUNNING', 'bench', 1, 0, 0, 0, 'bench', 0, 0, 0, 0, 0, '3')`);
    for (const id of this.#ids) create.run(id);
    this.#insert = this.#db.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?)");
    this.#update = this.#db.prepare(
      "UPDATE executions SET head = ?, last_time = ?, updated_at = ? WHERE execution_id = ?",
    );
  }

  static async open(this: void, file: string, executions: number): Promise<BareTables> {
    const store = await openSqliteStore({ path: file, synchronous: "full", clock: Date.now });
    await store.close();
    return new BareTables(file, executions);
  }

  takeAll(): Promise<void> {
    this.takeStep();
    return Promise.resolve();
  }

  /** The next step of every execution, in one commit. */
  takeStep(): void {
    const events = stepEvents(this.#n);
    const [first, last] = [this.#n * events.length + 1, (this.#n + 1) * events.length];
    this.#n++;
    const now = Date.now();
    this.#db.transaction(() => {
      for (const id of this.#ids) {
        this.#insert.run(id, first, last, now, JSON.stringify(events));
        this.#update.run(last, now, now, id);
      }
    })();
  }

  heads(): Promise<readonly number[]> {
    const rows = this.#db.prepare("SELECT head FROM executions").all() as { head: number }[];
    return Promise.resolve(rows.map(({ head }) => head));
  }

  close(): Promise<void> {
    this.#db.close();
    return Promise.resolve();
  }
}
