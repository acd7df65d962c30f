/**
 * What a transaction works on: executions as it has locked them, and as its jobs leave them. Jobs are
 * judged in memory, one after the other, and nothing is written before all are. A job that needs what
 * has not been read yet says so by throwing {@link Missing}; it is judged again once that is there.
 */
import {
  concurrencyLimited,
  concurrencyLimitedCall,
  consequencesOf,
  creation,
  type DeliveryGuard,
  type Effect,
  type EffectSource,
  type Event,
  type ExecutionRow,
  type FindKept,
  idTaken,
  type KeptSignal,
  type NewExecution,
  NO_EFFECTS,
  notFound,
  type ResolvedLimit,
  type SignalStep,
  type Touched,
  touch,
  untouched,
} from "@engine/contract";
import {
  bothRecords,
  type EventRecords,
  type RecordsByKind,
  recordsOf,
} from "../../event-records.ts";
import { undelivered } from "../../hooks/undelivered.ts";
import { limitsOfClaim, rejectingLimits } from "../../limits/claim-limits.ts";
import type { LimitsAsked } from "../../limits/limit-queries.ts";
import type { Changed, Decide, GuardedClaimant, SessionGuard } from "../../ports/executions.ts";
import { type GuardedSession, guardHolds, guardOf } from "../../session-guard.ts";
import { type EventTexts, eventTexts } from "./event-texts.ts";
import { KeptSignals, type SignalsAsked } from "./kept-signals.ts";
import { Missing } from "./missing.ts";
import { WorkspaceDeliveries } from "./workspace-deliveries.ts";
import { WorkspaceLimits } from "./workspace-limits.ts";

/** What is asked of the store. */
export type Job =
  | {
      readonly kind: "create";
      readonly execution_id: string;
      readonly fresh: NewExecution;
      readonly claimant: GuardedClaimant | undefined;
    }
  | {
      readonly kind: "change";
      readonly execution_id: string;
      readonly decide: Decide;
      readonly above: number | undefined;
      readonly guard: SessionGuard | undefined;
      readonly limits: readonly ResolvedLimit[] | undefined;
    };

/** The limits that a job will count, as far as it is known before it is judged. */
export function limitsAskedBy(job: Job): readonly ResolvedLimit[] | undefined {
  if (job.kind === "change") return job.limits;
  const { fresh, claimant } = job;
  return claimant ? fresh.requirements?.limits : rejectingLimits(fresh);
}

/** What became of a job. */
export type Outcome = { readonly changed: Changed } | { readonly refusal: unknown };

/** An execution that jobs have changed or created. */
export interface Written {
  /** As it is stored; undefined for a new one. */
  readonly stored: ExecutionRow | undefined;
  readonly row: ExecutionRow;
  readonly events: readonly Event[];
  readonly texts: readonly EventTexts[];
  readonly signals: readonly SignalStep[];
  /** Rows that belong to the events. */
  readonly records: RecordsByKind;
}

/** What a job comes to, before it counts. */
interface Staged {
  readonly touched: Touched;
  readonly numbered: readonly Event[];
  readonly texts: readonly EventTexts[];
  readonly records: RecordsByKind;
}

interface StoredLog {
  readonly above: number;
  readonly events: readonly Event[];
}

/** A session that a guard looks at. */
export interface LockedSession extends GuardedSession {
  readonly session_id: string;
}

