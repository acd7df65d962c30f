/**
 * Commits a batch of jobs in one transaction: lock the executions they name, in the order of ids so
 * that no two replicas wait for each other; judge the jobs in memory; write all of it with one
 * statement per table. A job whose effects reach an execution that somebody else holds does not wait
 * for it while it holds others: the batch begins again with all of them, in order.
 */
import type { ExecutionRow } from "@engine/contract";
import type { Changed } from "../store.ts";
import { type CommitOutcome, type CommitProbe, findCommitOutcome } from "./commit-outcome.ts";
import { BEGIN, COMMIT, type Database, type Lane, type Query, ROLLBACK } from "./database.ts";
import {
  isDatabaseFailure,
  isDuplicateKey,
  StatementFailure,
  unavailable,
  unknownOutcome,
  unwritable,
} from "./database-failure.ts";
import type { EventLog } from "./event-log.ts";
import type { FullRow } from "./execution-record.ts";
import type { ExecutionStatements } from "./execution-statements.ts";
import { type Job, Missing, type Need, Workspace } from "./workspace.ts";

export type Outcome = { readonly changed: Changed } | { readonly refusal: unknown };

const MAX_ATTEMPTS = 5;

/** The connection was lost behind a COMMIT: the outcomes hold if it took place. */
class LostCommit extends StatementFailure {
  readonly outcomes: readonly Outcome[];
  readonly probe: CommitProbe;

  constructor(cause: unknown, outcomes: readonly Outcome[], probe: CommitProbe) {
    super(cause);
    this.outcomes = outcomes;
    this.probe = probe;
  }
}

export class BatchCommit {
  readonly #database: Database;
  readonly #statements: ExecutionStatements;
  readonly #log: EventLog;
  readonly #clock: () => number;
  readonly #onCommitted: (execution_ids: readonly string[]) => void;

  constructor(parts: {
    readonly database: Database;
    readonly statements: ExecutionStatements;
    readonly log: EventLog;
    readonly clock: () => number;
    readonly onCommitted: (execution_ids: readonly string[]) => void;
  }) {
    this.#database = parts.database;
    this.#statements = parts.statements;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#onCommitted = parts.onCommitted;
  }

  /** Never rejects: what became of each job, in their order. */
  async commit(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    const wanted = new Set(jobs.map(({ execution_id }) => execution_id));
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(jobs, wanted);
      } catch (error) {
        if (error instanceof LostCommit) return this.#find(error);
        const isContended = isContention(error);
        // A row that was not to be waited for, and a new id that is taken by now, are known next time.
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
    for (const job of jobs) outcomes.push(...(await this.commit([job])));
    return outcomes;
  }

  /** @param wanted Executions to lock; grows by those that turn out to be needed too. */
  #attempt(jobs: readonly Job[], wanted: Set<string>): Promise<readonly Outcome[]> {
    return this.#database.commitLane(async (lane) => {
      const workspace = new Workspace();
      await this.#begin(lane, workspace, [...wanted].sort());
      for (;;) {
        const at = this.#clock();
        const { outcomes, missing } = judgeAll(workspace, jobs, at);
        if (missing.length > 0) {
          await this.#fetch(lane, workspace, missing, wanted);
          continue;
        }
        await this.#finish(lane, workspace, outcomes, at);
        return outcomes;
      }
    });
  }

  async #begin(lane: Lane, workspace: Workspace, ids: readonly string[]): Promise<void> {
    const { query, read } = this.#statements.lock(ids, "wait");
    const [, rows = []] = await lane.pipelined<FullRow>([BEGIN], query);
    addRows(workspace, ids, read(rows));
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
    for (const one of missing) {
      if (one.kind === "row") ids.add(one.execution_id);
      else if (one.kind === "children") parents.add(one.parent_id);
      else logs.set(one.execution_id, Math.min(one.above, logs.get(one.execution_id) ?? one.above));
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
    const [rows = []] = await lane.pipelined<FullRow>(query);
    addRows(workspace, unread, read(rows));
  }

  async #finish(
    lane: Lane,
    workspace: Workspace,
    outcomes: readonly Outcome[],
    at: number,
  ): Promise<void> {
    const { queries, segments } = this.#statements.write(workspace.written, at);
    if (queries.length === 0) {
      await lane.pipelined([ROLLBACK]);
      return;
    }
    const ids = workspace.written.map(({ row }) => row.execution_id);
    try {
      await lane.pipelined(...queries, [COMMIT] satisfies Query);
    } catch (error) {
      if (!(error instanceof StatementFailure && error.kind === "lost")) throw error;
      const stored = workspace.written.filter((one) => one.stored);
      const locked = stored.map(({ row }) => row.execution_id).sort();
      throw new LostCommit(error.cause, outcomes, { locked, segment: segments[0], ids });
    }
    this.#onCommitted(ids);
  }

  async #find(lost: LostCommit): Promise<readonly Outcome[]> {
    const found: CommitOutcome = await findCommitOutcome(this.#database, lost.probe);
    if (found === "kept") {
      this.#onCommitted(lost.probe.ids);
      return lost.outcomes;
    }
    const error = found === "undone" ? unavailable(lost) : unknownOutcome(lost);
    return refuseAll(lost.outcomes, error);
  }
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

/** Another transaction was in the way: of a lock, an order, or a new id. */
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
