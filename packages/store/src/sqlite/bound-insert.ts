import type { ColumnType, StoredRow } from "../operations/sql.ts";
import type { Connection } from "./connection.ts";

/** An insert that reads its rows from a table called `records`. */
export interface RecordInsert {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly insert: string;
}

/** Inserts rows bound one after another: to read them from one JSON text takes more than half as long again. */
export class BoundInsert {
  readonly #connection: Connection;
  readonly #text: string;
  readonly #names: readonly string[];

  constructor(connection: Connection, { columns, insert }: RecordInsert) {
    this.#connection = connection;
    this.#names = Object.keys(columns);
    // Numbers are bound as floating-point ones.
    const values = Object.values(columns).map((of) => (of === "text" ? "?" : "CAST(? AS INTEGER)"));
    const read = `SELECT ${values.join(", ")}`;
    this.#text = `WITH records (${this.#names.join(", ")}) AS (${read}) ${insert}`;
  }

  run(records: readonly StoredRow[]): void {
    if (records.length === 0) return;
    const one = this.#connection.prepareOnce(this.#text);
    for (const record of records) one.run(...this.#names.map((name) => record[name] ?? null));
  }
}
