import { type EventRecords, type RecordedChange, recordsOf } from "../event-records.ts";
import type { Connection } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

/** Writes the rows that belong to events, inside of the transaction that writes the events. */
export class EventRecordWriter {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #kinds: readonly EventRecords[];
  readonly #texts: readonly string[];

  constructor(parts: {
    readonly connection: Connection;
    readonly commits: GroupCommit;
    readonly kinds: readonly EventRecords[];
  }) {
    const { connection, commits, kinds } = parts;
    this.#connection = connection;
    this.#commits = commits;
    this.#kinds = kinds;
    this.#texts = kinds.map(({ columns, insert }) => {
      const read = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`);
      return `WITH records AS (SELECT ${read.join(", ")} FROM json_each(?)) ${insert}`;
    });
  }

  write(change: RecordedChange): void {
    if (this.#kinds.length === 0) return;
    for (const [kind, records] of recordsOf(this.#kinds, change).entries()) {
      if (records.length === 0) continue;
      this.#connection.prepareOnce(this.#texts[kind] ?? "").run(JSON.stringify(records));
      const { written } = this.#kinds[kind] ?? {};
      if (written) this.#commits.afterwards(() => written(records));
    }
  }
}
