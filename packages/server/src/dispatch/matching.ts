import { type Dispatchable, type GateAnswer, gate, policyOf } from "../gate/gate.ts";
import type { DispatchQueue } from "./dispatch-queue.ts";
import type { Walk } from "./filing.ts";
import { dispatchable, type Entry, type Group } from "./group.ts";
import { type Watched, watchedOf } from "./literals.ts";
import { type Look, Roster, type Rostered, type RosterNews } from "./roster.ts";

/** Asks the gate; what a test counts. */
export type Ask = typeof gate;

/** An execution, and the worker that can have it now. */
export interface Match<C extends Rostered> {
  readonly entry: Entry;
  readonly candidate: C;
  readonly score: number | null;
}

interface Parts<C extends Rostered> {
  readonly queue: DispatchQueue;
  /** Whether a worker is one of those that live. */
  readonly isPresent: (candidate: C) => boolean;
  /** The first execution of a group that may go to a worker of this server; what else it waits for. */
  readonly firstOf: (group: Group) => Entry | { readonly until: string } | undefined;
  readonly ask?: Ask;
}

/** A worker about which groups have yet to be asked. */
interface OpenLook<C extends Rostered> extends Look<C> {
  walk: Walk | undefined;
}

/**
 * Brings together what waits and who is free (DSP-12). A group is asked about once, over the workers
 * that its needs leave. Where none can have it, it is filed; from then on a worker is asked about it only
 * when something happened to that worker that may have changed the answer.
 */
export class Matching<C extends Rostered> {
  readonly roster: Roster<C>;
  readonly #queue: DispatchQueue;
  readonly #firstOf: Parts<C>["firstOf"];
  readonly #ask: Ask;
  /** Workers to which something happened: the next group that one of them can have is to be found. */
  readonly #open = new Map<C, OpenLook<C>>();
  /** The same, once a group was found that is ready now. */
  readonly #found = new Map<Group, OpenLook<C>[]>();
  #hasNews = false;

  constructor({ queue, isPresent, firstOf, ask = gate }: Parts<C>) {
    this.#queue = queue;
    this.#firstOf = firstOf;
    this.#ask = ask;
    this.roster = new Roster({ isPresent, onLook: (look) => this.#look(look) });
    queue.onceAsked = (group) => this.#goOn(group);
  }

  touch(candidate: C, news?: RosterNews): void {
    this.roster.touch(candidate, news);
  }

  /** The execution whose turn it is among those that a worker can have now, with that worker. */
  next(): Match<C> | undefined {
    while (true) {
      this.#findReady();
      const group = this.#queue.firstReady;
      if (!group) return undefined;
      const entry = this.#firstOf(group);
      if (!entry) continue;
      if ("until" in entry) {
        this.#queue.setAside(group, entry.until);
        continue;
      }
      const answer = this.choose(dispatchable(entry), group.watched);
      if (answer.kind === "claim") {
        return { entry, candidate: answer.candidate, score: answer.score };
      }
      this.#queue.file(group, (literal) => this.roster.countOf(literal));
    }
  }

  /** Whether something waits that may be claimed before a fresh execution. */
  get isBusy(): boolean {
    this.#findReady();
    return this.#queue.firstReady !== undefined;
  }

  /** What the gate makes of an execution, over the workers of this server that its needs leave. */
  choose(wanted: Dispatchable, watched: Watched = watchedOf(wanted)): GateAnswer<C> {
    this.roster.settle();
    const isRanked = policyOf(wanted).length > 0;
    const first = isAnyone(wanted) ? this.roster.firstFree : undefined;
    if (first) {
      const answer = this.#ask(wanted, [first], { inOrder: true });
      if (answer.kind !== "wait") return answer;
    }
    const { candidates, inOrder } = this.roster.among(wanted, { watched, isRanked });
    return this.#ask(wanted, candidates, { inOrder });
  }

  /** Makes ready, for each worker to which something happened, the first group that it can have. */
  #findReady(): void {
    this.roster.settle();
    if (this.#open.size === 0) return;
    for (const [candidate, look] of this.#open) {
      this.#open.delete(candidate);
      const group = this.#nextFor(look);
      if (!group) continue;
      this.#queue.ready(group);
      const others = this.#found.get(group);
      if (others) others.push(look);
      else this.#found.set(group, [look]);
    }
  }

  /** The next filed group that a worker can have. */
  #nextFor(look: OpenLook<C>): Group | undefined {
    const { candidate, walk } = look;
    if (!walk || !this.roster.isFree(candidate)) return undefined;
    const countOf = (literal: string) => this.roster.countOf(literal);
    while (true) {
      const group = walk.next();
      for (const misfiled of walk.misfiled.splice(0)) this.#queue.refile(misfiled, countOf);
      if (!group) return undefined;
      const { first, until = "" } = group;
      // Nobody else could be asked about it: that need not be done twice.
      if (until !== "" && this.roster.countOf(until) === 1) return group;
      if (first && this.#ask(dispatchable(first), [candidate]).kind === "claim") return group;
    }
  }

  /** Whether workers had news since this was asked last. */
  takeNews(): boolean {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews;
  }

  /** A worker has news: it is asked about from the start, since what it refused it may take now. */
  #look(look: Look<C>): void {
    this.#hasNews = true;
    const walk = this.#queue.walk(look);
    const earlier = this.#open.get(look.candidate);
    if (!walk) return;
    if (!earlier) {
      this.#open.set(look.candidate, { ...look, walk });
      return;
    }
    const both: Look<C> = { ...look, kind: "all" };
    this.#open.set(look.candidate, { ...both, walk: this.#queue.walk(both) });
  }

  /** A group was asked about: those who could have had it are asked about what comes behind it. */
  #goOn(group: Group): void {
    const looks = this.#found.get(group);
    if (!looks) return;
    this.#found.delete(group);
    for (const look of looks) {
      if (!this.#open.has(look.candidate)) this.#open.set(look.candidate, look);
    }
  }
}

/** Whether the worker with the least load is the one, as it is for most. */
function isAnyone({ last_worker, requirements, hidden }: Dispatchable): boolean {
  return last_worker === null && requirements === null && hidden === undefined;
}
