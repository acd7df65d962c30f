import type { ExecutionRow } from "@engine/contract";
import { storedValue } from "../execution-columns.ts";
import type { Database, Query, Statement } from "./database.ts";
import { type Segment, segmentsOf } from "./event-texts.ts";
import {
  type ColumnTypes,
  changedColumns,
  type FullRow,
  fullRowSql,
  inputText,
  insertedRow,
  insertGuardedSql,
  insertRowsSql,
  MAX_SMALL_INPUT,
  toExecution,
  updatedRow,
  updateKnownSql,
  updateRowsSql,
} from "./execution-record.ts";
import type { InputCache } from "./input-cache.ts";
import type { ClaimedCreation, KnownChange } from "./row-cache.ts";
import type { Written } from "./workspace.ts";

/** A query of whole rows, with what turns its answer into executions. */
interface RowQuery {
  readonly query: Query;
  readonly read: (rows: readonly FullRow[]) => ReadonlyMap<string, ExecutionRow>;
}

/** The statements of the hot path: one per table, whatever number of executions. */
export class ExecutionStatements {
  readonly #database: Database;
  readonly #types: ColumnTypes;
  readonly #inputs: InputCache;
  readonly #lockWaiting: Statement;
  readonly #lockAtOnce: Statement;
  readonly #find: Statement;
  readonly #holders: Statement;
  readonly #lockSessions: Statement;
  readonly #children: Statement;
  readonly #insertRows: Statement;
  readonly #insertGuarded: Statement;
  readonly #insertSegments: Statement;
  readonly #updates = new Map<number, Statement>();
  readonly #knownUpdates = new Map<number, Statement>();

