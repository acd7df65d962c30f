import type { QueuedExecution } from "@engine/store";
import { FairOrder } from "./fair-order.ts";
import type { Group } from "./group.ts";
import { byPlace } from "./lanes.ts";
import { limitLane } from "./limit-lane.ts";

/** What a lane is made of. */
type Waiting = Pick<QueuedExecution, "requirements" | "generation" | "state" | "namespace">;

/** No text of a lane has it. */
const BETWEEN = "\u0000";

/**
 * Whose turn it is among waiting executions of one priority: the keys of their workflows' `fairness` take
 * turns, each in a lane of its own, and those without one take a turn together, or one for each namespace
 * where that is configured (FLW-6).
 */
export class Turns {
  readonly #order = new FairOrder();
  readonly #isByNamespace: boolean;

  constructor({ fairness }: { readonly fairness: "none" | "namespace" }) {
    this.#isByNamespace = fairness === "namespace";
  }

  laneOf(waiting: Waiting): string {
    const key = this.#keyOf(waiting);
    return key === "" ? limitLane(waiting) : `${limitLane(waiting)}${BETWEEN}${key}`;
  }

  /** Below 0: a comes first. Between lanes of one key whoever waits longer does. */
  readonly compare = (a: Group, b: Group): number => {
    if (a.lane === b.lane) return byPlace(a, b);
    return this.#order.compare(turnOf(a), turnOf(b)) || byPlace(a, b);
  };

  /** Notes that it was the turn of an execution. */
  claimed(priority: number, lane: string, weight = 1): void {
    this.#order.claimed({ priority, key: keyIn(lane), weight });
  }

  #keyOf({ requirements, namespace }: Waiting): string {
    // A text inside the JSON has its quotes escaped.
    if (requirements?.includes('"fairness":{')) {
      return `key ${JSON.parse(requirements).fairness?.key}`;
    }
    return this.#isByNamespace ? `namespace ${namespace}` : "";
  }
}

function turnOf({ at, lane }: Group) {
  return { priority: at.priority, key: keyIn(lane) };
}

function keyIn(lane: string): string {
  const between = lane.indexOf(BETWEEN);
  return between < 0 ? "" : lane.slice(between + 1);
}
