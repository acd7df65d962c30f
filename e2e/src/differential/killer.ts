import type { Random } from "@engine/simulation/random";
import type { Supervised } from "../sweep/supervised.ts";

/** Most programs take about a second, and sixteen are under way: each death meets some of them. */
const LEAST_MS = 200;
const MOST_MS = 2_000;

/** Kills a worker every now and then, whatever it is at. @returns Ends that. */
export function startKiller(workers: readonly Supervised[], random: Random): () => void {
  let timer: NodeJS.Timeout;
  const arm = () => {
    timer = setTimeout(
      () => {
        random.pick(workers).process.signal("SIGKILL");
        arm();
      },
      random.between(LEAST_MS, MOST_MS),
    );
  };
  arm();
  return () => clearTimeout(timer);
}
