import { type ExecutionRow, hasLazyInput } from "@engine/contract";
import type { RecordsByKind } from "../../event-records.ts";
import type { Changed, SessionGuard } from "../../ports/executions.ts";
import type { Segment } from "./event-texts.ts";

/** Rows that are kept at most; those looked at longest ago go first. */
const MOST = 10_000;

/** A row as this store wrote it, with the transaction that did. */
export interface KnownRow {
  readonly row: ExecutionRow;
  /** The database's number of the transaction that wrote this version of the row (`xmin`). */
  readonly written_by: number;
}

/** A change that was judged on a known row, with what it adds to the log. */
export interface KnownChange {
  readonly known: KnownRow;
  readonly changed: Changed;
  readonly segment: Segment;
  readonly records: RecordsByKind;
}

/** A fresh execution that is claimed with its creation. */
export interface ClaimedCreation {
  readonly guard: SessionGuard;
  readonly changed: Changed;
  readonly segment: Segment;
  readonly records: RecordsByKind;
}

/**
 * Executions that are being worked on, as this store has written them last. Another server may have
 * changed them since: a statement that relies on one has the database compare what it was written by.
 */
export class RowCache {
  readonly #rows = new Map<string, KnownRow>();

  find(execution_id: string): KnownRow | undefined {
    return this.#rows.get(execution_id);
  }

  /** Keeps what is owned: only that is changed again soon, and again. */
  keep(row: ExecutionRow, written_by: number): void {
    this.#rows.delete(row.execution_id);
    // A row whose input is read later would keep the text alive.
    if (row.session === null || hasLazyInput(row)) return;
    this.#rows.set(row.execution_id, { row, written_by });
    if (this.#rows.size <= MOST) return;
    const [oldest = ""] = this.#rows.keys();
    this.#rows.delete(oldest);
  }

  forget(execution_id: string): void {
    this.#rows.delete(execution_id);
  }
}