export class Workspace {
  readonly #kinds: readonly EventRecords[];
  /** Locked; undefined for an id that nobody has. */
  readonly #rows = new Map<string, ExecutionRow | undefined>();
  readonly #children = new Map<string, readonly string[]>();
  readonly #logs = new Map<string, StoredLog>();
  readonly #signals = new KeptSignals();
  readonly limits: WorkspaceLimits;
  readonly deliveries: WorkspaceDeliveries;
  readonly #sessions = new Map<string, GuardedSession>();
  /** By their unique keys, as they are stored and not locked. */
  readonly #holders = new Map<string, ExecutionRow>();
  #written = new Map<string, Written>();
  #newHolders = new Map<string, string>();
  readonly #source: EffectSource = {
    find: (execution_id) => this.#find(execution_id),
    children: (parent_id) => this.#childrenOf(parent_id),
    refuses: (fresh) => {
      const denied = this.limits.noRoom(fresh);
      return denied && concurrencyLimitedCall(denied);
    },
  };

  /**
   * @param kinds Of rows that belong to events.
   * @param counted Limits that claims are under.
   * @param guards Of the deliveries that creations settle.
   */
  constructor(
    kinds: readonly EventRecords[],
    counted: LimitsAsked,
    guards: readonly DeliveryGuard[] = [],
  ) {
    this.#kinds = kinds;
    this.deliveries = new WorkspaceDeliveries(guards);
    this.limits = new WorkspaceLimits(counted, (id) => {
      return this.#written.get(id)?.row ?? this.#rows.get(id);
    });
  }

  addRow(execution_id: string, row: ExecutionRow | undefined): void {
    this.#rows.set(execution_id, row);
  }

  addChildren(parent_id: string, execution_ids: readonly string[]): void {
    this.#children.set(parent_id, execution_ids);
  }

  addLog(execution_id: string, log: StoredLog): void {
    this.#logs.set(execution_id, log);
  }

  addSignals(asked: SignalsAsked, found: readonly KeptSignal[]): void {
    this.#signals.add(asked, found);
  }

  /** Those of the guarded sessions that live, locked. */
  addSessions(sessions: readonly LockedSession[]): void {
    for (const session of sessions) this.#sessions.set(session.session_id, session);
  }

  /** Those that have one of the unique keys that jobs bring. */
  addHolders(rows: Iterable<ExecutionRow>): void {
    for (const row of rows) if (row.unique_key !== null) this.#holders.set(row.unique_key, row);
  }

  has(execution_id: string): boolean {
    return this.#rows.has(execution_id);
  }

  /** What the jobs judged so far come to. */
  get written(): readonly Written[] {
    return [...this.#written.values()];
  }

  /** Forgets what jobs have done, to judge them all again. */
  startOver(): void {
    this.#written = new Map();
    this.#newHolders = new Map();
    this.limits.startOver();
    this.deliveries.startOver();
  }

  /** @throws Missing, or what the job is refused with; then it has done nothing. */
  judge(job: Job, at: number): Changed {
    if (job.kind === "create") return this.#createFor(job.fresh, job.claimant, at);
    const row = this.#find(job.execution_id);
    if (!row) throw notFound("execution", job.execution_id);
    const unchanged = { row, events: [], recorded_at: at, others: [], unchanged: true } as const;
    if (!this.#holds(job.guard)) return unchanged;
    const change = job.decide(row, this.#recorded(row, job.above), this.#finderOf(row));
    if (!change) return unchanged;
    const touched = touch(untouched(row), change);
    const limits = limitsOfClaim(row, touched.row);
    const limited = limits && this.limits.denial(limits, touched.row);
    if (limited) return { ...unchanged, limited };
    const changed = this.#apply(touched, change.effects ?? NO_EFFECTS, at);
    if (limits) this.limits.keep(limits, touched.row, at);
    return changed;
  }

  #createFor(fresh: NewExecution, claimant: GuardedClaimant | undefined, at: number): Changed {
    const { delivery } = fresh;
    if (delivery && !this.deliveries.holds(delivery)) return undelivered(fresh, at);
    const changed = this.#create(fresh, claimant, at);
    if (delivery) this.deliveries.settle(delivery, changed.row.execution_id);
    return changed;
  }

  #create(fresh: NewExecution, claimant: GuardedClaimant | undefined, at: number): Changed {
    const { unique, delivery, execution_id } = fresh;
    const existing =
      (unique && this.#holderOf(unique.key)) ?? (delivery && this.#find(execution_id));
    if (existing) {
      return { row: existing, events: [], recorded_at: at, others: [], existing: true };
    }
    const isHeld = claimant && this.#holds(guardOf(claimant));
    const claimed = creation(fresh, isHeld ? claimant : undefined);
    const limits = limitsOfClaim(undefined, claimed.created.row);
    const limited = limits && this.limits.denial(limits, claimed.created.row);
    const denied = !limits || limited ? this.limits.noRoom(fresh) : undefined;
    if (denied) throw concurrencyLimited(denied);
    const { created, effects } = limited ? creation(fresh, undefined) : claimed;
    const changed = this.#apply(created, effects, at);
    if (limits && !limited) this.limits.keep(limits, created.row, at);
    return limited ? { ...changed, limited } : changed;
  }

  #holds(guard: SessionGuard | undefined): boolean {
    return !guard || guardHolds(guard, this.#sessions.get(guard.session));
  }

  #holderOf(unique_key: string): ExecutionRow | undefined {
    const stored = this.#holders.get(unique_key);
    const id = this.#newHolders.get(unique_key) ?? stored?.execution_id;
    if (id === undefined) return undefined;
    // It may be locked and changed in this transaction.
    return this.#written.get(id)?.row ?? this.#rows.get(id) ?? stored;
  }

  #apply(first: Touched, effects: readonly Effect[], at: number): Changed {
    const all = consequencesOf(first, effects, this.#source);
    for (const { stored, row } of all) {
      if (!stored && this.#find(row.execution_id)) throw idTaken(row.execution_id);
    }
    // Events become text and rows before anything is noted: one that cannot refuses the whole job.
    const staged = all.map((one) => this.#stage(one, at));
    const [changed, ...others] = staged.map((one) => this.#note(one, at));
    return { ...(changed as Changed), others };
  }

  #stage(touched: Touched, at: number): Staged {
    const { stored, row, events } = touched;
    const head = stored?.head ?? 0;
    const numbered = events.map((event, i) => ({ ...event, seq: head + 1 + i }));
    const change = { stored, row, events: numbered, recorded_at: at };
    return {
      touched,
      numbered,
      texts: eventTexts(events),
      records: recordsOf(this.#kinds, change),
    };
  }

  #note({ touched, numbered, texts, records }: Staged, at: number): Changed {
    const { stored, row, signals } = touched;
    const before = this.#written.get(row.execution_id);
    if (!stored && row.unique_key !== null) this.#newHolders.set(row.unique_key, row.execution_id);
    this.#written.set(row.execution_id, {
      stored: before ? before.stored : stored,
      row,
      events: before ? [...before.events, ...numbered] : numbered,
      texts: before ? [...before.texts, ...texts] : texts,
      signals: before ? [...before.signals, ...signals] : signals,
      records: before ? bothRecords(before.records, records) : records,
    });
    return { row, events: numbered, recorded_at: at, others: [] };
  }

  #find(execution_id: string): ExecutionRow | undefined {
    const written = this.#written.get(execution_id);
    if (written) return written.row;
    const row = this.#rows.get(execution_id);
    if (!row && !this.#rows.has(execution_id)) throw new Missing({ kind: "row", execution_id });
    return row;
  }

  #childrenOf(parent_id: string): readonly ExecutionRow[] {
    const stored = this.#children.get(parent_id);
    if (!stored) throw new Missing({ kind: "children", parent_id });
    const created = [...this.#written.values()]
      .filter((one) => !one.stored && one.row.parent_id === parent_id)
      .map(({ row }) => row.execution_id);
    return [...stored, ...created].sort().map((id) => this.#find(id) as ExecutionRow);
  }

  #finderOf({ execution_id }: ExecutionRow): FindKept {
    return (name, after) => {
      const written = this.#written.get(execution_id);
      const found = this.#signals.find({ execution_id, name, after }, written);
      if (!found || "name" in found) return found;
      throw new Missing({ kind: "signals", execution_id, name, after: found.behind });
    };
  }

  /** Almost every checkpoint extends the head: then there is nothing above it to read. */
  #recorded(row: ExecutionRow, above: number | undefined): readonly Event[] {
    if (above === undefined || above >= row.head) return [];
    const { execution_id } = row;
    const written = this.#written.get(execution_id);
    const storedHead = written ? (written.stored?.head ?? 0) : row.head;
    const log = this.#logs.get(execution_id);
    if (above < storedHead && !(log && log.above <= above)) {
      throw new Missing({ kind: "log", execution_id, above });
    }
    return [...(log?.events ?? []), ...(written?.events ?? [])].filter(({ seq }) => seq > above);
  }
}
