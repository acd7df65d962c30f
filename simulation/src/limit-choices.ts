import type { Engine } from "@engine/server";
import type { LimitRow, Store } from "@engine/store";
import { LIMIT_NAMES } from "./programs/counts.ts";
import type { Random } from "./random.ts";

type Definition = Pick<LimitRow, "concurrency" | "rate">;

/** What operators allow under a name from a moment on. */
export interface LimitChoice {
  readonly at: number;
  readonly name: string;
  /** Null: they delete it. */
  readonly definition: Definition | null;
}

/** With which whatever waits for an operator goes on. */
export const ROOM: Definition = { concurrency: 2, rate: null };

/** Mostly before the most begins; what begins earlier waits until somebody says something. */
export function limitChoicesOf(random: Random, stretch: number): LimitChoice[] {
  const count = 3 + random.below(6);
  const planned = Array.from({ length: count }, (): LimitChoice => {
    const at = Math.round(random.next() ** 2 * stretch);
    return { at, name: random.pick(LIMIT_NAMES), definition: definitionOf(random) };
  });
  return planned.sort((a, b) => a.at - b.at);
}

function definitionOf(random: Random): Definition | null {
  if (random.chance(0.15)) return null;
  return {
    concurrency: random.pick([0, 1, 1, 1, 2, 2, null]),
    rate: random.chance(0.3) ? { count: random.pick([1, 2]), period_ms: 5_000 } : null,
  };
}

/** As the routes of limits do it. */
export async function applyLimit(
  { name, definition }: Pick<LimitChoice, "name" | "definition">,
  { limits }: Engine,
  store: Store,
): Promise<void> {
  if (definition) await store.limits.set(name, definition);
  else if (!(await store.limits.delete(name))) return;
  limits.changed(name);
}
