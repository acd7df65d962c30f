import type { Bindable } from "./connection.ts";

/** A read that may look at many rows to answer few. */
export interface ListQuery {
  readonly sql: string;
  readonly values: readonly Bindable[];
}

/** Answers lists; rows are arrays in the order of the columns asked for. */
export interface ListReader {
  /** Reads all of them at one moment, which is behind every commit that was acknowledged. */
  read(queries: readonly ListQuery[]): Promise<readonly (readonly unknown[])[][]>;
  /** Reads nothing more. */
  close(): Promise<void>;
}

/** SQLite's own LIKE ignores case in ASCII only. */
export function startsWithAnyCase(text: string, beginning: string): 0 | 1 {
  return text.toLowerCase().startsWith(beginning.toLowerCase()) ? 1 : 0;
}
