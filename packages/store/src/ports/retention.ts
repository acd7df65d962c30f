import type { Kinds } from "./port.ts";

/** Takes away executions that have been kept long enough. */
export interface RetentionPort {
  /**
   * Retention: deletes executions that ended before an instant, with their logs (EXE-98). It keeps a
   * child as long as its parent is kept, and what a fork that is kept was made from: their logs may
   * point at its values. It looks in the order of ids and goes on where it was: fewer than `limit` says
   * that it has come to the end. Answers which.
   */
  deleteFinished(before: number, limit: number): Promise<readonly string[]>;
}

export const RETENTION: Kinds<RetentionPort> = {
  deleteFinished: "write",
};
