import { type EventRecords, NO_RECORDS, type RecordedChange, recordsOf } from "../event-records.ts";
import { BoundInsert } from "./bound-insert.ts";
import type { Connection } from "./connection.ts";
import type { GroupCommit } from "./group-commit.ts";

/** Writes the rows that belong to events, inside of the transaction that writes the events. */
export class EventRecordWriter {
  readonly #commits: GroupCommit;
  readonly #kinds: readonly EventRecords[];
  readonly #inserts: readonly BoundInsert[];

  constructor(parts: {
    readonly connection: Connection;
    readonly commits: GroupCommit;
    readonly kinds: readonly EventRecords[];
  }) {
    const { connection, commits, kinds } = parts;
    this.#commits = commits;
    this.#kinds = kinds;
    this.#inserts = kinds.map((kind) => new BoundInsert(connection, kind));
  }

  write(change: RecordedChange): void {
    const all = recordsOf(this.#kinds, change);
    if (all === NO_RECORDS) return;
    for (const [kind, records] of all.entries()) {
      if (records.length === 0) continue;
      this.#inserts[kind]?.run(records);
      const { written } = this.#kinds[kind] ?? {};
      if (written) this.#commits.afterwards(() => written(records));
    }
  }
}
