import { type Loss, type Requirements, type Suspicion, suspicionOf } from "@engine/contract";
import type { QueuedExecution } from "@engine/store";
import type { Acting } from "../auth/run-as.ts";
import type { Dispatchable } from "../gate/gate.ts";

/** A waiting execution in memory. */
export interface Entry extends QueuedExecution {
  readonly suspicion: Suspicion;
  readonly group: Group;
}

/**
 * Waiting executions that need the same of a worker: where one of them finds none, none of them does.
 * Those that are to run apart, of which only a few run at a time, are a group of their own. They wait in
 * the order of DSP-4: priority, queue time, id.
 */
export class Group {
  /** The requirements as JSON text; null: any worker will do. */
  readonly key: string | null;
  readonly isApart: boolean;
  readonly requirements: Requirements | null;
  /** Executions of the group behind this one were left in the store. */
  cutOff: QueuedExecution | undefined;
  readonly #entries: Entry[] = [];

  constructor(key: string | null, isApart: boolean) {
    this.key = key;
    this.isApart = isApart;
    this.requirements = key === null ? null : (JSON.parse(key) as Requirements);
  }

  get size(): number {
    return this.#entries.length;
  }

  get last(): Entry | undefined {
    return this.#entries.at(-1);
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#entries[Symbol.iterator]();
  }

  add(entry: Entry): void {
    const last = this.#entries.at(-1);
    // A fresh execution comes last: its place need not be searched.
    if (!last || compareQueued(last, entry) < 0) this.#entries.push(entry);
    else this.#entries.splice(this.#placeOf(entry), 0, entry);
  }

  /** Takes out those for which a condition holds, in one go. */
  takeOut(isMeant: (entry: Entry) => boolean): readonly Entry[] {
    const taken: Entry[] = [];
    const kept = this.#entries.filter((entry) => !isMeant(entry) || !taken.push(entry));
    this.#entries.length = 0;
    for (const entry of kept) this.#entries.push(entry);
    return taken;
  }

  /** How many come before an entry. */
  ahead(entry: Entry): number {
    return this.#placeOf(entry);
  }

