import type { Core } from "../core.ts";
import { World } from "../world.ts";
import type { BodyWorld, Scope } from "./call.ts";

/**
 * Functions of the author that are neither a body nor a task: schemas, `retryIf`, `cache.key`,
 * storages. They make no calls, and none of them moves the clock, the randomness or the timers of the
 * body that caused it. Functions whose results are not recorded see a world that is the same in every
 * pass, the others the real one (decision 0020).
 */
export function asideOf(scope: Scope, what: string, world?: BodyWorld): Scope {
  return { ...scope, parent: undefined, task: undefined, inTask: true, world, aside: what };
}

/**
 * The world of a schema whose result no log holds: chance from a generator of its own, a clock that
 * stands still, real timers. The same each time it is made for that place.
 *
 * @param place Where in the execution, such as a call's id.
 * @param now What its clock shows, milliseconds since 1970.
 */
export function placeWorld(core: Core, place: string, now: number): BodyWorld {
  return new World(core, { seed: `${core.options.info.seed}/${place}`, now: () => now });
}
