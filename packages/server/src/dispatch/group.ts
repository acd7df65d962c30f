import {
  type HiddenPlacement,
  type Loss,
  type Placement,
  type Requirements,
  type State,
  type Suspicion,
  suspicionOf,
} from "@engine/contract";
import type { QueuedExecution } from "@engine/store";
import { type Needs, UNREADABLE } from "../gate/fits.ts";
import type { Dispatchable } from "../gate/gate.ts";
import { type Watched, watchedOf } from "./literals.ts";
import { OrderedList } from "./ordered-list.ts";
import { compareQueued, type Place } from "./queue-order.ts";

/** A waiting execution in memory. There may be very many: what a group shares is kept once. */
export class Entry implements QueuedExecution {
  readonly execution_id: string;
  readonly priority: number;
  readonly queued_at: number;
  readonly last_worker: string | null;
  readonly losses: string | null;
  readonly head: number;
  readonly generation: number;
  readonly state: State;
  readonly run_as: string | null;
  readonly namespace: string;
  readonly workflow: string;
  readonly group: Group;

  constructor(queued: QueuedExecution, group: Group) {
    this.execution_id = queued.execution_id;
    this.priority = queued.priority;
    this.queued_at = queued.queued_at;
    this.last_worker = queued.last_worker;
    this.losses = queued.losses;
    this.head = queued.head;
    this.generation = queued.generation;
    this.state = queued.state;
    this.run_as = queued.run_as;
    this.namespace = queued.namespace;
    this.workflow = queued.workflow;
    this.group = group;
  }

  get requirements(): string | null {
    return this.group.key;
  }

  get suspicion(): Suspicion {
    return suspicionIn(this);
  }
}

/** Where a group is: it has yet to be asked about, waits for a worker, or for something else. */
export type Standing = "ready" | "filed" | "aside";

/** How hidden terms are opened; undefined: nobody here can. */
export type OpenHidden = (hidden: HiddenPlacement) => Placement | undefined;

/** Opens what is not sealed. */
export const openPlain: OpenHidden = (hidden) => ("plain" in hidden ? hidden.plain : undefined);

/**
 * Waiting executions that need the same of a worker: where one of them finds none, none of them does.
 * Those that are to run apart, of which only a few run at a time, are a group of their own.
 */
export class Group {
  /** The requirements as JSON text; null: any worker will do. */
  readonly key: string | null;
  readonly isApart: boolean;
  /** Whose turn it is among those of one priority is decided between lanes. */
  readonly lane: string;
  /** Executions of the group behind this one were left in the store. */
  cutOff: Place | undefined = undefined;
  standing: Standing | undefined = undefined;
  /** The place by which it is kept where it stands. */
  at: Place;
  /** The literal under which it is filed, or what it is set aside for. */
  until: string | undefined = undefined;
  /** Most groups have one. */
  #only: Entry | undefined;
  #list: OrderedList<Entry, Place> | undefined = undefined;
  readonly #open: OpenHidden;
  #needs: Needs | undefined = undefined;
  #watched: Watched | undefined = undefined;

  constructor(
    first: QueuedExecution,
    { isApart, lane, open }: { isApart: boolean; lane: string; open: OpenHidden },
  ) {
    this.key = first.requirements;
    this.isApart = isApart;
    this.lane = lane;
    this.#open = open;
    const entry = new Entry(first, this);
    this.at = entry;
    this.#only = entry;
  }

  get size(): number {
    return this.#list?.size ?? (this.#only ? 1 : 0);
  }

  get first(): Entry | undefined {
    return this.#list ? this.#list.first : this.#only;
  }

  get needs(): Needs {
    this.#needs ??= this.#readKey();
    return this.#needs;
  }

  /** What it is filed by. */
  get watched(): Watched {
    this.#watched ??= watchedOf(this.needs);
    return this.#watched;
  }

  /** Forgets what can be read again, since it may wait for long. What was opened is opened once. */
  rest(): void {
    if (this.watched && !this.#needs?.hidden) this.#needs = undefined;
  }

  *[Symbol.iterator](): Generator<Entry, void, undefined> {
    if (this.#list) yield* this.#list;
    else if (this.#only) yield this.#only;
  }

  add(entry: Entry): void {
    if (!this.#list && !this.#only) {
      this.#only = entry;
      return;
    }
    if (!this.#list) this.#keep([...this]);
    this.#list?.add(entry);
  }

  /** How many come before one of its entries. */
  ahead(entry: Entry): number {
    return this.#list?.before(entry) ?? 0;
  }

  remove(entry: Entry): void {
    this.#list?.remove(entry);
    this.#only = undefined;
  }

  /** Takes out those for which a condition holds, in one go. */
  takeOut(isMeant: (entry: Entry) => boolean): readonly Entry[] {
    const taken: Entry[] = [];
    this.#keep([...this].filter((entry) => !isMeant(entry) || !taken.push(entry)));
    return taken;
  }

  /** Leaves those behind the first so many in the store. */
  cutTo(size: number): readonly Entry[] {
    const entries = [...this];
    const left = entries.splice(size);
    this.#keep(entries);
    if (left.length > 0) this.cutOff = entries.at(-1) ?? left[0];
    return left;
  }

  #keep(entries: readonly Entry[]): void {
    this.#only = undefined;
    this.#list = new OrderedList<Entry, Place>(compareQueued);
    for (const entry of entries) this.#list.add(entry);
  }

  #readKey(): Needs {
    const requirements = this.key === null ? null : (JSON.parse(this.key) as Requirements);
    const hidden = requirements?.hidden;
    if (!hidden) return { requirements };
    return { requirements, hidden: this.#open(hidden) ?? UNREADABLE };
  }
}

/** What the gate looks at of a queued execution. */
export function dispatchable(entry: Entry): Dispatchable {
  const { last_worker, losses, generation, suspicion } = entry;
  const { requirements, hidden } = entry.group.needs;
  const was_lost = losses !== null;
  return { last_worker, was_lost, isFresh: generation === 0, suspicion, requirements, hidden };
}

/** How suspect an execution is by its losses. */
export function suspicionIn({ losses }: { readonly losses: string | null }): Suspicion {
  return losses === null ? "none" : suspicionOf(JSON.parse(losses) as Loss[]);
}