  remove(entry: Entry): void {
    if (this.#entries[0] === entry) this.#entries.shift();
    else this.#entries.splice(this.#placeOf(entry), 1);
  }

  /** Index of the first entry that does not come before this one. */
  #placeOf(entry: QueuedExecution): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle];
      if (other && compareQueued(other, entry) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Waiting executions of one group that are kept in memory; more wait in the store alone. */
const MOST_OF_GROUP = 100_000;

/** Executions of one workflow that wait until their principal may run it. */
interface HeldGroup {
  readonly of: Acting;
  readonly entries: Map<string, QueuedExecution>;
  /** More of them wait in the store alone. */
  isCutOff: boolean;
}

/**
 * Executions that wait for a worker. Those that no worker matches, however many, cost those behind them
 * nothing, since each group is bounded by itself.
 */
export class DispatchQueue {
  readonly #most: number;
  /** By what they need: the groups of executions that run with others, and of those that run apart. */
  readonly #groups = new Map<string | null, Group>();
  readonly #apart = new Map<string | null, Group>();
  readonly #byId = new Map<string, Entry>();
  /** By principal and workflow; they are in no other group. Nothing is with authorization off. */
  readonly #held = new Map<string, HeldGroup>();
  readonly #heldById = new Map<string, HeldGroup>();

  /** @param most Executions that are kept of one group. */
  constructor(most: number = MOST_OF_GROUP) {
    this.#most = most;
  }

  get size(): number {
    return this.#byId.size;
  }

  groups(): Iterable<Group> {
    return this.#apart.size === 0 ? this.#groups.values() : this.#both();
  }

  *#both(): Generator<Group, void, undefined> {
    yield* this.#groups.values();
    yield* this.#apart.values();
  }

  add(queued: QueuedExecution): void {
    const known = this.#byId.get(queued.execution_id);
    if (known && isSame(known, queued)) return;
    if (known) this.remove(known.execution_id);
    if (this.#held.size > 0 && this.#addHeld(queued)) return;
    // Executions left in the store come before this one: they are read together when their turn comes.
    if (this.isLeft(queued)) return;
    const suspicion = suspicionIn(queued);
    const groups = this.#groupsOf(suspicion !== "none");
    const group =
      groups.get(queued.requirements) ?? new Group(queued.requirements, suspicion !== "none");
    groups.set(group.key, group);
    const entry: Entry = { ...queued, suspicion, group };
    this.#byId.set(entry.execution_id, entry);
    group.add(entry);
    if (group.size <= this.#most || !group.last) return;
    this.#take(group.last);
    group.cutOff = group.last;
  }

  /** Whether an execution lies behind those that are kept of its group. */
  isLeft(queued: QueuedExecution): boolean {
    if (this.#held.size > 0 && this.#held.get(heldKey(queued))?.isCutOff) return true;
    const groups = this.#groupsOf(suspicionIn(queued) !== "none");
    const cutOff = groups.get(queued.requirements)?.cutOff;
    return cutOff !== undefined && compareQueued(queued, cutOff) > 0;
  }

  /** A group of which all that is left lies in the store. */
  dry(): Group | undefined {
    for (const group of this.groups()) if (group.size === 0 && group.cutOff) return group;
    return undefined;
  }

  /** Notes where the executions that were left in the store begin by now; undefined: there are none. */
  readOn(group: Group, cutOff: QueuedExecution | undefined): void {
    group.cutOff = cutOff;
    if (!cutOff && group.size === 0) this.#groupsOf(group.isApart).delete(group.key);
  }

  has(execution_id: string): boolean {
    return this.#byId.has(execution_id) || this.#heldById.has(execution_id);
  }

  /** How many that need the same come before an execution. */
  ahead(execution_id: string): number {
    const entry = this.#byId.get(execution_id);
    return entry ? entry.group.ahead(entry) : 0;
  }

  isHeld(execution_id: string): boolean {
    return this.#heldById.has(execution_id);
  }

  /** Whose executions are held, and of which workflows. */
  *held(): Generator<Acting, void, undefined> {
    for (const { of } of this.#held.values()) yield of;
  }

  /** Sets aside all of a group whose principals may not run them now, until {@link free}. */
  hold(group: Group, isHeld: (entry: Acting) => boolean): void {
    for (const { group: _, suspicion: __, ...queued } of group.takeOut(isHeld)) {
      this.#byId.delete(queued.execution_id);
      const key = heldKey(queued);
      const { run_as, namespace, workflow } = queued;
      const fresh = { of: { run_as, namespace, workflow }, entries: new Map(), isCutOff: false };
      const held = this.#held.get(key) ?? fresh;
      this.#held.set(key, held);
      this.#addHeld(queued);
    }
    if (group.size === 0 && !group.cutOff) this.#groupsOf(group.isApart).delete(group.key);
  }

  /**
   * Puts those back whose principals may run them again.
   *
   * @returns Whether more of them wait in the store.
   */
  free(isFree: (of: Acting) => boolean): boolean {
    let isCutOff = false;
    for (const [key, held] of this.#held) {
      if (!isFree(held.of)) continue;
      this.#held.delete(key);
      isCutOff ||= held.isCutOff;
      for (const queued of held.entries.values()) {
        this.#heldById.delete(queued.execution_id);
        this.add(queued);
      }
    }
    return isCutOff;
  }

  /** Keeps one whose like are held; false where none are. */
  #addHeld(queued: QueuedExecution): boolean {
    const held = this.#held.get(heldKey(queued));
    // It may have been held for somebody else.
    this.#unhold(queued.execution_id);
    if (!held) return false;
    if (held.entries.size >= this.#most) held.isCutOff = true;
    else {
      held.entries.set(queued.execution_id, queued);
      this.#heldById.set(queued.execution_id, held);
    }
    return true;
  }

  #unhold(execution_id: string): void {
    this.#heldById.get(execution_id)?.entries.delete(execution_id);
    this.#heldById.delete(execution_id);
  }

  /** Whether an execution waits here with a log shorter than that. */
  knows(execution_id: string, head: number): boolean {
    const known =
      this.#byId.get(execution_id) ?? this.#heldById.get(execution_id)?.entries.get(execution_id);
    return (known?.head ?? head) < head;
  }

  remove(execution_id: string): void {
    const entry = this.#byId.get(execution_id);
    if (!entry) {
      this.#unhold(execution_id);
      return;
    }
    this.#take(entry);
    const { group } = entry;
    if (group.size === 0 && !group.cutOff) this.#groupsOf(group.isApart).delete(group.key);
  }

  #groupsOf(isApart: boolean): Map<string | null, Group> {
    return isApart ? this.#apart : this.#groups;
  }

  #take(entry: Entry): void {
    this.#byId.delete(entry.execution_id);
    entry.group.remove(entry);
  }
}

/** What the gate looks at of a queued execution. */
export function dispatchable({ last_worker, losses, suspicion, group }: Entry): Dispatchable {
  return { last_worker, was_lost: losses !== null, suspicion, requirements: group.requirements };
}

/** How suspect an execution is by its losses. */
function suspicionIn({ losses }: { readonly losses: string | null }): Suspicion {
  return losses === null ? "none" : suspicionOf(JSON.parse(losses) as Loss[]);
}

export function compareQueued(a: QueuedExecution, b: QueuedExecution): number {
  return (
    b.priority - a.priority ||
    a.queued_at - b.queued_at ||
    (a.execution_id < b.execution_id ? -1 : a.execution_id > b.execution_id ? 1 : 0)
  );
}

function heldKey({ run_as, namespace, workflow }: Acting): string {
  return `${run_as} ${namespace}/${workflow}`;
}

function isSame(a: QueuedExecution, b: QueuedExecution): boolean {
  return (
    compareQueued(a, b) === 0 &&
    a.run_as === b.run_as &&
    a.requirements === b.requirements &&
    a.last_worker === b.last_worker &&
    a.losses === b.losses &&
    a.head === b.head
  );
}
