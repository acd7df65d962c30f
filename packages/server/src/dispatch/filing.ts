import type { Group } from "./group.ts";
import { type Lane, Lanes, type Turn } from "./lanes.ts";
import { keyOf, NEVER, NONE, nameLiteral } from "./literals.ts";
import type { Look, Rostered } from "./roster.ts";

/** Filed by what a worker must not have: it is looked at for every worker that has it not. */
const LACKS = "!";

/**
 * Groups that no worker can have now, filed under one literal that their worker has (DSP-12): so that a
 * worker to which something happened is asked about those alone that it may be the one for.
 */
export class Filing {
  readonly #turn: Turn;
  /** Most literals have one group. */
  readonly #drawers = new Map<string, Group | Lanes>();
  readonly #none: Lanes;
  readonly #lacks: Lanes;
  /** Of how many groups a worker must have room for what they reserve, or a place apart. */
  #seekers = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#none = new Lanes(turn);
    this.#lacks = new Lanes(turn);
  }

  /** The literal to file a group under: its worker's name, else one that the fewest workers have. */
  static watchOf({ watched }: Group, countOf: (literal: string) => number): string {
    const { worker, has, lacks, isImpossible } = watched;
    if (isImpossible) return NEVER;
    if (worker !== undefined) return nameLiteral(worker);
    let [rarest, count] = [undefined as string | undefined, Number.POSITIVE_INFINITY];
    for (const literal of has) {
      const having = countOf(literal);
      if (having < count) [rarest, count] = [literal, having];
    }
    return rarest ?? (lacks.length > 0 ? LACKS : NONE);
  }

  add(group: Group, literal: string): void {
    group.until = literal;
    if (seeksRoom(group)) this.#seekers++;
    const lanes = this.#lanesOf(literal);
    if (lanes) {
      lanes.add(group);
      return;
    }
    const there = this.#drawers.get(literal);
    if (there instanceof Lanes) there.add(group);
    else if (there) {
      const both = new Lanes(this.#turn);
      both.add(there);
      both.add(group);
      this.#drawers.set(literal, both);
    } else this.#drawers.set(literal, group);
  }

  remove(group: Group): void {
    const { until: literal = NONE } = group;
    group.until = undefined;
    if (seeksRoom(group)) this.#seekers--;
    const lanes = this.#lanesOf(literal);
    if (lanes) {
      lanes.remove(group);
      return;
    }
    const there = this.#drawers.get(literal);
    if (!(there instanceof Lanes)) this.#drawers.delete(literal);
    else {
      there.remove(group);
      if (there.isEmpty) this.#drawers.delete(literal);
    }
  }

  /** The groups that may be worth asking for a worker, in the order of their turns. */
  walk(look: Look<Rostered>): Walk | undefined {
    if (look.kind === "room" && this.#seekers === 0) return undefined;
    const tracks: Track[] = [];
    const open = (lanes: Lanes) => {
      for (const lane of lanes.lists()) tracks.push({ lane, after: undefined });
    };
    if (this.#drawers.size > 0) {
      for (const literal of look.literals) {
        const there = this.#drawers.get(literal);
        if (there instanceof Lanes) open(there);
        else if (there) tracks.push({ only: there, literal });
      }
    }
    open(this.#lacks);
    // What needs no attribute does not mind which ones change.
    if (look.kind !== "attributes") open(this.#none);
    return tracks.length > 0 ? new Walk(tracks, this.#turn, look) : undefined;
  }

  #lanesOf(literal: string): Lanes | undefined {
    return literal === NONE ? this.#none : literal === LACKS ? this.#lacks : undefined;
  }
}

type Track =
  | { readonly lane: Lane; after: Group["at"] | undefined; readonly only?: never }
  | { readonly only: Group; readonly literal: string };

/** Goes through groups in the order of their turns; what is filed meanwhile was asked about meanwhile. */
export class Walk {
  /** Groups passed over that would better be filed under something else, which this worker lacks. */
  misfiled: Group[] = [];
  #tracks: readonly Track[];
  readonly #turn: Turn;
  readonly #look: Look<Rostered>;
  readonly #has: ReadonlySet<string>;

  constructor(tracks: readonly Track[], turn: Turn, look: Look<Rostered>) {
    this.#tracks = tracks;
    this.#turn = turn;
    this.#look = look;
    this.#has = new Set(look.literals);
  }

  next(): Group | undefined {
    let next: { readonly track: Track; readonly group: Group } | undefined;
    const left: Track[] = [];
    for (const track of this.#tracks) {
      const group = this.#headOf(track);
      if (!group) continue;
      left.push(track);
      if (!next || this.#turn(group, next.group) < 0) next = { track, group };
    }
    this.#tracks = next?.track.only ? left.filter((track) => track !== next.track) : left;
    if (next && next.track.only === undefined) next.track.after = next.group.at;
    return next?.group;
  }

  /** The next group of a track that is worth asking about; those before it are passed over for good. */
  #headOf(track: Track): Group | undefined {
    if (track.only) {
      const { only, literal } = track;
      return only.until === literal && this.#isWorthAsking(only) ? only : undefined;
    }
    const { lane } = track;
    let group = track.after ? lane.after({ at: track.after }) : lane.first;
    while (group && !this.#isWorthAsking(group)) {
      track.after = group.at;
      group = lane.after(group);
    }
    return group;
  }

  #isWorthAsking(group: Group): boolean {
    const { has, lacks } = group.watched;
    const { kind, keys } = this.#look;
    if (has.some((literal) => !this.#has.has(literal))) {
      if (has.length > 1) this.misfiled.push(group);
      return false;
    }
    if (lacks.some((literal) => this.#has.has(literal))) return false;
    return kind === "all" || (kind === "room" ? seeksRoom(group) : reads(group, keys));
  }
}

/** Whether what a group needs of attributes reads one of these. */
function reads({ watched: { has, lacks } }: Group, keys: ReadonlySet<string>): boolean {
  const isRead = (literal: string) => keys.has(keyOf(literal));
  return has.some(isRead) || lacks.some(isRead);
}

function seeksRoom({ isApart, watched }: Group): boolean {
  return isApart || watched.reserves;
}
