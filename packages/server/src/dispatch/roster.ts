/** The workers that a server can send executions to, found by what they have and by their load. */
import type { WorkerAttributes } from "@engine/contract";
import type { Candidate, Dispatchable } from "../gate/gate.ts";
import { literalsOf, nameLiteral, type Watched } from "./literals.ts";
import { OrderedList } from "./ordered-list.ts";

/** A worker that may come and go. */
export interface Rostered extends Candidate {
  /** Whether this server can send it assignments. */
  readonly isReady: boolean;
}

/**
 * What has happened to a worker. `freed`: it may have more room, also where its load is as before.
 * `anew`: all that is known of it may be wrong.
 */
export type RosterNews = "changed" | "freed" | "anew";

/** What is worth asking for a worker to which something happened. */
export interface Look<C extends Rostered> {
  readonly candidate: C;
  /** Literals that it has, its name's included. */
  readonly literals: readonly string[];
  /**
   * `all`: it could take nothing before. `room`: it has more room than before. `attributes`: keys of it
   * have other values.
   */
  readonly kind: "all" | "room" | "attributes";
  readonly keys: ReadonlySet<string>;
}

/** A worker as it was when it was looked at last. */
interface Known<C extends Rostered> {
  readonly candidate: C;
  readonly worker: string;
  readonly turn: number;
  load: number;
  isAble: boolean;
  labels: WorkerAttributes["labels"];
  metadata: WorkerAttributes["metadata"];
  resources: Candidate["resources"];
  runners: Candidate["runners"];
  packages: Candidate["packages"];
  literals: readonly string[];
  /** What has happened to it since; undefined: nothing. */
  news: RosterNews | undefined;
}

/** Workers with a literal that are looked at one by one; of more, those with the least load first. */
const FEW = 32;
const NO_KEYS: ReadonlySet<string> = new Set();

export class Roster<C extends Rostered> {
  readonly #known = new Map<C, Known<C>>();
  /** Those that can take executions, by load and name. */
  readonly #free = new OrderedList<Known<C>>(compareFree);
  readonly #having = new Map<string, Set<C>>();
  /** Of which it has yet to be read what has become of them, and those that are not known yet. */
  readonly #touched: Known<C>[] = [];
  readonly #strangers = new Set<C>();
  readonly #isPresent: (candidate: C) => boolean;
  readonly #onLook: (look: Look<C>) => void;
  #turns = 0;

  /** @param onLook Told of each worker that may take what none could take before. */
  constructor(of: { isPresent: (candidate: C) => boolean; onLook: (look: Look<C>) => void }) {
    this.#isPresent = of.isPresent;
    this.#onLook = of.onLook;
  }

  /** Notes that something happened to a worker; it costs next to nothing. */
  touch(candidate: C, news: RosterNews = "changed"): void {
    const known = this.#known.get(candidate);
    if (!known) this.#strangers.add(candidate);
    else if (known.news === undefined) {
      known.news = news;
      this.#touched.push(known);
    } else if (weightOf(news) > weightOf(known.news)) known.news = news;
  }

