import type { Group } from "./group.ts";
import { OrderedList } from "./ordered-list.ts";
import { compareQueued, type Place } from "./queue-order.ts";

/** Whose turn comes first, of two groups (DSP-4). */
export type Turn = (a: Group, b: Group) => number;

function comparePlaced(a: { readonly at: Place }, b: { readonly at: Place }): number {
  return compareQueued(a.at, b.at);
}

export const byPlace: Turn = (a, b) => compareQueued(a.at, b.at);

/** Groups of one lane. */
export type Lane = OrderedList<Group, { readonly at: Place }>;

/**
 * Groups of which one has its turn next: in the order of their places within a lane, and between lanes
 * as `turn` says at that moment.
 */
export class Lanes {
  readonly #turn: Turn;
  readonly #lists = new Map<string, Lane>();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  get isEmpty(): boolean {
    return this.#lists.size === 0;
  }

  get first(): Group | undefined {
    let first: Group | undefined;
    for (const list of this.#lists.values()) {
      const group = list.first;
      if (group && (!first || this.#turn(group, first) < 0)) first = group;
    }
    return first;
  }

  lists(): Iterable<Lane> {
    return this.#lists.values();
  }

  add(group: Group): void {
    const list = this.#lists.get(group.lane) ?? (new OrderedList(comparePlaced) as Lane);
    this.#lists.set(group.lane, list);
    list.add(group);
  }

  remove(group: Group): void {
    const list = this.#lists.get(group.lane);
    list?.remove(group);
    if (list?.size === 0) this.#lists.delete(group.lane);
  }
}
