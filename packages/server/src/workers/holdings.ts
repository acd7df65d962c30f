import {
  type Event,
  type ExecutionRow,
  type Holding,
  type Loss,
  type Requirements,
  type Suspicion,
  suspicionOf,
  type WorkerFrame,
} from "@engine/contract";
import type { OwnedExecution } from "@engine/store";
import { Probation } from "./probation.ts";

/** An execution the session owns, as its row says. */
interface Owned {
  readonly generation: number;
  /** Null for what was found in the store: read from the row when somebody asks. */
  readonly module_hash: string | null;
  readonly requirements: Requirements | null;
  /** When it was assigned, by the clock that nobody sets; undefined once the worker has been heard of with it. */
  assignedAt: number | undefined;
  /** Heartbeats in a row that did not list it, since it was listed last. */
  unlisted: number;
  /** Frames that must not overtake the assignment; undefined once that has left. */
  held: WorkerFrame[] | undefined;
  /** `seq` of the newest event that was pushed to it; 0 when none was. */
  pushed: number;
  /** Up to where the worker has shown to know the log. */
  known: number;
}

interface Claiming {
  readonly done: Promise<unknown>;
  readonly requirements: Requirements | null;
  readonly suspicion: Suspicion;
}

/**
 * What a session has, as the server that holds it knows: the executions it owns with how far it knows
 * their logs, and those it is about to own. What is said of one never overtakes its assignment.
 */
export class Holdings {
  readonly owned: Map<string, Owned> = new Map();
  /** Claims that are not committed yet: they take a slot already. */
  readonly claiming: Map<string, Claiming> = new Map();
  /** Executions whose progress it was told to send. */
  readonly #listening = new Set<string>();
  readonly #send: (frame: WorkerFrame) => void;
  readonly #isConnected: () => boolean;
  readonly #probation: Probation;

  constructor(of: {
    send: (frame: WorkerFrame) => void;
    isConnected: () => boolean;
    clock: () => number;
  }) {
    this.#send = of.send;
    this.#isConnected = of.isConnected;
    this.#probation = new Probation(of.clock);
  }

  /** Executions it owns or is about to. */
  get load(): number {
    return this.owned.size + this.claiming.size;
  }

  /** What is known of them here does not count any more; claims under way do. */
  clear(): void {
    this.owned.clear();
    this.#listening.clear();
    this.#probation.clear();
  }

  /** Whether one that is to run apart may come to those that do. */
  hasPlaceApart(suspicion: Suspicion): boolean {
    const claiming = [...this.claiming.values()].map((one) => one.suspicion);
    return this.#probation.hasPlace(suspicion, claiming);
  }

  /** Notes that a commit gave it this execution. */
  own(row: ExecutionRow, now: number): void {
    const { execution_id, generation, module_hash, requirements, head } = row;
    this.claiming.delete(execution_id);
    const rest = { unlisted: 0, held: [], pushed: 0, known: head, assignedAt: now };
    this.owned.set(execution_id, { generation, module_hash, requirements, ...rest });
    this.#probation.begin(execution_id, generation, suspicionOf(row.losses));
  }

  /** A commit has brought it on: what it recorded may have cleared it. */
  cleared(row: Pick<ExecutionRow, "execution_id" | "generation" | "losses">): void {
    if (row.losses.length === 0) this.#probation.end(row);
  }

  /**
   * It says that it runs these, and what the store says of them is on its way: from now on commits
   * take them away, and what they bring is held.
   */
  expect(running: readonly Holding[]): void {
    for (const { execution_id, generation, seq } of running) {
      const unknown = { module_hash: null, requirements: null, assignedAt: undefined, unlisted: 0 };
      const rest = { held: [], pushed: 0, known: seq };
      this.owned.set(execution_id, { generation, ...unknown, ...rest });
    }
  }

  /** Notes what the store says it owns: assigned before this server held it, and listed by it. */
  inherit(execution: OwnedExecution, { seq }: Holding): void {
    const { execution_id, generation, module_hash, requirements, head } = execution;
    const { held = [], pushed = 0 } = this.owned.get(execution_id) ?? {};
    this.owned.set(execution_id, {
      generation,
      module_hash,
      requirements: requirements === null ? null : (JSON.parse(requirements) as Requirements),
      assignedAt: undefined,
      unlisted: 0,
      held,
      // Whatever it has not heard of, its reconnect brings.
      pushed: Math.max(pushed, head),
      known: seq,
    });
    const losses = execution.losses === null ? [] : (JSON.parse(execution.losses) as Loss[]);
    this.#probation.begin(execution_id, generation, suspicionOf(losses));
  }