  /** Looks at all that are known and those that are given: no news is missed for ever. */
  check(all: Iterable<C>): void {
    for (const candidate of all) this.touch(candidate);
    for (const candidate of this.#known.keys()) this.touch(candidate);
  }

  /** Reads what has become of those to which something happened. */
  settle(): void {
    // An array that is cut costs less than a set that is cleared, and this comes with every claim.
    if (this.#touched.length > 0) {
      for (const known of this.#touched) this.#look(known);
      this.#touched.length = 0;
    }
    if (this.#strangers.size > 0) {
      for (const candidate of this.#strangers) this.#meet(candidate);
      this.#strangers.clear();
    }
  }

  get hasFree(): boolean {
    this.settle();
    return this.#free.size > 0;
  }

  /** The one with the least load of those that can take executions. */
  get firstFree(): C | undefined {
    return this.#free.first?.candidate;
  }

  /** How many have a literal. */
  countOf(literal: string): number {
    return this.#having.get(literal)?.size ?? 0;
  }

  isFree(candidate: C): boolean {
    return this.#known.get(candidate)?.isAble ?? false;
  }

  /** The workers that the gate has to be asked about, and whether they come in the order of choice. */
  among(
    wanted: Pick<Dispatchable, "last_worker" | "requirements">,
    { watched, isRanked }: { watched: Watched; isRanked: boolean },
  ): { readonly candidates: Iterable<C>; readonly inOrder: boolean } {
    const { worker, has, isImpossible } = watched;
    if (isImpossible || this.#known.size === 0) return { candidates: [], inOrder: false };
    const literals = worker === undefined ? has : [nameLiteral(worker), ...has];
    const sets = literals.map((literal) => this.#having.get(literal));
    const least = sets.reduce((a, b) => ((b?.size ?? 0) < (a?.size ?? 0) ? b : a), sets[0]);
    if (literals.length > 0 && !least) return { candidates: [], inOrder: false };
    if (least && (isRanked || least.size <= FEW)) return { candidates: least, inOrder: false };
    if (isRanked) return { candidates: this.#known.keys(), inOrder: false };
    return { candidates: this.#inOrder(wanted, least), inOrder: true };
  }

  *#inOrder(
    { last_worker, requirements }: Pick<Dispatchable, "last_worker" | "requirements">,
    having: ReadonlySet<C> | undefined,
  ): Generator<C, void, undefined> {
    for (const name of [last_worker, requirements?.prefers]) {
      if (name) yield* this.#having.get(nameLiteral(name)) ?? [];
    }
    for (const { candidate } of this.#free) {
      if (!having || having.has(candidate)) yield candidate;
    }
  }

  #meet(candidate: C): void {
    if (!candidate.isReady || !this.#isPresent(candidate)) return;
    const { worker, load, labels, metadata, resources, runners, packages } = candidate;
    const isAble = candidate.takesWork && candidate.hasFreeSlot;
    const rest = { labels, metadata, resources, runners, packages, news: undefined };
    const literals = [nameLiteral(worker), ...literalsOf(candidate)];
    const known = { candidate, worker, turn: this.#turns++, load, isAble, ...rest, literals };
    this.#known.set(candidate, known);
    for (const literal of literals) this.#index(literal, candidate);
    if (!isAble) return;
    this.#free.add(known);
    this.#onLook({ candidate, literals, kind: "all", keys: NO_KEYS });
  }

  #look(before: Known<C>): void {
    const { candidate, news } = before;
    before.news = undefined;
    if (!candidate.isReady || !this.#isPresent(candidate)) {
      this.#drop(before);
      return;
    }
    const { load, labels, metadata, resources, runners, packages } = candidate;
    const isAble = candidate.takesWork && candidate.hasFreeSlot;
    const wasAble = before.isAble;
    const isFreed = load < before.load || news === "freed";
    if (load !== before.load || isAble !== wasAble) this.#move(before, { load, isAble });
    const keys =
      labels !== before.labels || metadata !== before.metadata ? this.#relabel(before) : NO_KEYS;
    const isAnother = runners !== before.runners || packages !== before.packages;
    before.runners = runners;
    before.packages = packages;
    const resourcesBefore = before.resources;
    before.resources = resources;
    if (!isAble) return;
    const { literals } = before;
    const tell = (kind: Look<C>["kind"]) => this.#onLook({ candidate, literals, kind, keys });
    if (!wasAble || isAnother || news === "anew" || totalsDiffer(resourcesBefore, resources)) {
      tell("all");
      return;
    }
    if (keys.size > 0) tell("attributes");
    if (isFreed || hasGrown(resourcesBefore, resources)) tell("room");
  }

  /** Keeps the order of those that can take executions. */
  #move(known: Known<C>, { load, isAble }: Pick<Known<C>, "load" | "isAble">): void {
    // The only one has its place whatever its load.
    const stays = known.isAble && isAble && this.#free.size === 1;
    if (known.isAble && !stays) this.#free.remove(known);
    known.load = load;
    known.isAble = isAble;
    if (isAble && !stays) this.#free.add(known);
  }

  /** Finds a worker by the attributes that it has now; answers keys that have other values. */
  #relabel(known: Known<C>): ReadonlySet<string> {
    const { candidate, worker, labels, metadata } = known;
    const now = [nameLiteral(worker), ...literalsOf(candidate)];
    const kept = new Set(now);
    for (const literal of known.literals) if (!kept.has(literal)) this.#unindex(literal, candidate);
    for (const literal of now) this.#index(literal, candidate);
    known.literals = now;
    known.labels = candidate.labels;
    known.metadata = candidate.metadata;
    return new Set([
      ...changedKeys("label", labels, candidate.labels),
      ...changedKeys("meta", metadata, candidate.metadata),
    ]);
  }

  #drop(known: Known<C>): void {
    if (known.isAble) this.#free.remove(known);
    this.#known.delete(known.candidate);
    for (const literal of known.literals) this.#unindex(literal, known.candidate);
  }

  #index(literal: string, candidate: C): void {
    const having = this.#having.get(literal);
    if (having) having.add(candidate);
    else this.#having.set(literal, new Set([candidate]));
  }

  #unindex(literal: string, candidate: C): void {
    const having = this.#having.get(literal);
    having?.delete(candidate);
    if (having?.size === 0) this.#having.delete(literal);
  }
}

function weightOf(news: RosterNews): number {
  return news === "changed" ? 0 : news === "freed" ? 1 : 2;
}

function compareFree(
  a: { readonly load: number; readonly worker: string; readonly turn: number },
  b: { readonly load: number; readonly worker: string; readonly turn: number },
): number {
  return a.load - b.load || (a.worker < b.worker ? -1 : a.worker > b.worker ? 1 : a.turn - b.turn);
}

/** Keys whose value is another one, as `label:key`. */
function changedKeys<Value>(
  of: "label" | "meta",
  a: Readonly<Record<string, Value>>,
  b: Readonly<Record<string, Value>>,
): string[] {
  return Object.keys({ ...a, ...b })
    .filter((key) => a[key] !== b[key])
    .map((key) => `${of}:${key}`);
}

type Resources = Candidate["resources"];

function totalsDiffer(was: Resources, now: Resources): boolean {
  if (was === now) return false;
  if (!was || !now) return true;
  return (
    was.cpu_total !== now.cpu_total ||
    was.memory_total !== now.memory_total ||
    was.disk_total !== now.disk_total ||
    was.gpus.length !== now.gpus.length
  );
}

/** Whether more of something is free than before. */
function hasGrown(was: Resources, now: Resources): boolean {
  if (!was || !now || was === now) return false;
  return (
    now.cpu_available > was.cpu_available ||
    now.memory_available > was.memory_available ||
    now.disk_free > was.disk_free
  );
}
