import { fileURLToPath } from "node:url";
import { type BenchProcess, startProcess } from "../bench-process.ts";
import type { Measure } from "../measure.ts";
import type { Contestant } from "./contestant.ts";
import { dbosContestants } from "./dbos-contestant.ts";
import { engineContestants } from "./engine-contestant.ts";
import { installPeers } from "./installed-peers.ts";
import { peersReport } from "./peers-report.ts";
import { queueContestant } from "./queue-contestant.ts";
import { restateContestant } from "./restate-contestant.ts";
import { FULL, QUICK, type Round, runRound } from "./round.ts";

const ROUNDS = { full: 5, quick: 1 };

/** Ours beside others under the same load, by turns, so that the machine's moods meet all of them. */
export const peers: Measure = {
  name: "peers",
  means: "the same work on other systems; installs them",
  onlyWhenNamed: true,
  async run({ quick, setup, stores, tell }) {
    await installPeers(tell);
    const ours = stores.flatMap((store) => engineContestants({ ...setup, store }));
    const contestants = [...ours, ...dbosContestants, restateContestant, queueContestant];
    const rounds = new Map<Contestant, Round[]>(contestants.map((each) => [each, []]));
    const count = quick ? ROUNDS.quick : ROUNDS.full;
    const amounts = quick ? QUICK : FULL;
    for (let round = 0; round < count; round++) {
      for (const contestant of turned(contestants, round)) {
        tell(`round ${round + 1} of ${count}: ${contestant.label}`);
        rounds.get(contestant)?.push(await runRound(contestant, amounts));
      }
    }
    const busy = new Map<Contestant, Round>();
    for (const contestant of turned(contestants, count)) {
      tell(`beside a process that computes all the time: ${contestant.label}`);
      const neighbour = await startNeighbour();
      try {
        busy.set(contestant, await runRound(contestant, amounts));
      } finally {
        await neighbour.stop();
      }
    }
    return peersReport(rounds, busy);
  },
};

async function startNeighbour(): Promise<BenchProcess> {
  const file = fileURLToPath(new URL("./busy-neighbour.ts", import.meta.url));
  const neighbour = startProcess("the busy neighbour", [file], { cwd: process.cwd(), env: {} });
  await neighbour.printed(/ready/);
  return neighbour;
}

/** Each round begins with another one. */
function turned<Item>(items: readonly Item[], by: number): readonly Item[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
