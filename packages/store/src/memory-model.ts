/** What a store must do with executions, in the plainest way: the property test compares with it. */
import {
  type Change,
  createdExecution,
  decideClaim,
  type Effect,
  EngineError,
  type Event,
  type ExecutionRow,
  isQueued,
  KeptSignalLists,
  type NewExecution,
  notFound,
} from "@engine/contract";
import type { ChangeOptions, Decide, GuardedClaimant, SessionGuard } from "./ports/executions.ts";
import type { LogPage } from "./ports/log.ts";
import type {
  DueExecution,
  DuePage,
  OrphanedExecution,
  OwnedExecution,
  QueuedExecution,
  QueuePage,
} from "./ports/queue.ts";
import { guardOf } from "./session-guard.ts";

export interface Outcome {
  readonly row: ExecutionRow;
  readonly events: readonly Event[];
}

export interface OutcomeOfAll extends Outcome {
  readonly others: readonly Outcome[];
  readonly existing?: true;
}

/** What is looked at of a session, of the worker that has its name. */
interface Session {
  readonly epoch: number;
  readonly isActive: boolean;
  readonly isLost: boolean;
  readonly hasEnded: boolean;
}

export class MemoryModel {
  #rows = new Map<string, ExecutionRow>();
  #logs = new Map<string, readonly Event[]>();
  #signals = new KeptSignalLists();
  readonly #sessions = new Map<string, Session>();

  create(fresh: NewExecution, claimant?: GuardedClaimant): OutcomeOfAll {
    const key = fresh.unique?.key;
    const existing = this.rows().find((row) => key !== undefined && row.unique_key === key);
    if (existing) return { row: existing, events: [], others: [], existing: true };
    return this.#whole(fresh.execution_id, () => {
      const effects = this.#insert(fresh);
      if (claimant && this.#holds(guardOf(claimant))) {
        const claim = decideClaim(this.#row(fresh.execution_id), claimant);
        if (claim) this.#write(fresh.execution_id, claim);
      }
      return effects;
    });
  }

  change(execution_id: string, decide: Decide, { above, guard }: ChangeOptions = {}): OutcomeOfAll {
    const row = this.#rows.get(execution_id);
    if (!row) throw notFound("execution", execution_id);
    if (!this.#holds(guard)) return { row, events: [], others: [] };
    const recorded = above === undefined ? [] : this.log(execution_id, { after: above });
    return this.#whole(execution_id, () => {
      const change = decide(row, recorded, this.#signals.finderOf(execution_id));
      if (change) this.#write(execution_id, change);
      return change?.effects ?? [];
    });
  }

  session(session_id: string): Session {
    const unknown = { epoch: -1, isActive: false, isLost: false, hasEnded: true };
    return this.#sessions.get(session_id) ?? unknown;
  }

  setSession(session_id: string, fields: Partial<Session>): void {
    this.#sessions.set(session_id, { ...this.session(session_id), ...fields });
  }

  #holds(guard: SessionGuard | undefined): boolean {
    if (!guard) return true;
    const { epoch, isActive, hasEnded } = this.session(guard.session);
    return !hasEnded && epoch === guard.epoch && (isActive || !guard.active);
  }

  /** Does all of a change or nothing, and says what it did by comparing before and after. */
  #whole(execution_id: string, begin: () => readonly Effect[]): OutcomeOfAll {
    const [rows, logs, signals] = [this.#rows, this.#logs, this.#signals];
    [this.#rows, this.#logs, this.#signals] = [new Map(rows), new Map(logs), signals.copy()];
    const touched: string[] = [];
    try {
      for (let queue = begin(); queue.length > 0; ) {
        queue = queue.flatMap((effect) => this.#follow(effect, touched));
      }
    } catch (error) {
      [this.#rows, this.#logs, this.#signals] = [rows, logs, signals];
      throw error;
    }
    const outcome = (id: string): Outcome => ({
      row: this.#row(id),
      events: this.log(id).slice(logs.get(id)?.length ?? 0),
    });
    const others = [...new Set(touched)].filter((id) => id !== execution_id).map(outcome);
    return { ...outcome(execution_id), others };
  }

  #follow(effect: Effect, touched: string[]): readonly Effect[] {
    if (effect.kind === "create") {
      touched.push(effect.fresh.execution_id);
      return this.#insert(effect.fresh);
    }
    const ids =
      effect.kind === "change"
        ? [effect.execution_id]
        : this.rows()
            .filter(({ parent_id }) => parent_id === effect.parent_id)
            .map(({ execution_id }) => execution_id);
    return ids.flatMap((id) => {
      const row = this.#rows.get(id);
      const change = effect.decide(row as ExecutionRow);
      if (row && change && this.#write(id, change)) touched.push(id);
      return change?.effects ?? [];
    });
  }

  #insert(fresh: NewExecution): readonly Effect[] {
    const { execution_id } = fresh;
    if (this.#rows.has(execution_id)) throw new EngineError("conflict", "exists");
    const { row, events, effects = [], signals } = createdExecution(fresh);
    this.#rows.set(execution_id, { ...row, head: 0 });
    this.#logs.set(execution_id, []);
    this.#write(execution_id, { events, patch: {}, ...(signals && { signals }) });
    return effects;
  }

  #write(execution_id: string, { events, patch, signals }: Change): boolean {
    this.#signals.follow(execution_id, signals);
    const before = this.#row(execution_id);
    const log = this.log(execution_id);
    const numbered = events.map((event, i) => ({ ...event, seq: log.length + 1 + i }));
    this.#rows.set(execution_id, { ...before, ...patch, head: log.length + events.length });
    this.#logs.set(execution_id, [...log, ...numbered]);
    return events.length > 0 || Object.keys(patch).length > 0;
  }

  #row(execution_id: string): ExecutionRow {
    const row = this.#rows.get(execution_id);
    if (!row) throw new Error(`no execution ${execution_id}`);
    return row;
  }

  rows(): readonly ExecutionRow[] {
    return [...this.#rows.values()].sort((a, b) => (a.execution_id < b.execution_id ? -1 : 1));
  }

  queued({ limit, after, fromEnd }: QueuePage): readonly QueuedExecution[] {
    const all = this.rows()
      .filter(isQueued)
      .sort((a, b) => b.priority - a.priority || a.queued_at - b.queued_at)
      .map(({ execution_id, priority, queued_at, last_worker, requirements, losses, head }) => ({
        execution_id,
        priority,
        queued_at,
        last_worker,
        requirements: requirements && JSON.stringify(requirements),
        losses: losses.length > 0 ? JSON.stringify(losses) : null,
        head,
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
    const found = (this.#logs.get(execution_id) ?? []).filter(
      ({ seq }) => seq > (after ?? 0) && seq < (before ?? Number.POSITIVE_INFINITY),
    );
    if (limit === undefined) return found;
    return after === undefined ? found.slice(-limit) : found.slice(0, limit);
  }
}
