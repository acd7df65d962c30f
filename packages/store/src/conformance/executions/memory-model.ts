/** What a store must do with executions, in the plainest way: the property test compares with it. */
import {
  creation,
  EngineError,
  type Event,
  type ExecutionRow,
  isQueued,
  MemoryExecutions,
  type NewExecution,
  touch,
  untouched,
} from "@engine/contract";
import type {
  ChangeOptions,
  Decide,
  GuardedClaimant,
  SessionGuard,
} from "../../ports/executions.ts";
import type { LogPage } from "../../ports/log.ts";
import type {
  DueExecution,
  DuePage,
  OrphanedExecution,
  OwnedExecution,
  QueuedExecution,
  QueuePage,
} from "../../ports/queue.ts";
import { guardOf } from "../../session-guard.ts";
import { ModelLimits } from "./model-limits.ts";
import { ModelOutbox } from "./model-outbox.ts";
import type { Outcome } from "./outcome.ts";

export interface OutcomeOfAll extends Outcome {
  readonly others: readonly Outcome[];
  readonly existing?: true;
  readonly unchanged?: true;
  readonly undelivered?: true;
  /** Why a claim was left out. */
  readonly limited?: string;
}

/** What is looked at of a session, of the worker that has its name. */
interface Session {
  readonly epoch: number;
  readonly isActive: boolean;
  readonly isLost: boolean;
  readonly hasEnded: boolean;
  readonly revision: number;
}

export class MemoryModel {
  readonly #executions = new MemoryExecutions();
  readonly #sessions = new Map<string, Session>();
  readonly outbox: ModelOutbox = new ModelOutbox();
  readonly limits: ModelLimits = new ModelLimits((id) => this.#executions.rows.get(id));

  create(fresh: NewExecution, claimant?: GuardedClaimant): OutcomeOfAll {
    const { delivery } = fresh;
    if (delivery && !this.outbox.holds(delivery)) {
      const { row } = creation(fresh, undefined).created;
      return { row, events: [], others: [], unchanged: true, undelivered: true };
    }
    const outcome = this.#create(fresh, claimant);
    if (delivery) this.outbox.settle(delivery, outcome.row.execution_id);
    return outcome;
  }

  #create(fresh: NewExecution, claimant?: GuardedClaimant): OutcomeOfAll {
    const { unique, delivery, execution_id } = fresh;
    const rows = this.rows();
    const existing =
      rows.find((row) => unique && row.unique_key === unique.key) ??
      rows.find((row) => delivery && row.execution_id === execution_id);
    if (existing) return { row: existing, events: [], others: [], existing: true };
    const isHeld = claimant && this.#holds(guardOf(claimant));
    const { created, isClaimed } = creation(fresh, isHeld ? claimant : undefined);
    const limited = isClaimed ? this.limits.limited(created.row) : undefined;
    const isMine = isClaimed && limited === undefined;
    const rejecting = fresh.requirements?.limits?.filter((one) => "overflow" in one) ?? [];
    const isDue = created.row.not_before === null;
    if (!isMine && isDue && this.limits.isFull(rejecting)) {
      throw new EngineError("concurrency_limited", "no");
    }
    const outcome = this.#outcome(this.#executions.create(fresh, isMine ? claimant : undefined));
    if (isMine) this.limits.keep(outcome.row);
    return limited === undefined ? outcome : { ...outcome, limited };
  }

