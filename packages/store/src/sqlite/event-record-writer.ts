import { type EventRecords, type RecordedChange, recordsOf } from "../event-records.ts";
import type { Connection } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

const INTEGER = "CAST(? AS INTEGER)";

/** Writes the rows that belong to events, inside of the transaction that writes the events. */
export class EventRecordWriter {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #kinds: readonly EventRecords[];
  readonly #inserts: readonly { readonly text: string; readonly names: readonly string[] }[];

  constructor(parts: {
    readonly connection: Connection;
    readonly commits: GroupCommit;
    readonly kinds: readonly EventRecords[];
  }) {
    const { connection, commits, kinds } = parts;
    this.#connection = connection;
    this.#commits = commits;
    this.#kinds = kinds;
    this.#inserts = kinds.map(({ columns, insert }) => {
      const names = Object.keys(columns);
      // Numbers are bound as floating-point ones.
      const values = Object.values(columns).map((of) => (of === "text" ? "?" : INTEGER));
      const read = `SELECT ${values.join(", ")}`;
      return { text: `WITH records (${names.join(", ")}) AS (${read}) ${insert}`, names };
    });
  }

  write(change: RecordedChange): void {
    if (this.#kinds.length === 0) return;
    for (const [kind, records] of recordsOf(this.#kinds, change).entries()) {
      const insert = this.#inserts[kind];
      if (!insert || records.length === 0) continue;
      // One after another: to read all of them from one JSON text takes more than half as long again.
      const one = this.#connection.prepareOnce(insert.text);
      for (const record of records) one.run(...insert.names.map((name) => record[name] ?? null));
      const { written } = this.#kinds[kind] ?? {};
      if (written) this.#commits.afterwards(() => written(records));
    }
  }
}