  constructor(database: Database, types: ColumnTypes, inputs: InputCache) {
    this.#database = database;
    this.#types = types;
    this.#inputs = inputs;
    const rows = `SELECT ${fullRowSql("$2::text[]")} FROM executions`;
    const lock = `${rows} WHERE execution_id = ANY($1) ORDER BY execution_id FOR NO KEY UPDATE`;
    this.#lockWaiting = database.prepare(lock, "array");
    this.#lockAtOnce = database.prepare(`${lock} NOWAIT`, "array");
    this.#find = database.prepare(`${rows} WHERE execution_id = $1`, "array");
    this.#holders = database.prepare(
      `${rows} WHERE unique_key IS NOT NULL AND unique_key = ANY($1)`,
      "array",
    );
    this.#lockSessions = database.prepare(LOCK_SESSIONS_SQL);
    this.#children = database.prepare(LIST_CHILDREN_SQL, "array");
    this.#insertRows = database.prepare(insertRowsSql(types), "array");
    this.#insertGuarded = database.prepare(insertGuardedSql(types), "array");
    this.#insertSegments = database.prepare(INSERT_SEGMENTS_SQL);
  }

  find(execution_id: string): RowQuery {
    const known = this.#inputs.find([execution_id]);
    return {
      query: [this.#find, execution_id, [...known.keys()]],
      read: (rows) => this.#read(rows, known),
    };
  }

  /** @param ids In their order. */
  lock(ids: readonly string[], held: "wait" | "nowait"): RowQuery {
    const known = this.#inputs.find(ids);
    const statement = held === "wait" ? this.#lockWaiting : this.#lockAtOnce;
    return {
      query: [statement, ids, [...known.keys()]],
      read: (rows) => this.#read(rows, known),
    };
  }

  /** Those that have one of these unique keys; not locked, since they only answer. */
  holders(unique_keys: readonly string[]): RowQuery {
    return {
      query: [this.#holders, unique_keys, []],
      read: (rows) => this.#read(rows, new Map()),
    };
  }

  /** Live sessions as they stay until the transaction ends. */
  lockSessions(session_ids: readonly string[]): Query {
    return [this.#lockSessions, session_ids];
  }

  children(parent_id: string): Query {
    return [this.#children, parent_id];
  }

  /** Whether an input is too long to be kept with its row. */
  hasLargeInput(execution_id: string): boolean {
    return this.#inputs.find([execution_id]).size > 0;
  }

  /** A fresh execution is stored: what is large of it may be asked for soon. */
  keepInput(row: ExecutionRow): void {
    const input = storedValue(row, "input");
    if (typeof input === "string" && input.length > MAX_SMALL_INPUT) {
      this.#inputs.keep(row.execution_id, input);
    }
  }

  /** What creates executions that sessions are to have at once. */
  writeClaimed(claimed: readonly ClaimedCreation[]): Query {
    const rows = claimed.map(({ changed, guard }) => ({
      ...insertedRow(changed.row),
      guard_epoch: guard.epoch,
    }));
    const segments = claimed.flatMap((one) => one.segments);
    const sessions = [...new Set(claimed.map(({ guard }) => guard.session))];
    return [this.#insertGuarded, JSON.stringify(rows), JSON.stringify(segments), sessions];
  }

  /** What changes executions that are known, and answers by what each was written. */
  writeKnown(judged: readonly KnownChange[]): Query {
    let mask = 0;
    for (const { known, changed } of judged) mask |= changedColumns(known.row, changed.row);
    const rows = judged.map(({ known, changed }) => ({
      ...updatedRow(changed.row, mask),
      written_by: known.written_by,
    }));
    let update = this.#knownUpdates.get(mask);
    if (!update) {
      update = this.#database.prepare(updateKnownSql(mask, this.#types), "array");
      this.#knownUpdates.set(mask, update);
    }
    const segments = judged.flatMap((one) => one.segments);
    return [update, JSON.stringify(rows), JSON.stringify(segments)];
  }

  /**
   * What has to be sent for executions to be stored as they are now. The answers of the first
   * `rowQueries` say by which transaction each row was written.
   */
  write(
    written: readonly Written[],
    at: number,
  ): {
    readonly queries: readonly Query[];
    readonly rowQueries: number;
    readonly segments: readonly Segment[];
  } {
    const segments: Segment[] = [];
    const created: ExecutionRow[] = [];
    const changed: ExecutionRow[] = [];
    let mask = 0;
    for (const { stored, row, texts } of written) {
      const head = stored?.head ?? 0;
      segments.push(
        ...segmentsOf(texts, { execution_id: row.execution_id, head, recorded_at: at }),
      );
      if (!stored) {
        created.push(row);
        continue;
      }
      const columns = changedColumns(stored, row);
      if (columns === 0) continue;
      mask |= columns;
      changed.push(row);
    }
    const queries: Query[] = [];
    if (created.length > 0) {
      const rows = inOrderOfKeys(created).map((row) => this.#created(row));
      queries.push([this.#insertRows, JSON.stringify(rows)]);
    }
    if (changed.length > 0) {
      const rows = changed.map((row) => updatedRow(row, mask));
      queries.push([this.#update(mask), JSON.stringify(rows)]);
    }
    const rowQueries = queries.length;
    if (segments.length > 0) queries.push([this.#insertSegments, JSON.stringify(segments)]);
    return { queries, rowQueries, segments };
  }

  #created(row: ExecutionRow): object {
    const record = insertedRow(row);
    const { input } = record;
    if (typeof input === "string" && input.length > MAX_SMALL_INPUT) {
      this.#inputs.keep(row.execution_id, input);
    }
    return record;
  }

  #read(
    rows: readonly FullRow[],
    known: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, ExecutionRow> {
    const executions = new Map<string, ExecutionRow>();
    for (const row of rows) {
      const text = inputText(row, known);
      if (text !== null && text.length > MAX_SMALL_INPUT) this.#inputs.keep(row[0], text);
      executions.set(row[0], toExecution(row, known));
    }
    return executions;
  }

  #update(mask: number): Statement {
    let update = this.#updates.get(mask);
    if (!update) {
      update = this.#database.prepare(updateRowsSql(mask, this.#types), "array");
      this.#updates.set(mask, update);
    }
    return update;
  }
}

/** Two commits that race for several keys wait for each other in one order. */
function inOrderOfKeys(rows: readonly ExecutionRow[]): readonly ExecutionRow[] {
  if (rows.every(({ unique_key }) => unique_key === null)) return rows;
  return rows.toSorted((a, b) => ((a.unique_key ?? "") < (b.unique_key ?? "") ? -1 : 1));
}

const LOCK_SESSIONS_SQL = `
  SELECT s.session_id, s.epoch, w.desired_state
  FROM sessions AS s JOIN workers AS w ON w.name = s.worker
  WHERE s.session_id = ANY($1) AND s.ended_at IS NULL
  ORDER BY s.session_id FOR SHARE OF s, w`;

const INSERT_SEGMENTS_SQL = `
  INSERT INTO segments (execution_id, seq, last_seq, recorded_at, events)
  SELECT execution_id, seq, last_seq, recorded_at, events FROM json_to_recordset($1::json)
  AS r(execution_id text, seq integer, last_seq integer, recorded_at bigint, events text)`;

export const LIST_CHILDREN_SQL: string = `
  SELECT execution_id FROM executions
  WHERE parent_id IS NOT NULL AND parent_id = $1 ORDER BY execution_id`;
