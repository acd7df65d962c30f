import {
  type Event,
  type ExecutionRow,
  type Holding,
  type Loss,
  NOT_ENFORCED,
  type Requirements,
  type Suspicion,
  suspicionOf,
  type WorkerFrame,
} from "@engine/contract";
import type { OwnedExecution } from "@engine/store";
import type { Acting, Standing } from "../auth/run-as.ts";
import { Probation } from "./probation.ts";

/** An execution under one generation, whichever event of its log comes last. */
export type Held = Pick<Holding, "execution_id" | "generation">;

/** An execution the session owns, as its row says. */
interface Owned {
  readonly generation: number;
  /** Null until the row was read, of an execution that the worker says it runs. */
  readonly module_hash: string | null;
  readonly requirements: Requirements | null;
  /** For whom it runs what; undefined until the row was read. */
  acting: Acting | undefined;
  /** When it was assigned, by the clock that nobody sets; undefined once the worker has listed it. */
  assignedAt: number | undefined;
  /** Heartbeats in a row that did not list it, since it was listed last. */
  unlisted: number;
  /** Frames that must not overtake the assignment; undefined once that has left. */
  held: WorkerFrame[] | undefined;
  /** `seq` of the newest event that was pushed to the worker; 0 when none was. */
  pushed: number;
  /** `seq` up to which the worker has shown to know the log. */
  known: number;
}

/** An execution as of events that were written for its owner. */
export interface Told extends Held {
  readonly head: number;
}

/** A claim that is on its way to the store, or whose answer was lost. */
export interface Claiming {
  readonly done: Promise<unknown>;
  readonly requirements: Requirements | null;
  readonly suspicion: Suspicion;
}

/**
 * What a session has, as the server that holds it knows: the executions it owns, with how far it knows
 * their logs, and those it is about to own. No frame about an execution overtakes its assignment.
 */
export class Holdings {
  readonly owned: Map<string, Owned> = new Map();
  /** Claims that are not committed yet: they take a slot already. */
  readonly #claiming = new Map<string, Claiming>();
  /** Executions whose progress the worker was told to send. */
  readonly #listening = new Set<string>();
  /** What the worker was told of rights, by execution; nothing with authorization off. */
  readonly #told = new Map<string, string>();
  readonly #send: (frame: WorkerFrame) => void;
  readonly #isConnected: () => boolean;
  readonly #changed: (isFreed: boolean) => void;
  readonly #probation: Probation;

  constructor(of: {
    send: (frame: WorkerFrame) => void;
    isConnected: () => boolean;
    /** Told when the load or what it reserves is another; with what has left, there may be more room. */
    changed: (isFreed: boolean) => void;
    clock: () => number;
  }) {
    this.#send = of.send;
    this.#isConnected = of.isConnected;
    this.#changed = of.changed;
    this.#probation = new Probation(of.clock);
  }

  get claiming(): ReadonlyMap<string, Claiming> {
    return this.#claiming;
  }

  /** Notes a claim that is on its way. */
  claim(execution_id: string, claim: Claiming): void {
    this.#claiming.set(execution_id, claim);
    this.#changed(false);
  }

