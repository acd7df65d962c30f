import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@engine/simulation/random";
import type { Supervised } from "../sweep/supervised.ts";

/** Most programs take about a second, and sixteen are under way: each death meets some of them. */
const LEAST_MS = 200;
const MOST_MS = 2_000;
const LOOK_MS = 20;

/**
 * Kills a worker every now and then, whatever it is at, also while it starts. The time to the next kill
 * runs while some worker is there: a machine on which they start slowly would run nothing otherwise.
 *
 * @returns Ends that.
 */
export function startKiller(
  workers: readonly Supervised[],
  random: Random,
  isAnyThere: () => Promise<boolean>,
): () => void {
  let isOver = false;
  const kill = async () => {
    while (!isOver) {
      while (!isOver && !(await isAnyThere())) await sleep(LOOK_MS);
      await sleep(random.between(LEAST_MS, MOST_MS));
      if (!isOver) random.pick(workers).process.signal("SIGKILL");
    }
  };
  void kill();
  return () => {
    isOver = true;
  };
}
