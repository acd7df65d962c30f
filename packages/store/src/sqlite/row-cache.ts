import { type ExecutionRow, hasLazyInput } from "@engine/contract";
import type { Connection } from "./connection.ts";

/** Rows that are kept at most; those that came first go first, and come back with their next change. */
const MOST = 10_000;

/**
 * Executions that are being worked on, as they are stored: inside a transaction, a change of one need
 * not read it. Every change of a row comes by here.
 */
export class RowCache {
  readonly #rows = new Map<string, ExecutionRow>();

  constructor(connection: Connection) {
    connection.remember(() => this.#rows.clear());
  }

  find(execution_id: string): ExecutionRow | undefined {
    return this.#rows.get(execution_id);
  }

  /** Takes over a row that was written. Only what is owned is changed again soon, and again. */
  keep(row: ExecutionRow): void {
    // A row whose input is read later would keep the text alive.
    if (row.session === null || hasLazyInput(row)) {
      this.#rows.delete(row.execution_id);
      return;
    }
    this.#rows.set(row.execution_id, row);
    if (this.#rows.size <= MOST) return;
    const [oldest = ""] = this.#rows.keys();
    this.#rows.delete(oldest);
  }
}
