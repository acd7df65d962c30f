import {
  type ConcurrencyDenial,
  concurrencyLimited,
  concurrencyLimitedCall,
  consequencesOf,
  creation,
  type Effect,
  type EffectSource,
  type Event,
  type ExecutionPatch,
  type ExecutionRow,
  idTaken,
  type NewExecution,
  NO_EFFECTS,
  notFound,
  type Touched,
  touch,
  untouched,
} from "@engine/contract";
import { type StoredRow, toSummary } from "../execution-columns.ts";
import { listQueries, openRuns, toPage } from "../execution-list.ts";
import { undelivered } from "../hooks/undelivered.ts";
import { limitsOfClaim, rejectingLimits } from "../limits/claim-limits.ts";
import { rendered } from "../operations/sql.ts";
import type {
  Changed,
  ChangeOptions,
  Decide,
  ExecutionFilter,
  ExecutionPort,
  GuardedClaimant,
} from "../ports/executions.ts";
import type { Page } from "../ports/port.ts";
import { guardOf } from "../session-guard.ts";
import { ClaimLimits } from "./claim-limits.ts";
import { type Bindable, type Connection, isDuplicateKey, type Statement } from "./connection.ts";
import type { EventLog } from "./event-log.ts";
import type { EventRecordWriter } from "./event-record-writer.ts";
import {
  assignmentsOf,
  COLUMNS_SQL,
  INSERT_SQL,
  toExecution,
  toInsert,
  updateSql,
} from "./execution-record.ts";
import type { GroupCommit } from "./group-commit.ts";
import { GuardedDeliveries } from "./guarded-deliveries.ts";
import { KeptSignals } from "./kept-signals.ts";
import type { ListReader } from "./lists.ts";
import { RowCache } from "./row-cache.ts";
import type { SessionGuards } from "./session-guards.ts";

