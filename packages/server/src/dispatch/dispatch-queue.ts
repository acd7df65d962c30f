import { type Loss, type Requirements, type Suspicion, suspicionOf } from "@engine/contract";
import type { QueuedExecution } from "@engine/store";
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
    return this.#byId.has(execution_id);
  }

  /** Whether an execution waits here with a log shorter than that. */
  knows(execution_id: string, head: number): boolean {
    return (this.#byId.get(execution_id)?.head ?? head) < head;
  }

  remove(execution_id: string): void {
    const entry = this.#byId.get(execution_id);
    if (!entry) return;
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

function isSame(a: QueuedExecution, b: QueuedExecution): boolean {
  return (
    compareQueued(a, b) === 0 &&
    a.requirements === b.requirements &&
    a.last_worker === b.last_worker &&
    a.losses === b.losses &&
    a.head === b.head
  );
}
