import type { QueuedExecution } from "@engine/store";
import type { Acting } from "../auth/run-as.ts";
import { Filing, type Walk } from "./filing.ts";
import { Entry, Group, type OpenHidden, openPlain, suspicionIn } from "./group.ts";
import { byPlace, Lanes, type Turn } from "./lanes.ts";
import { compareQueued, type Place } from "./queue-order.ts";
import type { Look, Rostered } from "./roster.ts";

/** Waiting executions that are kept in memory; more wait in the store alone. */
const MOST = 200_000;
/** Where there are more, so large a part of them is left in the store at once. */
const PART = 1 / 16;

/** So many may have yet to be asked about, also where fewer are kept. */
const MOST_UNASKED = 2_000;

const NO_GROUPS: readonly Group[] = [];

/** Executions of one workflow that wait until their principal may run it. */
interface HeldGroup {
  readonly of: Acting;
  readonly entries: Map<string, QueuedExecution>;
  /** More of them wait in the store alone. */
  isCutOff: boolean;
}

export interface QueueOptions {
  /** Executions that are kept, of all groups together. */
  readonly most?: number;
  readonly openHidden?: OpenHidden;
  /** The lane of an execution among those of its priority, and whose turn it is between lanes. */
  readonly laneOf?: (queued: QueuedExecution) => string;
  readonly turn?: Turn;
}

/**
 * Executions that wait for a worker, in groups that need the same. A group that has yet to be asked
 * about is `ready`; one that no worker can have is filed by what it needs; one that waits for something
 * else than a worker is set aside until that has come.
 */
export class DispatchQueue {
  readonly #most: number;
  readonly #open: OpenHidden;
  readonly #laneOf: (queued: QueuedExecution) => string;
  /** By what they need: the groups of executions that run with others, and of those that run apart. */
  readonly #groups = new Map<string | null, Group>();
  readonly #apart = new Map<string | null, Group>();
  readonly #byId = new Map<string, Entry>();
  readonly #ready: Lanes;
  readonly #filing: Filing;
  readonly #aside = new Map<string, Set<Group>>();
  /** All of them that is left lies in the store. */
  readonly #dry = new Set<Group>();
  /** By principal and workflow; they are in no other group. Nothing is with authorization off. */
  readonly #held = new Map<string, HeldGroup>();
  readonly #heldById = new Map<string, HeldGroup>();
  /** Names that many executions share, each kept once. */
  readonly #names = new Map<string, string>();
  /** Executions that were left in the store while it was read: the read may have missed them. */
  #leftMeanwhile: QueuedExecution[] | undefined;
  /** Told of a group that is ready no more, or at another place. */
  onceAsked: (group: Group) => void = () => undefined;
  /** Groups behind this place may wait in the store alone; one is asked about before it is left there. */
  beyond: Place | undefined;
  /** How many there may be before some are left in the store; more than kept, while many are asked about. */
  #limit: number;
  /** Whether some were left in the store that nobody was asked about. */
  hasUnasked: boolean = false;

  constructor({
    most = MOST,
    openHidden = openPlain,
    laneOf = oneLane,
    turn = byPlace,
  }: QueueOptions = {}) {
    this.#most = most;
    this.#limit = most;
    this.#open = openHidden;
    this.#laneOf = laneOf;
    this.#ready = new Lanes(turn);
    this.#filing = new Filing(turn);
  }

  get size(): number {
    return this.#byId.size;
  }

  *groups(): Generator<Group, void, undefined> {
    yield* this.#groups.values();
    yield* this.#apart.values();
  }

  /** The group that has its turn next, among those that have yet to be asked about. */
  get firstReady(): Group | undefined {
    return this.#ready.first;
  }

