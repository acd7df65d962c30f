import {
  type Claimant,
  createdExecution,
  decideClaim,
  EngineError,
  type Event,
  type ExecutionRow,
  type NewEvent,
  type NewExecution,
  notFound,
  type State,
} from "@engine/contract";
import type { Change, Changed, Decide, QueuedExecution } from "../store.ts";
import { type Connection, isDuplicateKey, type Statement } from "./connection.ts";
import type { EventLog } from "./event-log.ts";
import {
  assignmentsOf,
  COLUMNS_SQL,
  type FullRow,
  INSERT_SQL,
  patched,
  toExecution,
  toInsert,
  updateSql,
} from "./execution-record.ts";
import type { GroupCommit } from "./group-commit.ts";

/** The hot part of the store: executions and what happens to them. */
export class Executions {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #log: EventLog;
  readonly #select: Statement<FullRow>;
  readonly #selectInput: Statement<readonly [string]>;
  readonly #insert: Statement<unknown>;
  readonly #insertInput: Statement<unknown>;
  readonly #updates = new Map<number, Statement<unknown>>();
  readonly #queued: Statement<QueuedExecution>;
  readonly #owned: Statement<{
    execution_id: string;
    generation: number;
    state: State;
    head: number;
  }>;

  constructor(connection: Connection, commits: GroupCommit, log: EventLog) {
    this.#connection = connection;
    this.#commits = commits;
    this.#log = log;
    this.#select = connection.prepareRaw(
      `SELECT ${COLUMNS_SQL} FROM executions WHERE execution_id = ?`,
    );
    this.#selectInput = connection.prepareRaw(
      "SELECT input FROM execution_inputs WHERE execution_id = ?",
    );
    this.#insert = connection.prepare(INSERT_SQL);
    this.#insertInput = connection.prepare("INSERT INTO execution_inputs VALUES (?, ?)");
    this.#queued = connection.prepare(LIST_QUEUED_SQL);
    this.#owned = connection.prepare(LIST_OWNED_SQL);
  }

  create(fresh: NewExecution, claimant?: Claimant): Promise<Changed> {
    return this.#commits.write((at) => {
      const created = createdExecution(fresh);
      const claim = claimant && decideClaim(created.row, claimant);
      const row = claim ? { ...created.row, ...claim.patch } : created.row;
      const { values, inputApart } = toInsert(row);
      this.#insertRow(row.execution_id, values);
      if (inputApart !== undefined) this.#insertInput.run(row.execution_id, inputApart);
      return this.#append(row, 0, [created.event, ...(claim?.events ?? [])], at);
    });
  }

  change(execution_id: string, decide: Decide, above: number | undefined): Promise<Changed> {
    return this.#commits.write((at) => {
      const row = this.#load(execution_id);
      if (!row) throw notFound("execution", execution_id);
      // Almost every checkpoint extends the head: then there is nothing above it to read.
      const recorded = above === undefined || above >= row.head ? [] : this.#above(row, above);
      const change = decide(row, recorded);
      return change ? this.#write(row, change, at) : { row, events: [], recorded_at: at };
    });
  }

  find(execution_id: string): Promise<ExecutionRow | undefined> {
    return this.#connection.read(() => {
      const row = this.#load(execution_id);
      // Whoever asks for the row wants its input too, and may have closed the store when it looks.
      return row && { ...row };
    });
  }

  listQueued(limit: number): Promise<readonly QueuedExecution[]> {
    return this.#connection.read(() => this.#queued.all(limit));
  }

  listOwned(
    session_id: string,
  ): Promise<readonly { execution_id: string; generation: number; state: State; head: number }[]> {
    return this.#connection.read(() => this.#owned.all(session_id));
  }

  #load(execution_id: string): ExecutionRow | undefined {
    const row = this.#select.get(execution_id);
    return row && toExecution(row, this.#readInput);
  }

  readonly #readInput = (execution_id: string): string => {
    this.#connection.assertOpen();
    const [input] = this.#selectInput.get(execution_id) ?? [];
    if (input === undefined) throw new Error(`execution ${execution_id} has lost its input`);
    return input;
  };

  #above(row: ExecutionRow, above: number): readonly Event[] {
    return this.#log.read(row.execution_id, { after: above }).map(({ event }) => event);
  }

  #insertRow(execution_id: string, values: Parameters<Statement<unknown>["run"]>): void {
    try {
      this.#insert.run(...values);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new EngineError("conflict", `an execution ${execution_id} exists already`);
    }
  }

  #write(row: ExecutionRow, change: Change, at: number): Changed {
    const { events } = change;
    const head = row.head + events.length;
    if ((change.patch.head ?? head) !== head) {
      throw new Error(`a decision set head ${change.patch.head}, its events end at ${head}`);
    }
    const patch = { ...change.patch, head };
    const { mask, values } = assignmentsOf(row, patch);
    if (mask !== 0) this.#update(mask).run(...values, row.execution_id);
    return this.#append(patched(row, patch), row.head, events, at);
  }

  #update(mask: number): Statement<unknown> {
    let update = this.#updates.get(mask);
    if (!update) {
      update = this.#connection.prepare(updateSql(mask));
      this.#updates.set(mask, update);
    }
    return update;
  }

  #append(row: ExecutionRow, head: number, events: readonly NewEvent[], at: number): Changed {
    return {
      row,
      events: this.#log.append(row.execution_id, head, events, at),
      recorded_at: at,
    };
  }
}

// The conditions are those of the partial indexes, word for word.
export const LIST_QUEUED_SQL: string = `
  SELECT execution_id, priority, queued_at, last_worker FROM executions
  WHERE session IS NULL AND version IS NOT NULL AND state IN ('CREATED', 'RESUMING', 'CANCELLING')
  ORDER BY priority DESC, queued_at, execution_id LIMIT ?`;

export const LIST_OWNED_SQL: string = `
  SELECT execution_id, generation, state, head FROM executions
  WHERE session IS NOT NULL AND session = ? ORDER BY execution_id`;
