import type { Measure } from "../measure.ts";
import type { Contestant } from "./contestant.ts";
import { dbosContestants } from "./dbos-contestant.ts";
import { engineContestant } from "./engine-contestant.ts";
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
    const ours = stores.map((store) => engineContestant({ ...setup, store }));
    const contestants = [...ours, ...dbosContestants, restateContestant, queueContestant];
    const rounds = new Map<Contestant, Round[]>(contestants.map((each) => [each, []]));
    const count = quick ? ROUNDS.quick : ROUNDS.full;
    for (let round = 0; round < count; round++) {
      for (const contestant of turned(contestants, round)) {
        tell(`round ${round + 1} of ${count}: ${contestant.label}`);
        rounds.get(contestant)?.push(await runRound(contestant, quick ? QUICK : FULL));
      }
    }
    return peersReport(rounds);
  },
};

/** Each round begins with another one. */
function turned<Item>(items: readonly Item[], by: number): readonly Item[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
