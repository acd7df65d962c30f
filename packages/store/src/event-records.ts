/**
 * Rows that belong to events, such as the deliveries of hooks. They are written in the transaction of
 * their events, on every path that writes events: none of the two is ever there without the other.
 */
import type { Event, ExecutionRow } from "@engine/contract";

export type EventRecord = Readonly<Record<string, string | number | null>>;

/** An execution and the events that one change writes for it. */
export interface RecordedChange {
  /** As it is stored; undefined for one that the change creates. */
  readonly stored: ExecutionRow | undefined;
  /** As the change leaves it. */
  readonly row: ExecutionRow;
  readonly events: readonly Event[];
  readonly recorded_at: number;
}

/** One kind of these rows, which a store is given when it is opened. */
export interface EventRecords {
  /** Those of the rows, in the order of their names here. */
  readonly columns: Readonly<Record<string, "text" | "integer" | "bigint">>;
  /**
   * Which rows a change yields. Pure and quick, like the decision that it follows: it is asked again
   * when that is, and what it throws refuses the change.
   */
  readonly of: (change: RecordedChange) => readonly EventRecord[];
  /**
   * `INSERT INTO … SELECT … FROM records …`, where `records` is a table of these rows. It may leave
   * some out by a join or a condition, and must pass over those that are there (`ON CONFLICT`), for
   * which SQLite wants a `WHERE`.
   */
  readonly insert: string;
  /**
   * Asked before changes are judged, where reading for that takes time: what `of` goes by has to be as
   * new as its kind promises. Undefined: it is. What it rejects with refuses the changes.
   */
  readonly ready?: () => Promise<void> | undefined;
  /** Told of rows that a commit has written, or has left out by the conditions of `insert`. */
  readonly written?: (records: readonly EventRecord[]) => void;
}

/** Rows of a change, by the place of their kind; empty when there are none of any. */
export type RecordsByKind = readonly (readonly EventRecord[])[];

export const NO_RECORDS: RecordsByKind = [];

export function recordsOf(kinds: readonly EventRecords[], change: RecordedChange): RecordsByKind {
  if (kinds.length === 0 || change.events.length === 0) return NO_RECORDS;
  let all: (readonly EventRecord[])[] | undefined;
  // Asked for each change: without an iterator.
  for (let place = 0; place < kinds.length; place++) {
    const records = kinds[place]?.of(change) ?? [];
    if (records.length === 0) continue;
    all ??= kinds.map(() => []);
    all[place] = records;
  }
  return all ?? NO_RECORDS;
}

/** Resolves once changes may be judged; undefined: they may be now. */
export function untilReady(kinds: readonly EventRecords[]): Promise<unknown> | undefined {
  const waits: Promise<void>[] = [];
  for (const { ready } of kinds) {
    const wait = ready?.();
    if (wait) waits.push(wait);
  }
  return waits.length > 0 ? Promise.all(waits) : undefined;
}

/** Tells each kind of the rows of a commit. */
export function tellWritten(
  kinds: readonly EventRecords[],
  written: readonly RecordsByKind[],
): void {
  for (const [place, { written: tell }] of kinds.entries()) {
    const records = tell ? written.flatMap((some) => some[place] ?? []) : [];
    if (records.length > 0) tell?.(records);
  }
}

export function bothRecords(a: RecordsByKind, b: RecordsByKind): RecordsByKind {
  if (a === NO_RECORDS || b === NO_RECORDS) return a === NO_RECORDS ? b : a;
  return a.map((some, kind) => [...some, ...(b[kind] ?? [])]);
}
