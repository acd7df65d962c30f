import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@engine/simulation/random";
import type { Supervised } from "../sweep/supervised.ts";

/** Most programs take about a second, and sixteen are under way: each death meets some of them. */
const LEAST_MS = 200;
const MOST_MS = 2_000;
const LOOK_MS = 20;
/** Where workers start slowly, more of them only keep programs from coming to an end. */
const MOST_BETWEEN_ENDS = 6;

interface Killed {
  readonly workers: readonly Supervised[];
  readonly isAnyThere: () => Promise<boolean>;
  /** Programs that have come to an end. */
  readonly ended: () => number;
}

/**
 * Kills a worker every now and then, whatever it is at, also while it starts. The time to the next kill
 * runs while some worker is there, and some kills without the end of a program are enough: a machine on
 * which workers start slowly would run nothing otherwise.
 *
 * @returns Ends that.
 */
export function startKiller({ workers, isAnyThere, ended }: Killed, random: Random): () => void {
  let isOver = false;
  const kill = async () => {
    let kills = 0;
    let before = ended();
    const isDue = async () => {
      if (ended() > before) kills = 0;
      before = ended();
      return kills < MOST_BETWEEN_ENDS && (await isAnyThere());
    };
    while (!isOver) {
      while (!isOver && !(await isDue())) await sleep(LOOK_MS);
      await sleep(random.between(LEAST_MS, MOST_MS));
      if (isOver) return;
      random.pick(workers).process.signal("SIGKILL");
      kills++;
    }
  };
  void kill();
  return () => {
    isOver = true;
  };
}
