/**
 * Commits in one statement what needs no look at the database first: changes of executions that this
 * store knows already, and creations that are claimed at once. No lock, no read, no transaction around
 * it. A change counts only if its row is still the version that was judged, a creation only if its
 * session is as thought; the statement itself compares. What cannot be done so, or was not, is left to
 * the commit that locks.
 */
import {
  creation,
  type Event,
  type ExecutionRow,
  type Touched,
  touch,
  untouched,
} from "@engine/contract";
import { recordsOf } from "../../event-records.ts";
import { commitDone, commitSent, committing } from "../../failpoints.ts";
import { limitsOfClaim } from "../../limits/claim-limits.ts";
import { guardOf } from "../../session-guard.ts";
import type { Database } from "../database.ts";
import { StatementFailure } from "../database-failure.ts";
import { findRefusal } from "./commit-outcome.ts";
import type { DirectAnswer, DirectStatement } from "./direct-statement.ts";
import type { EventRecordStatements } from "./event-record-statements.ts";
import { eventTexts, segmentsOf } from "./event-texts.ts";
import type { ExecutionStatements } from "./execution-statements.ts";
import type { ClaimedCreation, KnownChange, RowCache } from "./row-cache.ts";
import type { Job, Outcome } from "./workspace.ts";

type Direct = KnownChange | ClaimedCreation;

export class DirectCommit {
  readonly #database: Database;
  readonly #statements: ExecutionStatements;
  readonly #statement: DirectStatement;
  readonly #rows: RowCache;
  readonly #clock: () => number;
  readonly #records: EventRecordStatements;

  constructor(parts: {
    readonly database: Database;
    readonly statements: ExecutionStatements;
    readonly direct: DirectStatement;
    readonly rows: RowCache;
    readonly clock: () => number;
    readonly records: EventRecordStatements;
  }) {
    this.#database = parts.database;
    this.#statements = parts.statements;
    this.#statement = parts.direct;
    this.#rows = parts.rows;
    this.#clock = parts.clock;
    this.#records = parts.records;
  }

  /** What became of the jobs that could be done; undefined for each of the others. */
  async commit(jobs: readonly Job[]): Promise<readonly (Outcome | undefined)[]> {
    const candidates = this.#candidates(jobs);
    if (candidates.size === 0) return [];
    const at = this.#clock();
    const judged = jobs.map((job) => (candidates.has(job) ? this.#judge(job, at) : undefined));
    const some = judged.filter((one) => one !== undefined);
    if (some.length === 0) return [];
    const outcomes = await this.#write(some, at);
    return judged.map((one) => one && outcomes.get(one));
  }

  /**
   * Changes of known executions, and creations that a session is to have at once; those that come
   * alone, since two of one execution follow each other.
   */
  #candidates(jobs: readonly Job[]): ReadonlySet<Job> {
    const byId = new Map<string, Job | undefined>();
    for (const job of jobs) {
      const { execution_id } = job;
      const isOne = !byId.has(execution_id) && (isClaimedCreation(job) || this.#isKnown(job));
      byId.set(execution_id, isOne ? job : undefined);
    }
    return new Set([...byId.values()].filter((job) => job !== undefined));
  }

  #isKnown(job: Job): boolean {
    if (job.kind !== "change" || job.guard) return false;
    const known = this.#rows.find(job.execution_id);
    if (!known || isRelated(known.row)) return false;
    return job.above === undefined || job.above >= known.row.head;
  }

  /** Undefined for what needs more than its own row, or to be sure of what it is. */
  #judge(job: Job, at: number): Direct | undefined {
    try {
      return job.kind === "create" ? this.#judgeCreation(job, at) : this.#judgeChange(job, at);
    } catch {
      return undefined;
    }
  }

