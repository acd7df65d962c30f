/**
 * Commits a batch of jobs in one transaction: lock the executions they name, in the order of ids so
 * that no two replicas wait for each other, then the sessions they are for; judge the jobs in memory;
 * write all of it with one statement per table. A job whose effects reach an execution that somebody
 * else holds does not wait for it while it holds others: the batch begins again with all of them, in
 * order. What claims count is locked first of all. What concerns nothing but executions that are known
 * already is done before, without a lock.
 */
import type { DeliveryGuard, ExecutionRow } from "@engine/contract";
import type { StoredRow } from "../../execution-columns.ts";
import { commitDone, commitSent, committing } from "../../failpoints.ts";
import { LimitsAsked } from "../../limits/limit-queries.ts";
import { guardOf } from "../../session-guard.ts";
import { BEGIN, COMMIT, type Database, type Lane, type Query, ROLLBACK } from "../database.ts";
import {
  isDatabaseFailure,
  isDuplicateKey,
  StatementFailure,
  unavailable,
  unwritable,
} from "../database-failure.ts";
import type { EventLog } from "../event-log.ts";
import { type CommitProbe, findRefusal } from "./commit-outcome.ts";
import { DirectCommit } from "./direct-commit.ts";
import type { DirectStatement } from "./direct-statement.ts";
import type { EventRecordStatements } from "./event-record-statements.ts";
import type { ExecutionStatements } from "./execution-statements.ts";
import { type StoredSignal, toKept } from "./kept-signals.ts";
import { Missing, type Need } from "./missing.ts";
import { RowCache } from "./row-cache.ts";
import {
  type Job,
  type LockedSession,
  limitsAskedBy,
  type Outcome,
  Workspace,
  type Written,
} from "./workspace.ts";
import { LocksMissing, preparedQuery } from "./workspace-limits.ts";

const MAX_ATTEMPTS = 5;

/** The connection was lost behind a COMMIT: the outcomes hold if it took place. */
class LostCommit extends StatementFailure {
  readonly outcomes: readonly Outcome[];
  readonly probe: CommitProbe;
  readonly written: readonly Written[];

  constructor(cause: unknown, commit: Pick<LostCommit, "outcomes" | "probe" | "written">) {
    super(cause);
    this.outcomes = commit.outcomes;
    this.probe = commit.probe;
    this.written = commit.written;
  }
}

export class BatchCommit {
  readonly #database: Database;
  readonly #statements: ExecutionStatements;
  readonly #log: EventLog;
  readonly #clock: () => number;
  readonly #rows = new RowCache();
  readonly #direct: DirectCommit;
  readonly #records: EventRecordStatements;

  constructor(parts: {
    readonly database: Database;
    readonly statements: ExecutionStatements;
    readonly direct: DirectStatement;
    readonly log: EventLog;
    readonly clock: () => number;
    readonly records: EventRecordStatements;
  }) {
    this.#database = parts.database;
    this.#statements = parts.statements;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#records = parts.records;
    this.#direct = new DirectCommit({ ...parts, rows: this.#rows });
  }

  /** Never rejects: what became of each job, in their order. */
  async commit(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    try {
      // Nothing is waited for where there is nothing to wait for.
      const ready = this.#records.ready();
      if (ready) await ready;
    } catch (error) {
      return refuseAll(jobs, error);
    }
    const direct = await this.#direct.commit(jobs);
    const left = jobs.filter((_, i) => !direct[i]);
    const locked = left.length > 0 ? await this.#commitLocked(left) : [];
    let next = 0;
    return jobs.map((_, i) => direct[i] ?? (locked[next++] as Outcome));
  }

