import {
  type EventRecord,
  type EventRecords,
  NO_RECORDS,
  type RecordsByKind,
  tellWritten,
  untilReady,
} from "../../event-records.ts";
import type { Database, Query } from "../database.ts";
import { type SentColumn, sentRows, sentRowsSql } from "./sent-columns.ts";

/** A row that belongs to an event of an execution. */
export interface OwnedRecord {
  readonly execution_id: string;
  readonly record: EventRecord;
}

const OWNER: SentColumn<OwnedRecord> = {
  name: "owner",
  type: "text",
  value: ({ execution_id }) => execution_id,
};

/** How rows that belong to events are written: by themselves, or as a part of the direct statement. */
export class EventRecordStatements {
  readonly kinds: readonly EventRecords[];
  readonly #database: Database;
  readonly #columns: readonly (readonly SentColumn<OwnedRecord>[])[];

  constructor(database: Database, kinds: readonly EventRecords[]) {
    this.kinds = kinds;
    this.#database = database;
    this.#columns = kinds.map(({ columns }) => [
      OWNER,
      ...Object.entries(columns).map(
        ([name, type]): SentColumn<OwnedRecord> => ({
          name,
          type,
          value: ({ record }) => record[name] ?? null,
        }),
      ),
    ]);
  }

  /** Resolves once changes may be judged; undefined: they may be now. */
  ready(): Promise<unknown> | undefined {
    return untilReady(this.kinds);
  }

  /** What became of records: a commit has written them. */
  written(all: readonly { readonly records: RecordsByKind }[]): void {
    const some = all.flatMap(({ records }) => (records === NO_RECORDS ? [] : [records]));
    if (some.length > 0) tellWritten(this.kinds, some);
  }

  /** The records of several executions, by kind. */
  owned(
    all: readonly { readonly execution_id: string; readonly records: RecordsByKind }[],
  ): readonly (readonly OwnedRecord[])[] {
    return this.kinds.map((_, kind) =>
      all.flatMap(({ execution_id, records }) =>
        (records[kind] ?? []).map((record) => ({ execution_id, record })),
      ),
    );
  }

  /** For a transaction that writes the events by other statements. */
  queries(owned: readonly (readonly OwnedRecord[])[]): readonly Query[] {
    return owned.flatMap((records, kind): Query[] => {
      if (records.length === 0) return [];
      return [[this.#database.prepare(this.#insertSql(kind, 1, "")), ...this.sent(kind, records)]];
    });
  }

  /**
   * For a statement that writes the events of some executions and leaves out those of others.
   *
   * @param first Number of the first of its parameters.
   */
  part(kind: number, first: number): { readonly sql: string; readonly parameters: number } {
    const joined = "JOIN written ON written.execution_id = sent.owner";
    const sql = `recorded_${kind} AS (${this.#insertSql(kind, first, joined)})`;
    return { sql, parameters: this.#columns[kind]?.length ?? 0 };
  }

  sent(kind: number, records: readonly OwnedRecord[]): readonly Buffer[] {
    return sentRows(this.#columns[kind] ?? [], records);
  }

  #insertSql(kind: number, first: number, joined: string): string {
    const { insert = "" } = this.kinds[kind] ?? {};
    const sent = sentRowsSql(this.#columns[kind] ?? [], first);
    return `WITH records AS (SELECT sent.* FROM ${sent} AS sent ${joined}) ${insert}`;
  }
}