/** The hot part of the store: executions and what happens to them. */
export class Executions implements ExecutionPort {
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #log: EventLog;
  readonly #guards: SessionGuards;
  readonly #lists: ListReader;
  readonly #records: EventRecordWriter;
  readonly #known: RowCache;
  readonly #signals: KeptSignals;
  readonly #limits: ClaimLimits;
  readonly #deliveries: GuardedDeliveries;
  readonly #select: Statement<StoredRow>;
  readonly #selectInput: Statement<readonly [string]>;
  readonly #insert: Statement<unknown>;
  readonly #insertInput: Statement<unknown>;
  readonly #updates = new Map<number, Statement<unknown>>();
  readonly #keyHolder: Statement<StoredRow>;
  readonly #children: Statement<StoredRow>;
  readonly #source: EffectSource = {
    find: (execution_id) => this.#current(execution_id),
    children: (parent_id) =>
      this.#children.all(parent_id).map((row) => toExecution(row, this.#readInput)),
  };

  constructor(parts: {
    readonly connection: Connection;
    readonly commits: GroupCommit;
    readonly log: EventLog;
    readonly guards: SessionGuards;
    readonly lists: ListReader;
    readonly records: EventRecordWriter;
  }) {
    const { connection, commits, log, guards, lists, records } = parts;
    this.#connection = connection;
    this.#commits = commits;
    this.#log = log;
    this.#guards = guards;
    this.#lists = lists;
    this.#records = records;
    this.#known = new RowCache(connection);
    this.#signals = new KeptSignals(connection);
    this.#limits = new ClaimLimits(connection);
    this.#deliveries = new GuardedDeliveries(connection);
    this.#select = connection.prepareRaw(
      `SELECT ${COLUMNS_SQL} FROM executions WHERE execution_id = ?`,
    );
    this.#selectInput = connection.prepareRaw(
      "SELECT input FROM execution_inputs WHERE execution_id = ?",
    );
    this.#insert = connection.prepare(INSERT_SQL);
    this.#insertInput = connection.prepare("INSERT INTO execution_inputs VALUES (?, ?)");
    this.#keyHolder = connection.prepareRaw(
      `SELECT ${COLUMNS_SQL} FROM executions WHERE unique_key IS NOT NULL AND unique_key = ?`,
    );
    this.#children = connection.prepareRaw(LIST_CHILDREN_SQL);
  }

  create(fresh: NewExecution, claimant?: GuardedClaimant): Promise<Changed> {
    return this.#commits.write((at) => {
      const { delivery } = fresh;
      if (delivery && !this.#deliveries.holds(delivery)) return undelivered(fresh, at);
      const changed = this.#create(fresh, claimant, at);
      if (delivery) this.#deliveries.settle(delivery, changed.row.execution_id, at);
      return changed;
    });
  }

  #create(fresh: NewExecution, claimant: GuardedClaimant | undefined, at: number): Changed {
    const { unique, delivery, execution_id } = fresh;
    const existing =
      (unique && this.#withKey(unique.key)) ?? (delivery && this.#current(execution_id));
    if (existing) {
      return { row: existing, events: [], recorded_at: at, others: [], existing: true };
    }
    const isHeld = claimant && this.#guards.holds(guardOf(claimant));
    const claimed = creation(fresh, isHeld ? claimant : undefined);
    const limits = limitsOfClaim(undefined, claimed.created.row);
    const limited = limits && this.#limits.take(limits, claimed.created.row, at);
    if (!limits || limited) this.#assertRoom(fresh, at);
    if (!limited) return this.#write(claimed.created, claimed.effects, at);
    const { created, effects } = creation(fresh, undefined);
    return { ...this.#write(created, effects, at), limited };
  }

  change(
    execution_id: string,
    decide: Decide,
    { above, guard }: ChangeOptions = {},
  ): Promise<Changed> {
    return this.#commits.write((at) => {
      const row = this.#current(execution_id);
      if (!row) throw notFound("execution", execution_id);
      const unchanged = { row, events: [], recorded_at: at, others: [], unchanged: true } as const;
      if (!this.#guards.holds(guard)) return unchanged;
      // Almost every checkpoint extends the head: then there is nothing above it to read.
      const recorded = above === undefined || above >= row.head ? [] : this.#above(row, above);
      const change = decide(row, recorded, this.#signals.finderOf(execution_id));
      if (!change) return unchanged;
      const touched = touch(untouched(row), change);
      const limits = limitsOfClaim(row, touched.row);
      const limited = limits && this.#limits.take(limits, touched.row, at);
      if (limited) return { ...unchanged, limited };
      return this.#write(touched, change.effects ?? NO_EFFECTS, at);
    });
  }

  /** Refuses a start that would wait for a place, where its workflow wants that. */
  #assertRoom(fresh: NewExecution, at: number): void {
    const denied = this.#noRoom(fresh, at);
    if (denied) throw concurrencyLimited(denied);
  }

  #noRoom(fresh: NewExecution, at: number): ConcurrencyDenial | undefined {
    const limits = rejectingLimits(fresh);
    return limits && this.#limits.look(limits, fresh.execution_id, at);
  }

  find(execution_id: string): Promise<ExecutionRow | undefined> {
    return this.#connection.read(() => {
      const row = this.#load(execution_id);
      // A caller wants the input too, and may have closed the store when it looks.
      return row && { ...row };
    });
  }

  /** As it is at this place of a transaction. */
  #current(execution_id: string): ExecutionRow | undefined {
    return this.#known.find(execution_id) ?? this.#load(execution_id);
  }

  findByKey(unique_key: string): Promise<ExecutionRow | undefined> {
    return this.#connection.read(() => {
      const row = this.#withKey(unique_key);
      return row && { ...row };
    });
  }

  async list(filter: ExecutionFilter): Promise<Page<ExecutionRow>> {
    const queries = listQueries(filter).map((query) => rendered(query, "sqlite"));
    return toPage(await this.#lists.read(queries));
  }

  listOpenRuns(schedule: string, limit: number): Promise<readonly ExecutionRow[]> {
    const { text, values } = rendered(openRuns(schedule, limit), "sqlite");
    return this.#connection.read(() =>
      this.#connection
        .prepareOnce<StoredRow>(text, "raw")
        .all(...(values as Bindable[]))
        .map(toSummary),
    );
  }

  #load(execution_id: string): ExecutionRow | undefined {
    const row = this.#select.get(execution_id);
    return row && toExecution(row, this.#readInput);
  }

  #withKey(unique_key: string): ExecutionRow | undefined {
    const row = this.#keyHolder.get(unique_key);
    return row && toExecution(row, this.#readInput);
  }

  readonly #readInput = (execution_id: string): string => {
    this.#connection.assertOpen();
    const [input] = this.#selectInput.get(execution_id) ?? [];
    if (input === undefined) throw new Error(`execution ${execution_id} has lost its input`);
    return input;
  };

  #above(row: ExecutionRow, above: number): readonly Event[] {
    return this.#log.readIn(row.execution_id, { after: above }).map(({ event }) => event);
  }

  /** Writes an execution, and what its change does to others. */
  #write(first: Touched, effects: readonly Effect[], at: number): Changed {
    if (effects.length === 0) return this.#save(first, at, NO_OTHERS);
    const refuses = (fresh: NewExecution) => {
      const denied = this.#noRoom(fresh, at);
      return denied && concurrencyLimitedCall(denied);
    };
    const [changed = first, ...others] = consequencesOf(first, effects, {
      ...this.#source,
      refuses,
    });
    return this.#save(
      changed,
      at,
      others.map((other) => this.#save(other, at, NO_OTHERS)),
    );
  }

  #save(touched: Touched, at: number, others: readonly Changed[]): Changed {
    const { stored, row, patch, events, signals } = touched;
    if (stored) this.#updateRow(stored, patch);
    else this.#insertRow(row);
    this.#known.keep(row);
    if (signals.length > 0) this.#signals.follow(row.execution_id, signals);
    const written = this.#log.append(row.execution_id, stored?.head ?? 0, events, at);
    this.#records.write({ stored, row, events: written, recorded_at: at });
    return { row, events: written, recorded_at: at, others };
  }

  #insertRow(row: ExecutionRow): void {
    const { values, inputApart } = toInsert(row);
    try {
      this.#insert.run(...values);
    } catch (error) {
      throw isDuplicateKey(error) ? idTaken(row.execution_id) : error;
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

const NO_OTHERS: readonly Changed[] = [];

export const LIST_CHILDREN_SQL: string = `
  SELECT ${COLUMNS_SQL} FROM executions
  WHERE parent_id IS NOT NULL AND parent_id = ? ORDER BY execution_id`;