  async #commitLocked(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    const wanted = new Set(jobs.map(({ execution_id }) => execution_id));
    const counted = new LimitsAsked();
    for (const job of jobs) counted.add(limitsAskedBy(job) ?? []);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(jobs, wanted, counted);
      } catch (error) {
        if (error instanceof LocksMissing && counted.add(error.limits)) continue;
        if (error instanceof LostCommit) return this.#find(error);
        const isContended = isContention(error);
        // A row that was not to be waited for, an id or a key that is taken by now: known next time.
        const isKnownNow = isContended && (error as StatementFailure).kind !== "conflict";
        if (isContended && attempt < MAX_ATTEMPTS && (isKnownNow || jobs.length === 1)) continue;
        if (!isContended && isDatabaseFailure(error)) return refuseAll(jobs, unavailable(error));
        if (jobs.length > 1) return this.#oneByOne(jobs);
        return refuseAll(jobs, isContended ? unavailable(error) : ownFailure(error));
      }
    }
  }

  async #oneByOne(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const job of jobs) outcomes.push(...(await this.#commitLocked([job])));
    return outcomes;
  }

  /**
   * @param wanted Executions to lock; grows by those that turn out to be needed too.
   * @param counted Limits that claims are under.
   */
  #attempt(
    jobs: readonly Job[],
    wanted: Set<string>,
    counted: LimitsAsked,
  ): Promise<readonly Outcome[]> {
    return this.#database.commitLane(async (lane) => {
      const workspace = new Workspace(this.#records.kinds, counted, deliveriesOf(jobs));
      const named = { ids: [...wanted].sort(), ...namedBy(jobs) };
      await this.#begin(lane, workspace, named);
      for (;;) {
        const at = this.#clock();
        const { outcomes, missing } = judgeAll(workspace, jobs, at);
        if (missing.length > 0) {
          await this.#fetch(lane, workspace, missing, wanted);
          continue;
        }
        await this.#finish(lane, workspace, outcomes, at);
        this.#records.written(workspace.written);
        return outcomes;
      }
    });
  }

  /** Sessions and unique keys are only looked at where a job names one. */
  async #begin(
    lane: Lane,
    workspace: Workspace,
    { ids, keys, sessions }: { readonly ids: readonly string[] } & Named,
  ): Promise<void> {
    const { limits, deliveries } = workspace;
    const counting = limits.reading(ids, this.#clock);
    const counts = counting.queries.map((query) => preparedQuery(this.#database, query));
    const first = limits.locks(this.#database);
    const settled = deliveries.locks(this.#database);
    const lock = this.#statements.lock(ids, "wait");
    const holders = keys.length > 0 ? this.#statements.holders(keys) : undefined;
    const guards = sessions.length > 0 ? this.#statements.lockSessions(sessions) : undefined;
    const queries = [lock.query, holders?.query, guards].filter((query) => query !== undefined);
    const locks = [...first, ...settled];
    const answers = await lane.pipelined<unknown>([BEGIN], ...locks, ...queries, ...counts);
    deliveries.take(answers.slice(1 + first.length, 1 + locks.length));
    const [rows = [], ...more] = answers.slice(1 + locks.length);
    addRows(workspace, ids, lock.read(rows as StoredRow[]));
    if (holders) workspace.addHolders(holders.read(more.shift() as StoredRow[]).values());
    if (guards) workspace.addSessions(more.shift() as LockedSession[]);
    limits.take(counting, more);
  }

  async #fetch(
    lane: Lane,
    workspace: Workspace,
    missing: readonly Need[],
    wanted: Set<string>,
  ): Promise<void> {
    const ids = new Set<string>();
    const parents = new Set<string>();
    const logs = new Map<string, number>();
    const uncounted = missing.flatMap((one) => (one.kind === "limits" ? one.limits : []));
    if (uncounted.length > 0) throw new LocksMissing(uncounted);
    for (const one of missing) {
      if (one.kind === "limits") continue;
      if (one.kind === "row") ids.add(one.execution_id);
      else if (one.kind === "children") parents.add(one.parent_id);
      else if (one.kind === "signals") {
        const [found = []] = await lane.pipelined<StoredSignal>(this.#statements.signals(one));
        workspace.addSignals(one, found.map(toKept(one)));
      } else
        logs.set(one.execution_id, Math.min(one.above, logs.get(one.execution_id) ?? one.above));
    }
    for (const [execution_id, above] of logs) {
      const events = await this.#log.readIn(lane, execution_id, { after: above });
      workspace.addLog(execution_id, { above, events: events.map(({ event }) => event) });
    }
    for (const parent_id of parents) {
      const [children = []] = await lane.pipelined<readonly [string]>(
        this.#statements.children(parent_id),
      );
      workspace.addChildren(
        parent_id,
        children.map(([id]) => id),
      );
      for (const [id] of children) ids.add(id);
    }
    const unread = [...ids].filter((id) => !workspace.has(id)).sort();
    if (unread.length === 0) return;
    for (const id of unread) wanted.add(id);
    const { query, read } = this.#statements.lock(unread, "nowait");
    const [rows = []] = await lane.pipelined<StoredRow>(query);
    addRows(workspace, unread, read(rows));
  }

  async #finish(
    lane: Lane,
    workspace: Workspace,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<void> {
    const { queries, rowQueries, segments } = this.#statements.write(workspace.written, at);
    const records = this.#records.queries(this.#records.owned(workspace.written.map(ownerOf)));
    const settled = workspace.deliveries.written(this.#database, at);
    if (queries.length + settled.length === 0) {
      await lane.pipelined([ROLLBACK]);
      return;
    }
    try {
      if (committing.hasSubscribers) committing.publish({ of: [] });
      const answering = lane.pipelined<readonly [execution_id: string, written_by: string]>(
        ...queries,
        ...records,
        ...workspace.limits.written.map((query) => preparedQuery(this.#database, query)),
        ...settled,
        [COMMIT] satisfies Query,
      );
      if (commitSent.hasSubscribers) setImmediate(() => commitSent.publish({ of: [] }));
      const answers = await answering;
      if (commitDone.hasSubscribers) commitDone.publish({ of: [] });
      const by = new Map(answers.slice(0, rowQueries).flat());
      for (const { row } of workspace.written) {
        const written_by = by.get(row.execution_id);
        const isKept =
          written_by !== undefined && !this.#statements.hasLargeInput(row.execution_id);
        if (isKept) this.#rows.keep(row, Number(written_by));
        else this.#rows.forget(row.execution_id);
      }
    } catch (error) {
      if (!(error instanceof StatementFailure && error.kind === "lost")) throw error;
      const stored = workspace.written.filter((one) => one.stored);
      const locked = stored.map(({ row }) => row.execution_id).sort();
      const probe = { locked, segment: segments[0] };
      throw new LostCommit(error.cause, { outcomes, probe, written: workspace.written });
    }
  }

  async #find(lost: LostCommit): Promise<readonly Outcome[]> {
    const refusal = await findRefusal(this.#database, lost.probe, lost);
    if (refusal) return refuseAll(lost.outcomes, refusal);
    this.#records.written(lost.written);
    return lost.outcomes;
  }
}

function ownerOf({ row, records }: Written): Pick<Written, "records"> & { execution_id: string } {
  return { execution_id: row.execution_id, records };
}

function deliveriesOf(jobs: readonly Job[]): readonly DeliveryGuard[] {
  return jobs.flatMap((job) => (job.kind === "create" ? (job.fresh.delivery ?? []) : []));
}

/** What jobs ask for beside executions by their ids. */
interface Named {
  readonly keys: readonly string[];
  readonly sessions: readonly string[];
}

function namedBy(jobs: readonly Job[]): Named {
  const keys = new Set<string>();
  const sessions = new Set<string>();
  for (const job of jobs) {
    const guard = job.kind === "change" ? job.guard : job.claimant && guardOf(job.claimant);
    if (guard) sessions.add(guard.session);
    if (job.kind === "create" && job.fresh.unique) keys.add(job.fresh.unique.key);
  }
  return { keys: [...keys], sessions: [...sessions] };
}

function judgeAll(
  workspace: Workspace,
  jobs: readonly Job[],
  at: number,
): { readonly outcomes: readonly Outcome[]; readonly missing: readonly Need[] } {
  workspace.startOver();
  const missing: Need[] = [];
  const outcomes = jobs.map((job): Outcome => {
    try {
      return { changed: workspace.judge(job, at) };
    } catch (thrown) {
      if (thrown instanceof Missing) missing.push(thrown.need);
      return { refusal: thrown };
    }
  });
  return { outcomes, missing };
}

function addRows(
  workspace: Workspace,
  ids: readonly string[],
  rows: ReadonlyMap<string, ExecutionRow>,
): void {
  for (const id of ids) workspace.addRow(id, rows.get(id));
}

/** Another transaction was in the way: of a lock, an order, a new id, or a unique key. */
function isContention(error: unknown): boolean {
  if (!(error instanceof StatementFailure)) return false;
  return error.kind === "conflict" || error.kind === "locked" || isDuplicateKey(error);
}

function ownFailure(error: unknown): unknown {
  return error instanceof StatementFailure ? unwritable(error) : error;
}

function refuseAll(jobs: readonly unknown[], refusal: unknown): readonly Outcome[] {
  return jobs.map(() => ({ refusal }));
}