  /** It is known what became of a claim. */
  claimed(execution_id: string): void {
    if (this.#claiming.delete(execution_id)) this.#changed(true);
  }

  /** How many executions the session owns or is about to own. */
  get load(): number {
    return this.owned.size + this.#claiming.size;
  }

  /** Forgets what the session owns; claims under way still count. */
  clear(): void {
    this.owned.clear();
    this.#listening.clear();
    this.#told.clear();
    this.#probation.clear();
    this.#changed(true);
  }

  /** Whether another execution that is to run apart may come to those that do. */
  hasPlaceApart(suspicion: Suspicion): boolean {
    const claiming = [...this.#claiming.values()].map((one) => one.suspicion);
    return this.#probation.hasPlace(suspicion, claiming);
  }

  /** Notes that a commit gave the session this execution. */
  own(row: ExecutionRow, now: number): void {
    const { execution_id, generation, module_hash, requirements, head } = row;
    this.#claiming.delete(execution_id);
    const rest = { unlisted: 0, held: [], pushed: 0, known: head, assignedAt: now };
    const acting = actingOf(row);
    this.owned.set(execution_id, { generation, module_hash, requirements, acting, ...rest });
    this.#probation.begin(execution_id, generation, suspicionOf(row.losses));
    this.#changed(false);
  }

  /** Notes a commit of an execution: what it recorded may have cleared the execution of suspicion. */
  cleared(row: Pick<ExecutionRow, "execution_id" | "generation" | "losses">): void {
    if (row.losses.length === 0 && this.#probation.end(row)) this.#changed(true);
  }

  /**
   * Notes what the worker says it runs, while the store is asked about the same: from now on commits
   * take executions away, and frames about them are held.
   */
  expect(running: readonly Holding[]): void {
    for (const { execution_id, generation, seq } of running) {
      const unknown = { module_hash: null, requirements: null, assignedAt: undefined, unlisted: 0 };
      const rest = { acting: undefined, held: [], pushed: 0, known: seq };
      this.owned.set(execution_id, { generation, ...unknown, ...rest });
    }
    this.#changed(false);
  }

  /** Notes an execution that the store says the session owns, and that its worker has listed. */
  inherit(execution: OwnedExecution, { seq }: Holding): void {
    const { execution_id, generation, module_hash, requirements, head } = execution;
    const { held = [], pushed = 0 } = this.owned.get(execution_id) ?? {};
    this.owned.set(execution_id, {
      generation,
      module_hash,
      requirements: requirements === null ? null : (JSON.parse(requirements) as Requirements),
      acting: actingOf(execution),
      assignedAt: undefined,
      unlisted: 0,
      held,
      // The reconnect brings the events that the worker has not heard of.
      pushed: Math.max(pushed, head),
      known: seq,
    });
    const losses = execution.losses === null ? [] : (JSON.parse(execution.losses) as Loss[]);
    this.#probation.begin(execution_id, generation, suspicionOf(losses));
    this.#changed(false);
  }

  /** The worker goes on with an execution that it was given anew: it knows the log as far as it listed. */
  adopted({ execution_id, seq }: Holding): void {
    const owned = this.owned.get(execution_id);
    if (!owned) return;
    owned.pushed = owned.known;
    owned.known = seq;
  }

  /** The worker has shown how far it knows the log. */
  acknowledged(holding: Holding): void {
    const owned = this.owned.get(holding.execution_id);
    if (owned?.generation === holding.generation) owned.known = Math.max(owned.known, holding.seq);
  }

  /** `seq` up to which the worker knows the log of an execution, if more was pushed to it. */
  unacknowledged(of: Held): number | undefined {
    const owned = this.owned.get(of.execution_id);
    if (owned?.generation !== of.generation || owned.known >= owned.pushed) return undefined;
    return owned.known;
  }

  /** Notes that a commit took an execution away: it ended, parked or was handed over. */
  disown({ execution_id, generation }: Held): void {
    const wasSuspect = this.#probation.end({ execution_id, generation });
    const isOwned = this.owned.get(execution_id)?.generation === generation;
    if (isOwned) {
      this.owned.delete(execution_id);
      this.#listening.delete(execution_id);
      this.#told.delete(execution_id);
    }
    if (isOwned || wasSuspect) this.#changed(true);
  }

  owns({ execution_id, generation }: Held): boolean {
    return this.owned.get(execution_id)?.generation === generation;
  }

  /** Whether the session owns an execution at that generation, or is getting a later one. */
  hasSince({ execution_id, generation }: Held): boolean {
    if (this.#claiming.has(execution_id)) return true;
    return (this.owned.get(execution_id)?.generation ?? 0) >= generation;
  }

  /** Sends an assignment and the frames held behind it; nothing if the execution has moved on. */
  assign(frame: Extract<WorkerFrame, { event: "assign" }>): void {
    if (!this.owns(frame.data)) return;
    this.#send(frame);
    const { execution_id, generation, listen, authz } = frame.data;
    if (authz && authz !== NOT_ENFORCED) this.#told.set(execution_id, told(generation, authz));
    // What the worker was told of an earlier copy does not count.
    if (listen) this.#listening.add(execution_id);
    else this.#listening.delete(execution_id);
    this.release(execution_id);
  }

  /** The worker has the execution: frames that were held for it may leave. */
  release(execution_id: string): void {
    const owned = this.owned.get(execution_id);
    const held = owned?.held ?? [];
    if (owned) owned.held = undefined;
    for (const frame of held) this.#send(frame);
  }

  /** Sends events that a server wrote, if the session owns the execution; `head` is that of the last. */
  push({ execution_id, generation, head }: Told, events: readonly Event[]): void {
    const owned = this.owned.get(execution_id);
    if (!owned || owned.generation !== generation || events.length === 0) return;
    const base_seq = head - events.length;
    owned.pushed = Math.max(owned.pushed, head);
    owned.known = Math.min(owned.known, base_seq);
    const data = { execution_id, generation, base_seq, events: [...events] };
    this.tell(execution_id, { event: "events", data });
  }

  /** Whether a push did not reach the worker. */
  hasMissed(holding: Holding): boolean {
    const owned = this.owned.get(holding.execution_id);
    return this.owns(holding) && owned?.held === undefined && holding.seq < (owned?.pushed ?? 0);
  }

  /**
   * Compares a heartbeat's listing with what the session owns (LIV-1).
   *
   * @returns Executions that are missing from two heartbeats in a row: listed before, so that the worker
   *   has them no more, or never listed, and assigned before an instant.
   */
  unlisted(running: readonly Holding[], assignedBefore: number): readonly Held[] {
    const listed = new Set(running.map(({ execution_id }) => execution_id));
    const missing: Held[] = [];
    for (const [execution_id, owned] of this.owned) {
      if (listed.has(execution_id)) {
        owned.assignedAt = undefined;
        owned.unlisted = 0;
      } else {
        owned.unlisted++;
        const { assignedAt = Number.NEGATIVE_INFINITY } = owned;
        if (owned.unlisted < 2 || assignedAt > assignedBefore) continue;
        missing.push({ execution_id, generation: owned.generation });
      }
    }
    return missing;
  }

  /** Says whether anybody watches an execution's progress, unless the worker knows already. */
  tellListening(execution_id: string, on: boolean): void {
    const owned = this.owned.get(execution_id);
    const knows = this.#listening.has(execution_id) === on;
    if (!owned || knows || !(owned.held || this.#isConnected())) return;
    if (on) this.#listening.add(execution_id);
    else this.#listening.delete(execution_id);
    this.tell(execution_id, { event: "listen", data: { execution_id, on } });
  }

  /** Notes for whom an execution runs by now; false where that is known, or is of another claim. */
  actsAs({ execution_id, generation }: Held, run_as: string | null): boolean {
    const owned = this.owned.get(execution_id);
    if (!owned?.acting || owned.generation !== generation) return false;
    if (owned.acting.run_as === run_as) return false;
    owned.acting = { ...owned.acting, run_as };
    return true;
  }

  /** For whom executions run what. */
  *acting(): Generator<Acting & { readonly execution_id: string }, void, undefined> {
    for (const [execution_id, { acting }] of this.owned) {
      if (acting) yield { ...acting, execution_id };
    }
  }

  /** Says what the principal of an execution may do by now, unless the worker was told (AUTH-36). */
  tellStanding(execution_id: string, { isFree, task_grants }: Standing): void {
    const owned = this.owned.get(execution_id);
    // One that is not connected hears it once it is.
    if (!owned || !(owned.held || this.#isConnected())) return;
    const { generation } = owned;
    const grants = { task_grants: [...task_grants], ...(!isFree && { hold: true }) };
    const text = told(generation, grants);
    if (this.#told.get(execution_id) === text) return;
    this.#told.set(execution_id, text);
    this.tell(execution_id, { event: "grants", data: { execution_id, generation, ...grants } });
  }

  /** What was told of rights may not have arrived: it is told again. */
  forgetTold(): void {
    this.#told.clear();
  }

  /** Sends a frame about an execution that the session owns, never before the assignment. */
  tell(execution_id: string, frame: WorkerFrame): void {
    const owned = this.owned.get(execution_id);
    if (!owned) return;
    if (owned.held) owned.held.push(frame);
    else this.#send(frame);
  }

  has(execution_id: string): boolean {
    return this.owned.has(execution_id) || this.#claiming.has(execution_id);
  }

  *reservations(except?: string): Generator<Requirements, void, undefined> {
    for (const held of [this.owned, this.#claiming]) {
      for (const [id, { requirements }] of held)
        if (requirements && id !== except) yield requirements;
    }
  }
}

function actingOf({ run_as, namespace, workflow }: Acting): Acting {
  return { run_as, namespace, workflow };
}

/** Under a claim: a later one begins with grants of its own. */
function told(
  generation: number,
  {
    task_grants,
    hold = false,
  }: { readonly task_grants: readonly string[]; readonly hold?: boolean },
): string {
  return JSON.stringify([generation, hold, task_grants]);
}
