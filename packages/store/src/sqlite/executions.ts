import {
  type Claimant,
  createdExecution,
  decideClaim,
  type Effect,
  type Event,
  type ExecutionPatch,
  type ExecutionRow,
  type NewExecution,
  notFound,
  type State,
} from "@engine/contract";
import type { Changed, Decide, DueExecution, DuePage, QueuedExecution } from "../store.ts";
import { type Connection, isDuplicateKey, type Statement } from "./connection.ts";
import {
  consequencesOf,
  type EffectSource,
  type Touched,
  taken,
  touch,
  untouched,
} from "./consequences.ts";
import type { EventLog } from "./event-log.ts";
import {
  assignmentsOf,
  COLUMNS_SQL,
  type FullRow,
  INSERT_SQL,
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
  readonly #due: Statement<DueExecution>;
  readonly #children: Statement<FullRow>;
  readonly #source: EffectSource = {
    find: (execution_id) => this.#load(execution_id),
    children: (parent_id) =>
      this.#children.all(parent_id).map((row) => toExecution(row, this.#readInput)),
  };

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
    this.#due = connection.prepare(LIST_DUE_SQL);
    this.#children = connection.prepareRaw(LIST_CHILDREN_SQL);
  }

  create(fresh: NewExecution, claimant?: Claimant): Promise<Changed> {
    return this.#commits.write((at) => {
      const { row, events, effects = NO_EFFECTS } = createdExecution(fresh);
      const created: Touched = { stored: undefined, row, patch: {}, events };
      const claim = claimant && decideClaim(row, claimant);
      return this.#write(claim ? touch(created, claim) : created, effects, at);
    });
  }

  change(execution_id: string, decide: Decide, above: number | undefined): Promise<Changed> {
    return this.#commits.write((at) => {
      const row = this.#load(execution_id);
      if (!row) throw notFound("execution", execution_id);
      // Almost every checkpoint extends the head: then there is nothing above it to read.
      const recorded = above === undefined || above >= row.head ? [] : this.#above(row, above);
      const change = decide(row, recorded);
      if (!change) return { row, events: [], recorded_at: at, others: [] };
      return this.#write(touch(untouched(row), change), change.effects ?? NO_EFFECTS, at);
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

  listDue({ until, limit, after }: DuePage): Promise<readonly DueExecution[]> {
    const { wake_at = Number.MIN_SAFE_INTEGER, execution_id = "" } = after ?? {};
    return this.#connection.read(() => this.#due.all(until, wake_at, execution_id, limit));
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

  /** Writes an execution, and whatever its change does to others. */
  #write(first: Touched, effects: readonly Effect[], at: number): Changed {
    if (effects.length === 0) return this.#save(first, at, NO_OTHERS);
    const [changed = first, ...others] = consequencesOf(first, effects, this.#source);
    return this.#save(
      changed,
      at,
      others.map((other) => this.#save(other, at, NO_OTHERS)),
    );
  }

  #save({ stored, row, patch, events }: Touched, at: number, others: readonly Changed[]): Changed {
    if (stored) this.#updateRow(stored, patch);
    else this.#insertRow(row);
    const written = this.#log.append(row.execution_id, stored?.head ?? 0, events, at);
    return { row, events: written, recorded_at: at, others };
  }

  #insertRow(row: ExecutionRow): void {
    const { values, inputApart } = toInsert(row);
    try {
      this.#insert.run(...values);
    } catch (error) {
      throw isDuplicateKey(error) ? taken(row.execution_id) : error;
    }
    if (inputApart !== undefined) this.#insertInput.run(row.execution_id, inputApart);
  }

  #updateRow(stored: ExecutionRow, patch: ExecutionPatch): void {
    const { mask, values } = assignmentsOf(stored, patch);
    if (mask !== 0) this.#update(mask).run(...values, stored.execution_id);
  }

  #update(mask: number): Statement<unknown> {
    let update = this.#updates.get(mask);
    if (!update) {
      update = this.#connection.prepare(updateSql(mask));
      this.#updates.set(mask, update);
    }
    return update;
  }
}

const NO_EFFECTS: readonly Effect[] = [];
const NO_OTHERS: readonly Changed[] = [];

// The conditions are those of the partial indexes, word for word.
export const LIST_QUEUED_SQL: string = `
  SELECT execution_id, priority, queued_at, last_worker FROM executions
  WHERE session IS NULL AND version IS NOT NULL AND state IN ('CREATED', 'RESUMING', 'CANCELLING')
  ORDER BY priority DESC, queued_at, execution_id LIMIT ?`;

export const LIST_OWNED_SQL: string = `
  SELECT execution_id, generation, state, head FROM executions
  WHERE session IS NOT NULL AND session = ? ORDER BY execution_id`;

export const LIST_DUE_SQL: string = `
  SELECT execution_id, wake_at FROM executions
  WHERE wake_at IS NOT NULL AND version IS NOT NULL
    AND wake_at <= ? AND (wake_at, execution_id) > (?, ?)
  ORDER BY wake_at, execution_id LIMIT ?`;

export const LIST_CHILDREN_SQL: string = `
  SELECT ${COLUMNS_SQL} FROM executions
  WHERE parent_id IS NOT NULL AND parent_id = ? ORDER BY execution_id`;