  add(queued: QueuedExecution): void {
    const known = this.#byId.get(queued.execution_id);
    if (known && isSame(known, queued)) return;
    if (known) this.remove(known.execution_id);
    if (this.#held.size > 0 && this.#addHeld(queued)) return;
    // Executions left in the store come before this one: they are read together when their turn comes.
    if (this.#isBehindItsGroup(queued)) {
      this.#leftMeanwhile?.push(queued);
      return;
    }
    const isApart = suspicionIn(queued) !== "none";
    const lane = this.#laneOf(queued);
    const slim = this.#shared(queued);
    const groups = isApart ? this.#apart : this.#groups;
    const key = keyOf(queued.requirements, lane);
    const there = groups.get(key);
    if (!there) {
      const group = new Group(slim, { isApart, lane, open: this.#open });
      groups.set(key, group);
      this.#byId.set(queued.execution_id, group.at as Entry);
      this.ready(group);
    } else {
      const entry = new Entry(slim, there);
      this.#byId.set(queued.execution_id, entry);
      there.add(entry);
      this.#dry.delete(there);
      // The others of a filed group wait for the same; with another first one its turn may be another.
      if (there.standing !== "filed" || there.first === entry) this.ready(there);
    }
    if (this.#count > this.#limit) this.#shorten();
  }

  /** Whether an execution lies behind those that are kept, of its group or of all. */
  isLeft(queued: QueuedExecution): boolean {
    if (this.beyond && compareQueued(queued, this.beyond) > 0) return true;
    return this.#isBehindItsGroup(queued);
  }

  #isBehindItsGroup(queued: QueuedExecution): boolean {
    if (this.#held.size > 0 && this.#held.get(heldKey(queued))?.isCutOff) return true;
    const cutOff = this.#groupFor(queued)?.cutOff;
    return cutOff !== undefined && compareQueued(queued, cutOff) > 0;
  }

  /** The group that executions with such needs come to which no worker has lost. */
  groupsOf(requirements: string | null, lane: string): Iterable<Group> {
    const group = this.#groups.get(keyOf(requirements, lane));
    return group ? [group] : [];
  }

  /** Lets a group be asked about. */
  ready(group: Group): void {
    if (group.standing === "ready") {
      if (group.at === group.first) return;
      this.#ready.remove(group);
      // Others may come before it now, of which its worker has yet to be asked.
      this.onceAsked(group);
    } else this.#leave(group);
    if (!group.first) return;
    group.at = group.first;
    group.standing = "ready";
    this.#ready.add(group);
  }

  /** Files a group that no worker can have now. */
  file(group: Group, countOf: (literal: string) => number): void {
    this.#leave(group);
    if (!group.first) return;
    // Where there is no room for it, it is read again with what lies behind it.
    if (this.#count <= this.#most) this.#limit = this.#most;
    const isBehind = this.beyond && this.#count > this.#most - this.#most * PART;
    if (isBehind && compareQueued(group.first, this.beyond as Place) > 0) {
      this.#drop(group, true);
      return;
    }
    group.at = group.first;
    group.standing = "filed";
    this.#filing.add(group, Filing.watchOf(group, countOf));
    group.rest();
  }

  /** Files a group under another literal, if that is watched for better by now. */
  refile(group: Group, countOf: (literal: string) => number): void {
    const { standing, until } = group;
    const better = standing === "filed" ? Filing.watchOf(group, countOf) : until;
    if (better === undefined || better === until) return;
    // Who has it may be about to be asked, and would not find the group there.
    if (countOf(better) > 0) this.ready(group);
    else {
      this.#filing.remove(group);
      this.#filing.add(group, better);
    }
  }

  /** Sets a group aside, until {@link back}. */
  setAside(group: Group, until: string): void {
    this.#leave(group);
    if (!group.first) return;
    group.standing = "aside";
    group.until = until;
    const others = this.#aside.get(until) ?? new Set();
    this.#aside.set(until, others.add(group));
  }

  /** What groups were set aside for has come. */
  back(until: string): void {
    for (const group of this.#aside.get(until) ?? []) this.ready(group);
  }

  /** Filed groups of executions that run apart: of those, time alone makes some possible. */
  waitingApart(): readonly Group[] {
    if (this.#apart.size === 0) return NO_GROUPS;
    return [...this.#apart.values()].filter(({ standing }) => standing === "filed");
  }

  walk(look: Look<Rostered>): Walk | undefined {
    return this.#filing.walk(look);
  }

  /** Groups of which all that is left lies in the store. */
  dry(): ReadonlySet<Group> {
    return this.#dry;
  }

  /** Notes where the executions that were left in the store begin by now; undefined: there are none. */
  readOn(group: Group, cutOff: Place | undefined): void {
    group.cutOff = cutOff;
    if (!cutOff && group.size === 0) this.#delete(group);
  }

  /** Adds what was read, and what was left in the store meanwhile. */
  addRead(rows: readonly QueuedExecution[]): void {
    const meanwhile = this.#leftMeanwhile ?? [];
    this.#leftMeanwhile = undefined;
    for (const row of rows) this.add(row);
    // What is left once more was written before the next part is read.
    for (const row of meanwhile) if (!this.has(row.execution_id)) this.add(row);
    this.#leftMeanwhile = [];
  }

  /** Executions that are left in the store from now on are added behind what is read. */
  beginReading(): void {
    this.#leftMeanwhile = [];
  }

  endReading(): void {
    this.#leftMeanwhile = undefined;
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
    for (const queued of group.takeOut(isHeld)) {
      this.#byId.delete(queued.execution_id);
      const key = heldKey(queued);
      const { run_as, namespace, workflow } = queued;
      const fresh = { of: { run_as, namespace, workflow }, entries: new Map(), isCutOff: false };
      const held = this.#held.get(key) ?? fresh;
      this.#held.set(key, held);
      this.#addHeld(queued);
    }
    this.#settle(group);
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
    const { group } = entry;
    this.#byId.delete(execution_id);
    group.remove(entry);
    this.#settle(group);
  }

  get #count(): number {
    return this.#byId.size + this.#heldById.size;
  }

  #groupFor(queued: QueuedExecution): Group | undefined {
    const groups = suspicionIn(queued) === "none" ? this.#groups : this.#apart;
    return groups.get(keyOf(queued.requirements, this.#laneOf(queued)));
  }

  /** Keeps a group where it is known by its first entry, after some have gone. */
  #settle(group: Group): void {
    const { first, standing } = group;
    if (!first) {
      this.#leave(group);
      if (group.cutOff) this.#dry.add(group);
      else this.#delete(group);
    } else if (standing === "ready") this.ready(group);
    // Of those that run apart, the next one may have a place where the first had none.
    else if (standing === "filed" && group.isApart) this.ready(group);
    else if (standing === "filed" && group.at !== first) {
      const { until } = group;
      this.#filing.remove(group);
      group.at = first;
      this.#filing.add(group, until as string);
    }
  }

  #leave(group: Group): void {
    const { standing, until } = group;
    group.standing = undefined;
    if (standing === "ready") {
      this.#ready.remove(group);
      this.onceAsked(group);
    } else if (standing === "filed") this.#filing.remove(group);
    else if (standing === "aside" && until !== undefined) {
      const others = this.#aside.get(until);
      others?.delete(group);
      if (others?.size === 0) this.#aside.delete(until);
    }
    group.until = undefined;
  }

  #delete(group: Group): void {
    this.#dry.delete(group);
    (group.isApart ? this.#apart : this.#groups).delete(keyOf(group.key, group.lane));
  }

  /**
   * Leaves some in the store, so that all groups together are no more than may be kept: of the largest
   * groups all but their first, then the groups that come last.
   */
  #shorten(): void {
    let over = this.#count - Math.floor(this.#most * (1 - PART));
    const groups = [...this.groups()]
      .filter(({ size }) => size > 1)
      .sort((a, b) => b.size - a.size);
    const level = levelOf(groups, over);
    for (const group of groups) {
      if (group.size <= level) break;
      over -= this.#forget(group.cutTo(level));
    }
    if (over <= 0) {
      this.#limit = this.#most;
      return;
    }
    // Those that were not asked about are left only where they alone are too many.
    const all = [...this.groups()].filter(({ size }) => size > 0);
    const filed = all.filter(({ standing }) => standing === "filed");
    over -= this.#dropLast(filed, over);
    const most = Math.max(this.#most, MOST_UNASKED);
    if (this.#count > most) this.#dropLast(all, this.#count - most);
    this.#limit = Math.max(this.#most, this.#count + this.#most * PART);
  }

  /** Leaves the groups that come last in the store, until so many executions are left there. */
  #dropLast(groups: readonly Group[], over: number): number {
    let left = 0;
    for (const group of groups.toSorted((a, b) => compareQueued(b.at, a.at))) {
      if (left >= over) break;
      left += group.size;
      this.#drop(group);
    }
    return left;
  }

  /** Leaves a whole group in the store. */
  #drop(group: Group, wasAsked = group.standing === "filed"): void {
    const { first } = group;
    if (!first) return;
    if (!wasAsked) this.hasUnasked = true;
    const { priority, queued_at } = first;
    // A place before its own, so that it is read again, too.
    const before = { priority, queued_at, execution_id: "" };
    if (!this.beyond || compareQueued(before, this.beyond) < 0) this.beyond = before;
    this.#leave(group);
    this.#forget(group.takeOut(() => true));
    this.#delete(group);
  }

  #forget(entries: readonly Entry[]): number {
    for (const { execution_id } of entries) this.#byId.delete(execution_id);
    return entries.length;
  }

  /** Keeps one whose like are held; false where none are. */
  #addHeld(queued: QueuedExecution): boolean {
    const held = this.#held.get(heldKey(queued));
    // It may have been held for somebody else.
    this.#unhold(queued.execution_id);
    if (!held) return false;
    if (this.#count >= this.#most) held.isCutOff = true;
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

  /** The same with each name kept once, however many executions have it. */
  #shared(queued: QueuedExecution): QueuedExecution {
    const shared = (name: string): string => {
      const known = this.#names.get(name);
      if (known !== undefined) return known;
      if (this.#names.size >= MOST_NAMES) this.#names.clear();
      this.#names.set(name, name);
      return name;
    };
    const { namespace, workflow, run_as, last_worker } = queued;
    return {
      ...queued,
      // One that comes back from a group has them of that group.
      requirements: queued.requirements,
      namespace: shared(namespace),
      workflow: shared(workflow),
      run_as: run_as === null ? null : shared(run_as),
      last_worker: last_worker === null ? null : shared(last_worker),
    };
  }
}

/** Names that are kept once; of more, some are kept twice. */
const MOST_NAMES = 10_000;

/** To how many the largest groups have to be cut, so that so many go; each keeps its first. */
function levelOf(largestFirst: readonly Group[], over: number): number {
  let above = 0;
  for (const [at, { size }] of largestFirst.entries()) {
    above += size;
    const next = largestFirst[at + 1]?.size ?? 1;
    // Cut to the size of the next one, these would give so many.
    if (above - (at + 1) * next >= over) return Math.max(1, Math.floor((above - over) / (at + 1)));
  }
  return 1;
}

function oneLane(): string {
  return "";
}

function keyOf(requirements: string | null, lane: string): string | null {
  return lane === "" ? requirements : `${lane}\n${requirements ?? ""}`;
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
