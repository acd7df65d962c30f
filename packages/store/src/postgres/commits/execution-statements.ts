import type { ExecutionRow } from "@engine/contract";
import { type StoredRow, storedValue } from "../../execution-columns.ts";
import type { Database, Parameter, Query, Statement } from "../database.ts";
import { fullRowSql, inputText, MAX_SMALL_INPUT, toExecution } from "../execution-record.ts";
import { type Segment, segmentsOf } from "./event-texts.ts";
import type { InputCache } from "./input-cache.ts";
import { SignalStatements, type SignalsAsked } from "./kept-signals.ts";
import {
  type ColumnTypes,
  changedColumns,
  columnsOf,
  executionColumns,
  INSERTED,
  type SentColumn,
  sentRows,
  sentRowsSql,
} from "./sent-columns.ts";
import type { Written } from "./workspace.ts";

/** A query of whole rows, with what turns its answer into executions. */
export interface RowQuery {
  readonly query: Query;
  readonly read: (rows: readonly StoredRow[]) => ReadonlyMap<string, ExecutionRow>;
}

interface Update {
  readonly statement: Statement;
  /** The id, and what is set. */
  readonly columns: readonly SentColumn<ExecutionRow>[];
}

/** The statements of transactions that change executions: one per table, however many there are. */
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
  readonly #inserted: readonly SentColumn<ExecutionRow>[];
  readonly #insertRows: Statement;
  readonly #insertSegments: Statement;
  readonly #signals: SignalStatements;
  readonly #updates = new Map<number, Update>();

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
    this.#inserted = executionColumns(INSERTED, types);
    this.#insertRows = database.prepare(insertRowsSql(this.#inserted), "array");
    this.#insertSegments = database.prepare(INSERT_SEGMENTS_SQL);
    this.#signals = new SignalStatements(database);
  }

  find(execution_id: string): RowQuery {
    return this.#rowQuery(this.#find, execution_id, [execution_id]);
  }

  /** @param ids In their order. */
  lock(ids: readonly string[], held: "wait" | "nowait"): RowQuery {
    return this.#rowQuery(held === "wait" ? this.#lockWaiting : this.#lockAtOnce, ids, ids);
  }

  /** Those that have one of these unique keys; not locked, since they only answer. */
  holders(unique_keys: readonly string[]): RowQuery {
    return this.#rowQuery(this.#holders, unique_keys, []);
  }

  /** Live sessions as they stay until the transaction ends. */
  lockSessions(session_ids: readonly string[]): Query {
    return [this.#lockSessions, session_ids];
  }

  children(parent_id: string): Query {
    return [this.#children, parent_id];
  }

  /** The oldest of them, some at once. */
  signals(asked: SignalsAsked): Query {
    return this.#signals.find(asked);
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
      for (const row of created) this.keepInput(row);
      queries.push([this.#insertRows, ...sentRows(this.#inserted, inOrderOfKeys(created))]);
    }
    if (changed.length > 0) {
      const { statement, columns } = this.#update(mask);
      queries.push([statement, ...sentRows(columns, changed)]);
    }
    const rowQueries = queries.length;
    if (segments.length > 0) {
      queries.push([this.#insertSegments, ...sentRows(SEGMENT_COLUMNS, segments)]);
    }
    queries.push(...this.#signals.write(written));
    return { queries, rowQueries, segments };
  }

  /** @param ids Of the executions whose inputs may be at hand. */
  #rowQuery(statement: Statement, asked: Parameter, ids: readonly string[]): RowQuery {
    const known = this.#inputs.find(ids);
    return {
      query: [statement, asked, [...known.keys()]],
      read: (rows) => this.#read(rows, known),
    };
  }

  #read(
    rows: readonly StoredRow[],
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

  #update(mask: number): Update {
    let update = this.#updates.get(mask);
    if (!update) {
      const columns = executionColumns(["execution_id", ...columnsOf(mask)], this.#types);
      update = { columns, statement: this.#database.prepare(updateRowsSql(columns), "array") };
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
  SELECT s.session_id, s.epoch, w.desired_state, w.revision
  FROM sessions AS s JOIN workers AS w ON w.name = s.worker
  WHERE s.session_id = ANY($1) AND s.ended_at IS NULL
  ORDER BY s.session_id FOR SHARE OF s, w`;

const SEGMENT_COLUMNS: readonly SentColumn<Segment>[] = [
  { name: "execution_id", type: "text", value: ({ execution_id }) => execution_id },
  { name: "seq", type: "integer", value: ({ seq }) => seq },
  { name: "last_seq", type: "integer", value: ({ last_seq }) => last_seq },
  { name: "recorded_at", type: "bigint", value: ({ recorded_at }) => recorded_at },
  { name: "events", type: "text", value: ({ events }) => events },
];

const INSERT_SEGMENTS_SQL = `
  INSERT INTO segments (execution_id, seq, last_seq, recorded_at, events)
  SELECT * FROM ${sentRowsSql(SEGMENT_COLUMNS)} AS r`;

function insertRowsSql(columns: readonly SentColumn<ExecutionRow>[]): string {
  const names = columns.map(({ name }) => name).join(", ");
  return `INSERT INTO executions (${names}) SELECT * FROM ${sentRowsSql(columns)} AS r
    RETURNING execution_id, xmin`;
}

/** One statement for all rows, which sets every column that differs in any of them. */
function updateRowsSql(columns: readonly SentColumn<ExecutionRow>[]): string {
  const [, ...changed] = columns;
  const assignments = changed.map(({ name }) => `${name} = r.${name}`).join(", ");
  return `UPDATE executions AS e SET ${assignments}
    FROM ${sentRowsSql(columns)} AS r WHERE e.execution_id = r.execution_id
    RETURNING e.execution_id, e.xmin`;
}

export const LIST_CHILDREN_SQL: string = `
  SELECT execution_id FROM executions
  WHERE parent_id IS NOT NULL AND parent_id = $1 ORDER BY execution_id`;