  /** It goes on with what it was given anew: of its log it knows no more than it has listed. */
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

  /** Up to where it knows the log of an execution, if it was told of more. */
  unacknowledged(of: { execution_id: string; generation: number }): number | undefined {
    const owned = this.owned.get(of.execution_id);
    if (owned?.generation !== of.generation || owned.known >= owned.pushed) return undefined;
    return owned.known;
  }

  /** Notes that a commit took it away: it ended, parked or was handed over. */
  disown({ execution_id, generation }: { execution_id: string; generation: number }): void {
    this.#probation.end({ execution_id, generation });
    if (this.owned.get(execution_id)?.generation !== generation) return;
    this.owned.delete(execution_id);
    this.#listening.delete(execution_id);
  }

  owns({ execution_id, generation }: { execution_id: string; generation: number }): boolean {
    return this.owned.get(execution_id)?.generation === generation;
  }

  /** Whether it owns an execution at that generation, or gets a later one that it has yet to hear of. */
  hasSince({ execution_id, generation }: { execution_id: string; generation: number }): boolean {
    if (this.claiming.has(execution_id)) return true;
    return (this.owned.get(execution_id)?.generation ?? 0) >= generation;
  }

  /** Sends the assignment, and after it what came meanwhile; nothing if it has moved on. */
  assign(frame: Extract<WorkerFrame, { event: "assign" }>): void {
    if (!this.owns(frame.data)) return;
    this.#send(frame);
    const { execution_id, listen } = frame.data;
    // It knows nothing else: what it was told of an earlier copy does not count.
    if (listen) this.#listening.add(execution_id);
    else this.#listening.delete(execution_id);
    this.release(execution_id);
  }

  /** The worker has the execution: what was held for it may leave. */
  release(execution_id: string): void {
    const owned = this.owned.get(execution_id);
    const held = owned?.held ?? [];
    if (owned) owned.held = undefined;
    for (const frame of held) this.#send(frame);
  }

  /** Sends events that the server wrote, of an execution it owns; `head` is that of the last one. */
  push(
    { execution_id, generation, head }: Pick<ExecutionRow, "execution_id" | "generation" | "head">,
    events: readonly Event[],
  ): void {
    const owned = this.owned.get(execution_id);
    if (!owned || owned.generation !== generation || events.length === 0) return;
    const base_seq = head - events.length;
    owned.pushed = Math.max(owned.pushed, head);
    owned.known = Math.min(owned.known, base_seq);
    const data = { execution_id, generation, base_seq, events: [...events] };
    this.tell(execution_id, { event: "events", data });
  }

  /** Whether the worker has not heard of something that was pushed to it. */
  hasMissed(holding: Holding): boolean {
    const owned = this.owned.get(holding.execution_id);
    return this.owns(holding) && owned?.held === undefined && holding.seq < (owned?.pushed ?? 0);
  }

  /**
   * Compares a heartbeat's listing with what it owns (LIV-1).
   *
   * @returns Missing from two heartbeats in a row: never listed, and assigned before an instant, or
   *   listed before, so that the worker has it no more.
   */
  unlisted(
    running: readonly Holding[],
    assignedBefore: number,
  ): readonly { execution_id: string; generation: number }[] {
    const listed = new Set(running.map(({ execution_id }) => execution_id));
    const missing: { execution_id: string; generation: number }[] = [];
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

  /** Says whether anybody watches an execution's progress, unless it knows already. */
  tellListening(execution_id: string, on: boolean): void {
    const owned = this.owned.get(execution_id);
    const knows = this.#listening.has(execution_id) === on;
    if (!owned || knows || !(owned.held || this.#isConnected())) return;
    if (on) this.#listening.add(execution_id);
    else this.#listening.delete(execution_id);
    this.tell(execution_id, { event: "listen", data: { execution_id, on } });
  }

  /** Sends something about an execution it owns, never before the assignment. */
  tell(execution_id: string, frame: WorkerFrame): void {
    const owned = this.owned.get(execution_id);
    if (!owned) return;
    if (owned.held) owned.held.push(frame);
    else this.#send(frame);
  }

  has(execution_id: string): boolean {
    return this.owned.has(execution_id) || this.claiming.has(execution_id);
  }

  *reservations(except?: string): Generator<Requirements, void, undefined> {
    for (const held of [this.owned, this.claiming]) {
      for (const [id, { requirements }] of held)
        if (requirements && id !== except) yield requirements;
    }
  }
}
