/**
 * Reads of lists, which may look at many rows to answer few. The thread that reads them loads this
 * file: it imports nothing that would make the first list wait.
 */
import { folded } from "../folded.ts";
import type { RenderedSql } from "../operations/sql.ts";
import type { Bindable, Connection } from "./connection.ts";

/** The rows of each query, as arrays in the order of the columns asked for. */
export type ListRows = readonly (readonly (readonly unknown[])[])[];

/** Answers lists. */
export interface ListReader {
  /** Reads all of them at one moment, which is behind every commit that was acknowledged. */
  read(queries: readonly RenderedSql[]): Promise<ListRows>;
  /** Reads nothing more. */
  close(): Promise<void>;
}

/** Reads lists on the store's own connection, while everything else waits. */
export function listsOn(connection: Connection): ListReader {
  return {
    read: (queries) => connection.read(() => queries.map((query) => rowsOf(connection, query))),
    close: async () => {},
  };
}

function rowsOf(
  connection: Connection,
  { text, values }: RenderedSql,
): readonly (readonly unknown[])[] {
  return connection.prepareOnce<readonly unknown[]>(text, "raw").all(...(values as Bindable[]));
}

/** SQLite's own LIKE ignores case in ASCII only. */
export function startsWithAnyCase(text: string, beginning: string): 0 | 1 {
  return folded(text).startsWith(folded(beginning)) ? 1 : 0;
}