  #judgeChange({ execution_id, decide }: Job & { kind: "change" }, at: number) {
    const known = this.#rows.find(execution_id);
    const change = known && decide(known.row, [], notHere);
    // That nothing changes, or is refused, is for a row to say that is certain: the locked one.
    if (!change || change.events.length === 0 || change.effects?.length) return undefined;
    if (change.signals?.length) return undefined;
    const touched = touch(untouched(known.row), change);
    if (limitsOfClaim(known.row, touched.row)) return undefined;
    const one = this.#written(touched, at);
    return one && { known, ...one };
  }

  #judgeCreation(
    { fresh, claimant }: Job & { kind: "create" },
    at: number,
  ): ClaimedCreation | undefined {
    const guard = claimant && guardOf(claimant);
    const { created, isClaimed, effects } = creation(fresh, claimant);
    if (!guard || !isClaimed || effects.length > 0) return undefined;
    const one = this.#written(created, at);
    return one && { guard, ...one };
  }

  /** Undefined for what takes more than one row of the log. */
  #written(
    { stored, row, events }: Touched,
    at: number,
  ): Omit<ClaimedCreation, "guard"> | undefined {
    const head = stored?.head ?? 0;
    const of = { execution_id: row.execution_id, head, recorded_at: at };
    const [segment, more] = segmentsOf(eventTexts(events), of);
    if (!segment || more) return undefined;
    const numbered = events.map((event, i): Event => ({ ...event, seq: head + 1 + i }));
    const change = { stored, row, events: numbered, recorded_at: at };
    const changed = { row, events: numbered, recorded_at: at, others: [] };
    return { changed, segment, records: recordsOf(this.#records.kinds, change) };
  }

  async #write(judged: readonly Direct[], at: number): Promise<ReadonlyMap<Direct, Outcome>> {
    const outcomes = new Map<Direct, Outcome>();
    try {
      const { ids, written_by } = await this.#send(judged, at);
      for (const one of judged) {
        const { row } = one.changed;
        const isWritten = ids.has(row.execution_id);
        if (isWritten && "guard" in one) this.#statements.keepInput(row);
        if (!isWritten || this.#statements.hasLargeInput(row.execution_id)) {
          // Another server has changed it, or its session has moved on: it is read again.
          this.#rows.forget(row.execution_id);
        } else this.#rows.keep(row, written_by);
        if (isWritten) outcomes.set(one, { changed: one.changed });
      }
    } catch (error) {
      for (const { changed } of judged) this.#rows.forget(changed.row.execution_id);
      if (!(error instanceof StatementFailure && error.kind === "lost")) return outcomes;
      for (const one of judged) outcomes.set(one, await this.#find(one, error));
    }
    this.#records.written(judged.filter((one) => isKept(outcomes.get(one))));
    return outcomes;
  }

  /** Those that were written, and by which transaction. */
  async #send(
    judged: readonly Direct[],
    at: number,
  ): Promise<{ readonly ids: ReadonlySet<string>; readonly written_by: number }> {
    const changes = judged.filter((one) => "known" in one);
    const creations = judged.filter((one) => "guard" in one);
    const query = this.#statement.write(changes, creations, at);
    if (committing.hasSubscribers) committing.publish({ of: [] });
    const [[answer] = []] = await this.#database.commitLane((lane) => {
      const answering = lane.pipelined<DirectAnswer>(query);
      if (commitSent.hasSubscribers) setImmediate(() => commitSent.publish({ of: [] }));
      return answering;
    });
    if (commitDone.hasSubscribers) commitDone.publish({ of: [] });
    const [ids, written_by] = answer ?? [null, null];
    return { ids: new Set(ids?.split(" ")), written_by: Number(written_by) };
  }

  /** The connection was lost before the answer came. */
  async #find(one: Direct, lost: StatementFailure): Promise<Outcome> {
    const { changed, segment } = one;
    const guarded = "known" in one ? [changed.row.execution_id] : [];
    const refusal = await findRefusal(this.#database, { locked: [], guarded, segment }, lost);
    return refusal ? { refusal } : { changed };
  }
}

function isKept(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && "changed" in outcome;
}

/** Whether a fresh execution is to be claimed with its creation, and needs nothing else looked at. */
function isClaimedCreation(job: Job): boolean {
  if (job.kind !== "create") return false;
  const { unique, fork, parent, delivery, requirements } = job.fresh;
  // What is counted first is counted under a lock, and a delivery is settled under one.
  if (unique || fork || parent || delivery || requirements?.limits) return false;
  return job.claimant?.epoch !== undefined;
}

/**
 * Whether changes of others may reach it. Those have effects, and come after what is done here: the
 * order in which a batch was asked for would not be kept.
 */
function isRelated({ parent_id, watchers, waits }: ExecutionRow): boolean {
  if (parent_id !== null || watchers.length > 0) return true;
  return waits.some(({ kind }) => kind === "child");
}

/** Kept signals have to be read: what takes one is left to the commit that locks. */
function notHere(): never {
  throw new Error("kept signals are not looked at here");
}