  change(execution_id: string, decide: Decide, { above, guard }: ChangeOptions = {}): OutcomeOfAll {
    const row = this.#executions.row(execution_id);
    const unchanged = { row, events: [], others: [], unchanged: true } as const;
    if (!this.#holds(guard)) return unchanged;
    const recorded = above === undefined ? [] : this.log(execution_id, { after: above });
    const change = decide(row, recorded, this.#executions.signals.finderOf(execution_id));
    if (!change) return unchanged;
    const after = touch(untouched(row), change).row;
    const isClaim = after.generation !== row.generation;
    const limited = isClaim ? this.limits.limited(after) : undefined;
    if (limited !== undefined) return { ...unchanged, limited };
    const outcome = this.#outcome(this.#executions.change(execution_id, change));
    if (isClaim) this.limits.keep(outcome.row);
    return outcome;
  }

  session(session_id: string): Session {
    const unknown = { epoch: -1, isActive: false, isLost: false, hasEnded: true, revision: 0 };
    return this.#sessions.get(session_id) ?? unknown;
  }

  setSession(session_id: string, fields: Partial<Session>): void {
    this.#sessions.set(session_id, { ...this.session(session_id), ...fields });
  }

  #holds(guard: SessionGuard | undefined): boolean {
    if (!guard) return true;
    const { epoch, isActive, hasEnded, revision } = this.session(guard.session);
    const isAsJudged = guard.attributes === undefined || guard.attributes === revision;
    return !hasEnded && epoch === guard.epoch && (isActive || !guard.active) && isAsJudged;
  }

  #outcome(all: readonly Outcome[]): OutcomeOfAll {
    for (const one of all) this.outbox.write(one);
    const [changed, ...others] = all;
    return { ...(changed as Outcome), others };
  }

  rows(): readonly ExecutionRow[] {
    return [...this.#executions.rows.values()].sort((a, b) =>
      a.execution_id < b.execution_id ? -1 : 1,
    );
  }

  queued({ limit, after, fromEnd }: QueuePage): readonly QueuedExecution[] {
    const all = this.rows()
      .filter(isQueued)
      .sort((a, b) => b.priority - a.priority || a.queued_at - b.queued_at)
      .map(({ execution_id, priority, queued_at, last_worker, requirements, losses, ...row }) => ({
        execution_id,
        priority,
        queued_at,
        last_worker,
        requirements: requirements && JSON.stringify(requirements),
        losses: losses.length > 0 ? JSON.stringify(losses) : null,
        head: row.head,
        generation: row.generation,
        state: row.state,
        run_as: row.run_as,
        namespace: row.namespace,
        workflow: row.workflow,
      }));
    const place = all.findIndex(({ execution_id }) => execution_id === after?.execution_id);
    const behind = all.slice(place + 1);
    return fromEnd ? behind.slice(Math.max(behind.length - limit, 0)) : behind.slice(0, limit);
  }

  owned(session_id: string): readonly OwnedExecution[] {
    return this.rows()
      .filter(({ session }) => session === session_id)
      .map(({ execution_id, generation, state, head, module_hash, updated_at, ...row }) => ({
        execution_id,
        generation,
        state,
        head,
        module_hash,
        updated_at,
        requirements: row.requirements && JSON.stringify(row.requirements),
        losses: row.losses.length > 0 ? JSON.stringify(row.losses) : null,
        run_as: row.run_as,
        namespace: row.namespace,
        workflow: row.workflow,
      }));
  }

  orphaned(limit: number): readonly OrphanedExecution[] {
    return this.rows()
      .flatMap(({ execution_id, session, generation, version }) => {
        if (session === null || version === null) return [];
        const { isLost, hasEnded } = this.session(session);
        return isLost || hasEnded ? [{ execution_id, session, generation }] : [];
      })
      .slice(0, limit);
  }

  due({ until, limit, after }: DuePage): readonly DueExecution[] {
    const all = this.rows()
      .filter(({ version }) => version !== null)
      .flatMap(({ execution_id, wake_at }) => (wake_at === null ? [] : [{ execution_id, wake_at }]))
      .sort((a, b) => a.wake_at - b.wake_at);
    const place = after ? all.findIndex(({ execution_id: id }) => id === after.execution_id) : -1;
    return all
      .slice(place + 1)
      .filter(({ wake_at }) => wake_at <= until)
      .slice(0, limit);
  }

  log(execution_id: string, { after, before, limit }: LogPage = {}): readonly Event[] {
    const found = this.#executions
      .log(execution_id)
      .filter(({ seq }) => seq > (after ?? 0) && seq < (before ?? Number.POSITIVE_INFINITY));
    if (limit === undefined) return found;
    return after === undefined ? found.slice(-limit) : found.slice(0, limit);
  }
}
